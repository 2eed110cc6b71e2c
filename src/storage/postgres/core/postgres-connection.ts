/**
 * Connections to PostgreSQL. Nothing here depends on what a connection was used for before, so a pooler in transaction
 * mode may stand between: no SET, no LISTEN, no session locks. Statements are prepared under names made from their text;
 * not behind a pooler, where the next statement may meet another connection (PgBouncer can follow them since 1.21 only).
 *
 * A node has two pools. Single statements never wait for anything but PostgreSQL, so those connections always come back;
 * a transaction may hold its connection while its flow asks for something else, which must not need one of the same pool.
 */
import { createHash } from 'node:crypto'
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import { QuoinError } from '../../../shared/errors.ts'
import { atMost } from './at-most.ts'
import { lateAnswers, untimed } from './late-answers.ts'
import { APPLICATION, CONNECT_MS, openPool, STATEMENT_MS } from './open-pool.ts'
import { storageError, wasAlive } from './postgres-errors.ts'
import { begin, type Endings, endings, scriptOn, takeConnection } from './transaction-on.ts'

export type Row = Readonly<Record<string, unknown>>

/** All errors are as `storageError` makes them. */
export interface PostgresConnection {
  rows(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Gives how many rows were changed. */
  run(text: string, values?: readonly unknown[]): Promise<number>
}

export interface PostgresTransaction extends PostgresConnection, Endings {
  /** Several statements without values, one after the other. */
  script(text: string): Promise<void>
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
  /** Begins one, with `BEGIN` if not said otherwise. The caller must commit it or roll it back. */
  transaction(how?: string): Promise<PostgresTransaction>
  close(): Promise<void>
}

export interface PoolOptions {
  readonly url: string
  /** Connections of the node, at least 2. */
  readonly connections: number
  /** Behind a pooler, which also refuses settings that a connection is opened with: the database's own hold then. */
  readonly pooled: boolean
  /** How long a COMMIT may take until its caller is told that the outcome is unknown. 30,000; tests set less. */
  readonly commitMs?: number | undefined
  /** Statements may take hours: for the copy of a database, which also makes its indexes. */
  readonly patient?: boolean | undefined
}

const COMMIT_MS = 30_000
/** A connection whose answer is late is given up this long after a failover, at most. */
const LOOK_MS = 5_000
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

export function openPostgresPool(options: PoolOptions): PostgresPool {
  const { url, connections, pooled, patient, commitMs = COMMIT_MS } = options
  const names = pooled ? () => undefined : statementNames()
  const single = Math.max(Math.min(2, connections - 1), Math.floor(connections / 2))
  const limit = patient ? PATIENT_MS : STATEMENT_MS
  const common = { url, pooled, statementMs: limit }
  const statements = openPool({ ...common, most: single })
  const transactions = openPool({ ...common, most: Math.max(1, connections - single) })
  const lasting = openPool({ ...common, most: 1, statementMs: PATIENT_MS })

  function query(text: string, values: readonly unknown[] = []): QueryConfig {
    const name = names(text)
    return { text, values: [...values], ...(name !== undefined && { name }) }
  }

  async function ask(on: Pool | PoolClient, config: QueryConfig): Promise<QueryResult> {
    try {
      return await on.query(config)
    } catch (error) {
      throw storageError(error)
    }
  }

  const connectionOn = (on: Pool | PoolClient): PostgresConnection => ({
    rows: async (text, values) => (await ask(on, query(text, values))).rows,
    run: async (text, values) => (await ask(on, query(text, values))).rowCount ?? 0,
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

  const late = lateAnswers({
    patience: patient ? PATIENT_MS : commitMs,
    look: LOOK_MS,
    async isThere(process) {
      const ours = `SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND application_name = '${APPLICATION}'`
      return (await direct.rows(ours, [process])).length > 0
    },
  })

  /** A single statement that writes. One that is answered late is counted until PostgreSQL has answered. */
  function change(text: string, values?: readonly unknown[]): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      writesInTurn(async () => {
        const { client, release } = await takeConnection(statements)
        await new Promise<void>((released) => {
          const asked = ask(client, untimed(query(text, values)))
          const letGo = (broken: boolean) => {
            release(broken)
            released()
          }
          late.within(client, asked, letGo).then(resolve, reject)
        })
      }).catch(reject)
    })
  }

  async function snapshot<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const taken = await begin(statements, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const { commit, rollback } = endings(taken, late)
    try {
      const result = await work(connectionOn(taken.client))
      await commit()
      return result
    } catch (error) {
      await rollback()
      throw error
    }
  }

  return {
    rows: async (text, values) => (await change(text, values)).rows,
    run: async (text, values) => (await change(text, values)).rowCount ?? 0,
    reading: {
      rows: (text, values) => onALivingOne(connections, () => direct.rows(text, values)),
      run: (text, values) => onALivingOne(connections, () => direct.run(text, values)),
    },
    lasting: {
      ...connectionOn(lasting),
      async script(text) {
        const taken = await begin(lasting, 'BEGIN')
        const { commit, rollback } = endings(taken, late)
        try {
          await scriptOn(taken.client, text)
          await commit()
        } catch (error) {
          await rollback()
          throw error
        }
      },
    },
    snapshot: (work) => snapshotsInTurn(() => onALivingOne(connections, () => snapshot(work))),
    async transaction(how = 'BEGIN') {
      // Nothing has been done with it yet.
      const taken = await onALivingOne(connections, () => begin(transactions, how))
      return {
        ...connectionOn(taken.client),
        ...endings(taken, late),
        script: (text) => scriptOn(taken.client, text),
      }
    },
    async close() {
      late.close()
      await Promise.all([statements, transactions, lasting].map((pool) => pool.end()))
    },
  }
}

/**
 * Tries again when a connection proves dead. All idle connections of a pool may have died unnoticed. Each dead one that is
 * found is discarded, so the next try gets another idle connection or a new one.
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
