/**
 * Sessions of this process that change the same document first, one after the other. In the database each would wait for its row
 * with a connection of its own: 32 clients of one document took half of the pool, and creates of other documents were
 * refused with UNAVAILABLE. A session that waits here has no connection and no lock, so it can be part of no circle.
 */

import { processTimers, type Timers } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'

export interface RowTurns {
  /**
   * Gives what ends the turn: at once where no other session has the row, else when it is the turn of the one that asks. After so many
   * milliseconds the one that asks waits no longer: UNAVAILABLE, and those behind it move up.
   */
  take(row: string, milliseconds: number): (() => void) | Promise<() => void>
  /** Rows that some session has. */
  readonly size: number
}

const SLOW = 'The document was being changed by others for too long; nothing was stored. Try again.'

export function rowTurns(timers: Pick<Timers, 'after'> = processTimers): RowTurns {
  /** By row: who waits for it, in the order in which they came. A row without waiting sessions has an empty set. */
  const waiting = new Map<string, Set<() => void>>()

  function ending(row: string): () => void {
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const [next] = waiting.get(row) ?? []
      if (next) next()
      else waiting.delete(row)
    }
  }

  return {
    take(row, milliseconds) {
      const others = waiting.get(row)
      if (others === undefined) {
        waiting.set(row, new Set())
        return ending(row)
      }
      return new Promise((resolve, reject) => {
        const begin = () => {
          timer.end()
          others.delete(begin)
          resolve(ending(row))
        }
        const timer = timers.after(milliseconds, () => {
          others.delete(begin)
          reject(new QuoinError('UNAVAILABLE', SLOW, { retryAfter: 1 }))
        })
        others.add(begin)
      })
    },
    get size() {
      return waiting.size
    },
  }
}
