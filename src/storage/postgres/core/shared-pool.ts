/**
 * The connections of a node, and who may have how many of them at once.
 *
 * - Statements that read always come back, whatever else happens: they may have all.
 * - What writes may wait for ever in its COMMIT, where a synchronous standby is gone: it leaves one connection to reads.
 * - A transaction that waits for its flow between two statements may need, to go on, a write that is one round trip: such
 *   transactions have half, so that others get on. Those of jobs have one of them less, so that 64 jobs at once never keep a
 *   request waiting; jobs wait longer instead.
 *
 * With two connections there is none to leave: a write that hangs keeps reads waiting.
 */
import type { Pool } from 'pg'
import { turns } from './at-most.ts'
import { CONNECT_MS } from './open-pool.ts'
import { type TakenConnection, takeConnection } from './taken-connection.ts'

/** `brief`: for one round trip. `held`: for as long as its flow takes. */
export type Use = 'brief' | 'held'

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

  return {
    async take(use, background) {
      const ends: (() => void)[] = []
      const endAll = () => {
        for (const end of ends) end()
      }
      try {
        if (use === 'held' && background) ends.push(await jobs.take())
        if (use === 'held') ends.push(await holding.take())
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
      return jobs.waiting + holding.waiting + writing.waiting
    },
  }
}
