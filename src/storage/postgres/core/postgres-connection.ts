/**
 * Connections to PostgreSQL. Nothing here depends on what a connection was used for before, so a pooler in transaction
 * mode may stand between: no SET, no LISTEN, no session locks. Statements are prepared under names made from their text;
 * not behind a pooler, where the next statement may meet another connection (PgBouncer can follow them since 1.21 only).
 *
 * Who may have how many connections: open-pool.ts.
 */
import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import { QuoinError } from '../../../shared/errors.ts'
import type { DatabaseConnections } from '../../capabilities.ts'
import { groupCommit } from './group-commit.ts'
import { lateAnswers, NO_TIMEOUT } from './late-answers.ts'
import {
  APPLICATION,
  atMost,
  openPool,
  type SharedPool,
  STATEMENT_MS,
  sharedPool,
  takeConnection,
  type Use,
} from './open-pool.ts'
import { type Answer, type Statement, sendPipeline } from './pipeline.ts'
import { isConnectionLost, storageError, wasAlive } from './postgres-errors.ts'
import {
  type PostgresTransaction,
  postgresTransaction,
  type TransactionParts,
} from './postgres-transaction.ts'
import type { PostgresConnection } from './rows.ts'

/** By itself it is for single statements that write: they never have all of its connections, whatever their COMMIT waits for. */
export interface PostgresPool extends PostgresConnection {
  /** For statements that only read: asked once more on another connection if one turns out to be dead. */
  readonly reading: PostgresConnection
  /**
   * For reads that belong together: all statements of the work see one state of the database. The work is done once more
   * if its connection turns out to be dead. It must not wait for anything but its own statements.
   */
  snapshot<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T>
  /** For what may take hours on a large table, such as an index: a connection of its own, opened when it is asked. */
  readonly lasting: PostgresConnection
  /** Begins with its first statement. The caller must commit it or roll it back. */
  transaction(how?: TransactionOptions): PostgresTransaction
  /** At this moment. */
  connections(): DatabaseConnections
  close(): Promise<void>
}

export interface TransactionOptions {
  /** `BEGIN`, and what belongs to it. */
  readonly begin?: readonly string[]
  /** Called around the sending of deferred writes. */
  readonly during?: <T>(sending: Promise<T>) => Promise<T>
  /** Of a job: it leaves connections to requests. */
  readonly background?: boolean
  /** Holds locks of the cluster and nothing else: it leaves the turns of transactions to the work that it is for. */
  readonly forLock?: boolean
}

export interface PoolOptions {
  readonly url: string
  /** Connections of the node, at least 2. */
  readonly connections: number
  /** Behind a pooler, which also refuses settings that a connection is opened with: the database's own hold then. */
  readonly pooled: boolean
  /** How long a COMMIT may take until its caller is told that the outcome is unknown. 30,000; tests set less. */
  readonly commitMs?: number | undefined
  /** How long a connection may rest and still be taken as living. 1,000; tests set others. */
  readonly restMs?: number | undefined
  /** Statements may take hours: for the copy of a database, which also makes its indexes. */
  readonly patient?: boolean | undefined
}

const COMMIT_MS = 30_000
const REST_MS = 1_000
/** A connection whose answer is late is given up this long after a failover, at most. */
const LOOK_MS = 5_000
const PATIENT_MS = 6 * 3_600_000
/** Two thirds of the time that a run has. */
const SNAPSHOT_WAIT_MS = 20_000
/** Statements that are prepared; each costs some kilobytes on every connection. Rarer ones are sent as they are. */
const PREPARED = 500

export function openPostgresPool(options: PoolOptions): PostgresPool {
  const { url, connections, pooled, patient, commitMs = COMMIT_MS, restMs = REST_MS } = options
  const names = pooled ? () => undefined : statementNames()
  const limit = patient ? PATIENT_MS : STATEMENT_MS
  const common = { url, pooled, statementMs: limit }
  const statements = openPool({ ...common, most: connections })
  const shared = sharedPool(statements, connections)
  const lasting = openPool({ ...common, most: 1, statementMs: PATIENT_MS })

  const statement = (text: string, values: readonly unknown[] = []): Statement => ({
    text,
    values,
    name: names(text),
  })
  const statementsOn = (pool: Pool): PostgresConnection => ({
    rows: async (text, values) => (await ask(pool, { ...statement(text, values), gives: 'rows' })).rows,
    run: async (text, values) => (await ask(pool, statement(text, values))).count,
  })
  const direct = statementsOn(statements)

  function transactionOn(take: TransactionParts['take'], how: TransactionOptions): PostgresTransaction {
    const { begin = ['BEGIN'], during = undisturbed } = how
    const onOne: TransactionParts['onALivingOne'] = (work) => onALivingOne(connections, work)
    return postgresTransaction({
      take,
      onALivingOne: onOne,
      late,
      shared: commits,
      statement,
      begin,
      during,
      restMs,
    })
  }

  // Most connections are left for single statements, which a long search must not keep waiting.
  const snapshotsInTurn = atMost(
    Math.max(1, Math.floor(connections / 2) - 1),
    SNAPSHOT_WAIT_MS,
    'Too many long searches are under way. Try again soon.',
  )
  const late = lateAnswers({
    patience: patient ? PATIENT_MS : commitMs,
    look: LOOK_MS,
    async isThere(process) {
      const ours = `SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND application_name = '${APPLICATION}'`
      return (await direct.rows(ours, [process])).length > 0
    },
  })

  const commits = groupCommit({ take: (use) => shared.take(use), late, restMs })

  /** A single statement that writes. One that is answered late is counted until PostgreSQL has answered. */
  async function change(requested: Statement): Promise<Answer> {
    const { client, release } = await shared.take('brief')
    const { answers } = sendPipeline(client, [requested], NO_TIMEOUT)
    const known = late.within(client, answers, release).catch((error: unknown) => {
      throw storageError(error)
    })
    return onlyOne(await known)
  }

  async function snapshot<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const begin = ['BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY']
    const transaction = transactionOn(() => takeConnection(statements), { begin })
    return within(transaction, () => work(transaction))
  }

  return {
    rows: async (text, values) => (await change({ ...statement(text, values), gives: 'rows' })).rows,
    run: async (text, values) => (await change(statement(text, values))).count,
    reading: {
      rows: (text, values) => onALivingOne(connections, () => direct.rows(text, values)),
      run: (text, values) => onALivingOne(connections, () => direct.run(text, values)),
    },
    lasting: statementsOn(lasting),
    snapshot: (work) => snapshotsInTurn(() => onALivingOne(connections, () => snapshot(work))),
    transaction(how = {}) {
      if (statements.ending) throw storageError(new Error('Cannot use a pool that is closed'))
      const useOf = (use: Use) => (use === 'held' && how.forLock ? 'lock' : use)
      return transactionOn((use) => shared.take(useOf(use), how.background), how)
    },
    connections: () => connectionsOf(statements, shared, connections),
    async close() {
      late.close()
      await Promise.all([statements, lasting].map((pool) => pool.end()))
    },
  }
}

function connectionsOf(pool: Pool, shared: SharedPool, most: number): DatabaseConnections {
  const { idleCount: idle, totalCount: open } = pool
  return { busy: open - idle, idle, waiting: pool.waitingCount + shared.waiting, most }
}

/** A single statement on a connection of the pool. */
async function ask(pool: Pool, statement: Statement): Promise<Answer> {
  const { client, release } = await takeConnection(pool)
  try {
    const answer = onlyOne(await sendPipeline(client, [statement]).answers)
    release(false)
    return answer
  } catch (error) {
    release(isConnectionLost(error))
    throw storageError(error)
  }
}

function onlyOne([answer]: readonly Answer[]): Answer {
  if (answer === undefined) throw new TypeError('PostgreSQL has answered nothing.')
  return answer
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

/** Commits what the work has done, or undoes it. */
async function within<T>(transaction: PostgresTransaction, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work()
    await transaction.commit()
    return result
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}

function undisturbed<T>(sending: Promise<T>): Promise<T> {
  return sending
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
