/** A connection of a pool that is taken out of it for a while, and a transaction on it. */
import type { Pool, PoolClient } from 'pg'
import { QuoinError } from '../../../shared/errors.ts'
import { unconfirmed } from '../../unconfirmed.ts'
import { type LateAnswers, type Release, untimed } from './late-answers.ts'
import { isConnectionLost, storageError } from './postgres-errors.ts'

export interface TakenConnection {
  readonly client: PoolClient
  /** To be called once. */
  readonly release: Release
}

/** How a transaction ends. */
export interface Endings {
  /** UNAVAILABLE also when it is unknown whether it is committed: the connection was lost, or the answer is late. */
  commit(): Promise<void>
  /** Never fails: a connection that does not answer is closed, which undoes the transaction too. */
  rollback(): Promise<void>
}

export async function takeConnection(pool: Pool): Promise<TakenConnection> {
  const client = await pool.connect().catch((error: unknown) => {
    throw storageError(error)
  })
  client.on('error', ignore)
  return {
    client,
    release(broken) {
      client.off('error', ignore)
      client.release(broken)
    },
  }
}

export async function begin(pool: Pool, how: string): Promise<TakenConnection> {
  const taken = await takeConnection(pool)
  try {
    await taken.client.query(how)
    return taken
  } catch (error) {
    taken.release(true)
    throw storageError(error)
  }
}

export async function scriptOn(client: PoolClient, text: string): Promise<void> {
  await client.query(text).catch((error: unknown) => {
    throw storageError(error)
  })
}

function ignore(): void {
  // The statement under way fails by itself; an error event without a listener would end the process.
}

export function endings({ client, release }: TakenConnection, late: LateAnswers): Endings {
  let over = false
  return {
    async commit() {
      if (over) throw new Error('The transaction is over.')
      over = true
      const asked = client.query(untimed({ text: 'COMMIT' }))
      const { command } = await late.within(client, asked, release).catch((error: unknown) => {
        throw isConnectionLost(error) ? unconfirmed(error) : storageError(error)
      })
      // What PostgreSQL answers to the COMMIT of a transaction in which something failed.
      if (command !== 'COMMIT')
        throw new QuoinError('UNAVAILABLE', 'The transaction was undone by the database. Try again.')
    },
    async rollback() {
      if (over) return
      over = true
      try {
        await client.query('ROLLBACK')
        release(false)
      } catch {
        release(true)
      }
    },
  }
}
