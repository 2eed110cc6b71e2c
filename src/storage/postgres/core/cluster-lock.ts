/**
 * Work that is done by one node at a time. The lock is PostgreSQL's and ends with a transaction that does nothing else, so
 * it is let go however its holder ends. Those who wait ask again and again instead of waiting in a statement: such a
 * statement would hold a snapshot, for whose end CREATE INDEX CONCURRENTLY waits, whose own caller has the lock.
 *
 * The transaction would be idle for longer than PostgreSQL lets it, so it says something now and then. Should it be lost,
 * another node may begin while this one is still at work; the work's own transactions and unique indexes have to bear that.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { oneAtATime } from '../../../shared/bounded-queue.ts'
import type { PostgresPool } from './postgres-connection.ts'

const ASK_MS = 50
const KEEP_MS = 5_000

export type WithClusterLock = <T>(key: string, work: () => Promise<T>) => Promise<T>

export function clusterLock(pool: PostgresPool): WithClusterLock {
  // On this node first, so that those who wait here take no connection each.
  const here = oneAtATime()
  return (key, work) =>
    here(key, async () => {
      const release = await lock(pool, key)
      try {
        return await work()
      } finally {
        await release()
      }
    })
}

async function lock(pool: PostgresPool, key: string): Promise<() => Promise<void>> {
  for (;;) {
    const transaction = pool.transaction()
    try {
      const [row] = await transaction.rows(
        'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7101)) AS locked',
        [key],
      )
      if (row?.locked === true) {
        // Not a prepared statement: one of those keeps its snapshot until the next is sent.
        const say = () => transaction.script('SELECT 1')
        await say()
        const keep = setInterval(() => void say().catch(() => undefined), KEEP_MS)
        return async () => {
          clearInterval(keep)
          await transaction.rollback()
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
