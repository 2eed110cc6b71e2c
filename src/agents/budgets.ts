import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import { lruCache } from '../shared/lru-cache.ts'

const CALLS_A_MINUTE = 120
const CHANGES_AN_HOUR = 300
/** Refused changes one after the other, from which on each next one has to wait. */
const REFUSED_FREE = 5
const LONGEST_WAIT_MS = 60_000
/** Keys; one that has not called for the longest time is forgotten. */
const MOST_KEYS = 10_000

interface Spent {
  minute: number
  calls: number
  hour: number
  changes: number
  refused: number
  /** When the next change is allowed, after refused ones. */
  next: number
}

export interface Budgets {
  /** Takes one message. Throws RATE_LIMITED. */
  call(key: string): void
  /** Takes one change. Gives why it must wait, or undefined. */
  change(key: string): string | undefined
  /** Of a change: a loop of refused ones is slowed, twice as long each time. */
  ended(key: string, isRefused: boolean): void
}

/** What each API key may do in this process: with n processes up to n times as much, as with the rate limit. */
export function openBudgets(clock: Clock): Budgets {
  const keys = lruCache<string, Spent>(MOST_KEYS)
  const spentBy = (key: string): Spent => {
    const known = keys.get(key)
    if (known) return known
    const fresh = { minute: 0, calls: 0, hour: 0, changes: 0, refused: 0, next: 0 }
    keys.set(key, fresh)
    return fresh
  }
  return {
    call(key) {
      const spent = spentBy(key)
      const now = clock()
      if (now - spent.minute >= 60_000) Object.assign(spent, { minute: now, calls: 0 })
      if (spent.calls >= CALLS_A_MINUTE)
        throw new QuoinError(
          'RATE_LIMITED',
          `An API key may send ${CALLS_A_MINUTE} messages a minute. Wait.`,
          {
            retryAfter: secondsUntil(spent.minute + 60_000, now),
          },
        )
      spent.calls += 1
    },
    change(key) {
      const spent = spentBy(key)
      const now = clock()
      if (now - spent.hour >= 3_600_000) Object.assign(spent, { hour: now, changes: 0 })
      if (spent.changes >= CHANGES_AN_HOUR)
        return `The API key has made ${CHANGES_AN_HOUR} changes within an hour. Retry in ${secondsUntil(spent.hour + 3_600_000, now)} s.`
      if (now < spent.next)
        return `The last ${spent.refused} changes were refused. Retry in ${secondsUntil(spent.next, now)} s.`
      spent.changes += 1
      return undefined
    },
    ended(key, isRefused) {
      const spent = spentBy(key)
      spent.refused = isRefused ? spent.refused + 1 : 0
      const more = spent.refused - REFUSED_FREE
      spent.next = more < 0 ? 0 : clock() + Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** more)
    },
  }
}

function secondsUntil(time: number, now: number): number {
  return Math.max(1, Math.ceil((time - now) / 1000))
}
