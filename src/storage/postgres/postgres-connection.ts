/**
 * Connections to PostgreSQL. Nothing here depends on what a connection was used for before, so a pooler in transaction
 * mode may stand between: no SET, no LISTEN, no session locks. Statements are prepared under names made from their text;
 * not behind a pooler, where the next statement may meet another connection (PgBouncer can follow them since 1.21 only).
 *
 * A node has two pools. Single statements never wait for anything but PostgreSQL, so those connections always come back;
 * a transaction may hold its connection while its flow asks for something else, which must not need one of the same pool.
 */
import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { QuoinError } from '../../shared/errors.ts'
import { atMost } from './at-most.ts'
import { CONNECT_MS, openPool, STATEMENT_MS } from './open-pool.ts'
import { storageError, wasAlive } from './postgres-errors.ts'

export type Row = Readonly<Record<string, unknown>>

/** All errors are as `storageError` makes them. */
export interface PostgresConnection {
  rows(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Gives how many rows were changed. */
  run(text: string, values?: readonly unknown[]): Promise<number>
}

export interface PostgresTransaction extends PostgresConnection {
  /** Several statements without values, one after the other. */
  script(text: string): Promise<void>
  /** UNAVAILABLE also when nobody knows whether it is committed, because the connection was lost meanwhile. */
  commit(): Promise<void>
  /** Never fails: a connection that does not answer is closed, which undoes the transaction too. */
  rollback(): Promise<void>
}

/** For what may take hours on a large table, such as an index. */
export interface PostgresLasting extends PostgresConnection {
  /** Several statements without values, in a transaction. */
  script(text: string): Promise<void>
}

/** By itself it is for single statements that write: they never have all of its connections, whatever their COMMIT waits for. */
export interface PostgresPool extends PostgresConnection {
  /** For statements that only read: asked once more on another connection if one turns out to be dead. */
  readonly reading: PostgresConnection
  /**
   * For reads that belong together: all statements of the work see one state of the database. The work is done once more
   * if its connection turns out to be dead. It must not wait for anything but its own statements.
   */
  snapshot<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T>
  /** A connection of its own, opened when it is asked. */
  readonly lasting: PostgresLasting
  /** Begins one. Whoever has it must commit it or roll it back. */
  transaction(): Promise<PostgresTransaction>
  close(): Promise<void>
}

export interface PoolOptions {
  readonly url: string
  /** Connections of the node, at least 2. */
  readonly connections: number
  /** Behind a pooler, which also refuses settings that a connection is opened with: the database's own hold then. */
  readonly pooled: boolean
  /** Statements may take hours: for who copies a database and makes its indexes. */
  readonly patient?: boolean | undefined
}

const PATIENT_MS = 6 * 3_600_000
/** Two thirds of the time that a run has. */
const SNAPSHOT_WAIT_MS = 20_000
/** Statements that are prepared; each costs some kilobytes on every connection. Rarer ones are sent as they are. */
const PREPARED = 500

export function numberOf(row: Row, name: string): number {
  const value = row[name]
  if (typeof value === 'number') return value
  if (typeof value === 'string' && value !== '' && Number.isFinite(Number(value))) return Number(value)
  throw new TypeError(`The column ${name} is no number.`)
}

export function textOf(row: Row, name: string): string {
  const value = row[name]
  if (typeof value === 'string') return value
  throw new TypeError(`The column ${name} is no text.`)
}

export function openPostgresPool({ url, connections, pooled, patient }: PoolOptions): PostgresPool {
  const names = pooled ? () => undefined : statementNames()
  const single = Math.max(Math.min(2, connections - 1), Math.floor(connections / 2))
  const limit = patient ? PATIENT_MS : STATEMENT_MS
  const common = { url, pooled, statementMs: limit }
  const statements = openPool({ ...common, most: single })
  const transactions = openPool({ ...common, most: Math.max(1, connections - single) })
  const lasting = openPool({ ...common, most: 1, statementMs: PATIENT_MS })

  async function ask(on: Pool | PoolClient, text: string, values: readonly unknown[] = []) {
    const name = names(text)
    try {
      return await on.query({ text, values: [...values], ...(name !== undefined && { name }) })
    } catch (error) {
      throw storageError(error)
    }
  }

  const connectionOn = (on: Pool | PoolClient): PostgresConnection => ({
    rows: async (text, values) => (await ask(on, text, values)).rows,
    run: async (text, values) => (await ask(on, text, values)).rowCount ?? 0,
  })
  const direct = connectionOn(statements)
  // One connection is left for single statements, which a long search must not keep waiting.
  const snapshotsInTurn = atMost(
    Math.max(1, single - 1),
    SNAPSHOT_WAIT_MS,
    'Too many long searches are under way. Try again soon.',
  )
  // A COMMIT waits for ever where a synchronous standby is gone, and its connection with it: the others are for reads.
  const writesInTurn = atMost(
    Math.max(1, single - 2),
    CONNECT_MS,
    'The database is slow to store changes; nothing was stored. Try again.',
  )

  async function snapshot<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const client = await begin(statements, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const { commit, rollback } = endings(client)
    try {
      const result = await work(connectionOn(client))
      await commit()
      return result
    } catch (error) {
      await rollback()
      throw error
    }
  }

  return {
    rows: (text, values) => writesInTurn(() => direct.rows(text, values)),
    run: (text, values) => writesInTurn(() => direct.run(text, values)),
    reading: {
      rows: (text, values) => onALivingOne(connections, () => direct.rows(text, values)),
      run: (text, values) => onALivingOne(connections, () => direct.run(text, values)),
    },
    lasting: {
      ...connectionOn(lasting),
      async script(text) {
        const client = await begin(lasting, 'BEGIN')
        const { commit, rollback } = endings(client)
        try {
          await scriptOn(client, text)
          await commit()
        } catch (error) {
          await rollback()
          throw error
        }
      },
    },
    snapshot: (work) => snapshotsInTurn(() => onALivingOne(connections, () => snapshot(work))),
    async transaction() {
      // Nothing has been done with it yet.
      const client = await onALivingOne(connections, () => begin(transactions, 'BEGIN'))
      return {
        ...connectionOn(client),
        ...endings(client),
        script: (text) => scriptOn(client, text),
      }
    },
    async close() {
      await Promise.all([statements, transactions, lasting].map((pool) => pool.end()))
    },
  }
}

async function begin(pool: Pool, how: string): Promise<PoolClient> {
  let client: PoolClient | undefined
  try {
    client = await pool.connect()
    client.on('error', ignore)
    await client.query(how)
    return client
  } catch (error) {
    client?.off('error', ignore)
    client?.release(true)
    throw storageError(error)
  }
}

async function scriptOn(client: PoolClient, text: string): Promise<void> {
  await client.query(text).catch((error: unknown) => {
    throw storageError(error)
  })
}

function ignore(): void {
  // The statement under way fails by itself; an error event that nobody hears would end the process.
}

function endings(client: PoolClient): Pick<PostgresTransaction, 'commit' | 'rollback'> {
  let over = false
  const release = (broken: boolean) => {
    over = true
    client.off('error', ignore)
    client.release(broken)
  }
  return {
    async commit() {
      if (over) throw new Error('The transaction is over.')
      let command: string
      try {
        ;({ command } = await client.query('COMMIT'))
      } catch (error) {
        release(true)
        throw storageError(error)
      }
      release(false)
      // What PostgreSQL answers to the COMMIT of a transaction in which something failed.
      if (command !== 'COMMIT')
        throw new QuoinError('UNAVAILABLE', 'The transaction was undone by the database. Try again.')
    },
    async rollback() {
      if (over) return
      try {
        await client.query('ROLLBACK')
        release(false)
      } catch {
        release(true)
      }
    },
  }
}

/**
 * Connections that died unnoticed while they were idle are met one after the other, and all of a pool's may have: each
 * that is met is thrown away, so the next try gets another one, or one that is made anew.
 */
async function onALivingOne<T>(connections: number, ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      const isDead = error instanceof QuoinError && wasAlive(error.cause)
      if (!isDead || tries >= connections) throw error
    }
  }
}

function statementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined) return known
    if (names.size >= PREPARED) return undefined
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 16)
    names.set(text, name)
    return name
  }
}
