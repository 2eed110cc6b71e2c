/**
 * The count of one key in one window. A window begins with the first call that is counted and ends after its length,
 * whatever is called meanwhile. What it does not allow is not counted.
 */
import type { Counted, CountedCall } from '../../blocks/run-counts.ts'

/** Milliseconds since 1970. */
export interface CountWindow {
  readonly count: number
  readonly until: number
}

export interface CountedCalls {
  readonly window: CountWindow
  /** In the order of the calls. */
  readonly outcomes: readonly Counted[]
  /** Whether the window differs from the stored one. */
  readonly changed: boolean
}

/** `calls`: of one key and length of window. `stored`: undefined when the key has not been counted. */
export function countCalls(
  stored: CountWindow | undefined,
  calls: readonly Omit<CountedCall, 'key'>[],
  now: number,
): CountedCalls {
  const length = calls[0]?.window ?? 0
  const current = stored && stored.until > now ? stored : undefined
  let count = current?.count ?? 0
  // The clock of another node may be ahead, or this one's was set back.
  const until = Math.min(current?.until ?? now + length, now + length)
  const outcomes = calls.map(({ most, amount }): Counted => {
    const allowed = count + Math.max(1, amount) <= most
    if (allowed) count += amount
    const retryAfter = allowed ? 0 : Math.max(1, Math.ceil((until - now) / 1000))
    return { allowed, remaining: Math.max(0, most - count), retryAfter }
  })
  return { window: { count, until }, outcomes, changed: count !== (current?.count ?? 0) }
}
