/** A connection of a pool that is taken out of it for a while. */
import type { Pool, PoolClient } from 'pg'
import type { Release } from './late-answers.ts'
import { storageError } from './postgres-errors.ts'

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

/**
 * A new connection may hear that PostgreSQL ends it in the same piece of bytes that says it is ready, which is before a promise
 * goes on. So the listener is there when the pool calls back: without one the error would end the process.
 */
export function takeConnection(pool: Pool): Promise<TakenConnection> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (error !== undefined || client === undefined) {
        reject(storageError(error))
        return
      }
      client.on('error', ignore)
      resolve({
        client,
        release(broken) {
          client.off('error', ignore)
          client.release(broken)
        },
      })
    })
  })
}

export async function scriptOn(client: PoolClient, text: string): Promise<void> {
  await client.query(text).catch((error: unknown) => {
    throw storageError(error)
  })
}

function ignore(): void {
  // The statement under way fails by itself; an error event without a listener would end the process.
}
