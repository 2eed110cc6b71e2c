/** Some connections to PostgreSQL, opened as they are needed, with what each of them is opened with. */
import { Pool, type PoolClient, types } from 'pg'
import { QuoinError } from '../../../shared/errors.ts'
import type { Release } from './late-answers.ts'
import { storageError } from './postgres-errors.ts'

export interface OpenPool {
  readonly url: string
  /** Connections. */
  readonly most: number
  /** Behind a pooler, which refuses settings that a connection is opened with. */
  readonly pooled: boolean
  /** How long a statement may take. */
  readonly statementMs: number
  /** Names and values, besides those that every connection has. */
  readonly settings?: Readonly<Record<string, string>>
}

/** As PostgreSQL shows our connections. */
export const APPLICATION = 'quoin'
export const STATEMENT_MS = 60_000
/** How long to wait for a connection. */
const CONNECT_MS = 5_000
/** Longer than a session may be idle (see session-transaction.ts): only for transactions that a lost node left behind. */
const IDLE_TRANSACTION_MS = 15_000
const IDLE_CONNECTION_MS = 60_000

const INT8 = 20
const JSON_TYPE = 114

export function openPool({ url, most, pooled, statementMs, settings }: OpenPool): Pool {
  const all = {
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    jit: 'off',
    ...settings,
  }
  const options = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`)
  const pool = new Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    keepAlive: true,
    // For a server that does not answer at all: its own timeout cannot reach us then.
    query_timeout: statementMs + 5_000,
    ...(!pooled && { options: options.join(' ') }),
    application_name: APPLICATION,
    types: { getTypeParser: (oid: number) => typeParser(oid) },
  })
  // Of a connection that is idle: the next statement gets another one, and if there is none it says so itself.
  pool.on('error', () => undefined)
  return pool
}

/** How a column of the type is read from its text. */
export function typeParser(oid: number): (text: string) => unknown {
  if (oid === INT8) return Number
  // Documents are sent as the text they are.
  if (oid === JSON_TYPE) return String
  return types.getTypeParser(oid, 'text')
}

// Does a few pieces of work at the same time, the others in the order in which they come.

export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export interface Turns {
  /** Resolves when it is the caller's turn, with a function that ends it, to be called once. */
  take(): Promise<() => void>
  /** How many wait for theirs. */
  readonly waiting: number
}

/** Who waited for `milliseconds` gets no turn: UNAVAILABLE, with this message. */
function turns(atOnce: number, milliseconds: number, message: string): Turns {
  let running = 0
  const waiting = new Set<() => void>()

  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        waiting.delete(begin)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(begin)
        reject(new QuoinError('UNAVAILABLE', message, { retryAfter: 1 }))
      }, milliseconds)
      waiting.add(begin)
    })
  }

  function end(): void {
    const [next] = waiting
    // The one that ends hands its place over, so `running` stays as it is.
    if (next) next()
    else running -= 1
  }

  return {
    async take() {
      if (running < atOnce) running += 1
      else await turn()
      return end
    },
    get waiting() {
      return waiting.size
    },
  }
}

/** Work that waited for `milliseconds` is not done: UNAVAILABLE, with this message. */
export function atMost(atOnce: number, milliseconds: number, message: string): InTurn {
  const { take } = turns(atOnce, milliseconds, message)
  return async (work) => {
    const end = await take()
    try {
      return await work()
    } finally {
      end()
    }
  }
}

// The connections of a node, and who may have how many of them at once.
// - Statements that read always come back, whatever else happens: they may have all.
// - What writes may wait for ever in its COMMIT, where a synchronous standby is gone: it leaves one connection to reads.
// - A transaction that waits for its flow between two statements may need, to go on, a write that is one round trip: such
// transactions have half, so that others get on. Those of jobs have one of them less, so that 64 jobs at once never keep a
// request waiting; jobs wait longer instead. Transactions that hold locks of the cluster have turns of their own, as few as
// those of jobs: what is done under a lock needs a transaction too.
// With two connections there is none to leave: a write that hangs keeps reads waiting.

/** `brief`: for one round trip. `held`: for as long as its flow takes. `lock`: for as long as work under a lock of the cluster takes. */
export type Use = 'brief' | 'held' | 'lock'

export interface SharedPool {
  /** For a write. Its release ends the turn, too. */
  take(use: Use, background?: boolean): Promise<TakenConnection>
  /** Who waits for a turn and has not asked for a connection yet. */
  readonly waiting: number
}

/** Less than the time that a run has. */
const JOB_WAIT_MS = 20_000
const SLOW = 'The database is slow to store changes; nothing was stored. Try again.'

export function sharedPool(pool: Pool, connections: number): SharedPool {
  const writing = turns(Math.max(2, connections - 1), CONNECT_MS, SLOW)
  const half = Math.floor(connections / 2)
  const holding = turns(Math.max(1, half), CONNECT_MS, SLOW)
  const jobs = turns(Math.max(1, half - 1), JOB_WAIT_MS, SLOW)
  const locks = turns(Math.max(1, half - 1), JOB_WAIT_MS, SLOW)

  return {
    async take(use, background) {
      const ends: (() => void)[] = []
      const endAll = () => {
        for (const end of ends) end()
      }
      try {
        if (use === 'held' && background) ends.push(await jobs.take())
        if (use === 'held') ends.push(await holding.take())
        if (use === 'lock') ends.push(await locks.take())
        ends.push(await writing.take())
        const { client, release } = await takeConnection(pool)
        return {
          client,
          release(broken) {
            release(broken)
            endAll()
          },
        }
      } catch (error) {
        endAll()
        throw error
      }
    },
    get waiting() {
      return jobs.waiting + locks.waiting + holding.waiting + writing.waiting
    },
  }
}

// A connection of a pool that is taken out of it for a while.

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
