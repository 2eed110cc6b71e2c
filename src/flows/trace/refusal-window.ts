/**
 * Which refused requests are kept: of each trigger and status the first one in a minute, on each node. Refusals are
 * usual, and many of them are the same.
 */
import { boundedMap } from '../../shared/bounded-map.ts'
import type { Clock } from '../../shared/clock.ts'

const MINUTE = 60_000
/** Triggers and statuses that are remembered; of more, some are kept more often. */
const MOST = 1_000

/** Whether this one is due. Asked once for each. */
export type RefusalWindow = (trigger: string, status: number) => boolean

export function refusalWindow(clock: Clock): RefusalWindow {
  const last = boundedMap<string, number>(MOST)
  return (trigger, status) => {
    const key = `${trigger} ${status}`
    const now = clock()
    if (now - (last.get(key) ?? Number.NEGATIVE_INFINITY) < MINUTE) return false
    last.set(key, now)
    return true
  }
}
