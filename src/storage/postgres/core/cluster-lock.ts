/**
 * Work that is done by one node at a time. The lock is PostgreSQL's and ends with a transaction that does nothing else, so
 * it is let go however its holder ends. Those who wait ask again and again instead of waiting in a statement: such a
 * statement would hold a snapshot, for whose end CREATE INDEX CONCURRENTLY waits, whose own caller has the lock.
 *
 * The transaction would be idle for longer than PostgreSQL lets it, so it says something now and then. Should it be lost,
 * another node may begin while this one is still at work; the work's own transactions and unique indexes have to bear that.
 *
 * A lock that is asked for by work which has one already, as a deployment has when it changes the catalogue, is taken behind a
 * savepoint of the same transaction, and let go by rolling back to it: with a connection for each, a push needed four of them at once,
 * and a node with six never started.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { oneAtATime } from '../../../shared/cooperative.ts'
import type { PostgresPool } from './postgres-connection.ts'
import type { PostgresTransaction } from './postgres-transaction.ts'

const ASK_MS = 50
const KEEP_MS = 5_000

export type WithClusterLock = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Locks that one piece of work holds, in a transaction of their own. */
interface HeldLocks {
  readonly transaction: PostgresTransaction
  /** Whether each is still needed, in the order in which they were taken. Empty when the transaction is over. */
  readonly needed: boolean[]
}

export function clusterLock(pool: PostgresPool): WithClusterLock {
  // On this node first, so that those who wait here take no connection each.
  const here = oneAtATime()
  const holding = new AsyncLocalStorage<HeldLocks>()
  return (key, work) =>
    here(key, async () => {
      const outer = holding.getStore()
      if (outer && outer.needed.length > 0) return within(outer, key, work)
      const { held, end } = await takeFirst(pool, key)
      try {
        return await holding.run(held, work)
      } finally {
        await end()
      }
    })
}

async function takeFirst(pool: PostgresPool, key: string) {
  for (;;) {
    const transaction = pool.transaction({ forLock: true })
    try {
      if (await ask(transaction, key)) {
        const held: HeldLocks = { transaction, needed: [true] }
        const keep = setInterval(() => void rest(transaction).catch(() => undefined), KEEP_MS)
        return {
          held,
          async end() {
            held.needed[0] = false
            await letGo(held).finally(() => clearInterval(keep))
          },
        }
      }
      await transaction.rollback()
    } catch (error) {
      await transaction.rollback()
      throw error
    }
    await wait(ASK_MS)
  }
}

async function within<T>(held: HeldLocks, key: string, work: () => Promise<T>): Promise<T> {
  const { transaction, needed } = held
  const at = needed.push(true) - 1
  try {
    await transaction.script(`SAVEPOINT lock_${at}`)
    while (!(await ask(transaction, key))) await wait(ASK_MS)
    return await work()
  } finally {
    needed[at] = false
    await letGo(held)
  }
}

/** Those that are needed no more, from the last on: a savepoint lets go all that was taken behind it. */
async function letGo({ transaction, needed }: HeldLocks): Promise<void> {
  while (needed.at(-1) === false) {
    needed.pop()
    if (needed.length === 0) await transaction.rollback()
    else {
      const savepoint = `lock_${needed.length}`
      const statements = `ROLLBACK TO SAVEPOINT ${savepoint}; RELEASE SAVEPOINT ${savepoint}`
      await transaction.script(statements).catch(() => undefined)
    }
  }
}

async function ask(transaction: PostgresTransaction, key: string): Promise<boolean> {
  const [row] = await transaction.rows(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7101)) AS locked',
    [key],
  )
  await rest(transaction)
  return row?.locked === true
}

/** Not a prepared statement: one of those keeps its snapshot until the next is sent. */
function rest(transaction: PostgresTransaction): Promise<void> {
  return transaction.script('SELECT 1')
}

/** Operations that write, each with what it knew of its storage when it began. */
export class WritesUnderWay {
  #writes = new Set<Promise<unknown>>()

  during<T>(write: Promise<T>): Promise<T> {
    const writes = this.#writes
    writes.add(write)
    const over = () => {
      writes.delete(write)
    }
    write.then(over, over)
    return write
  }

  /** Resolves when those that are under way now have sent their statements, whose locks tell the rest. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes)
  }
}
