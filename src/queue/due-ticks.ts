/**
 * Which of the due ticks run. A tick is on time when it is the last one that is due and at most 10 s old; every other
 * one is late, because no node was up. Of the late ones run, by `catchUp`: all; the last one, and only if no tick after
 * it is on time; or none. A tick on time is skipped while another tick of its schedule waits or runs, if `overlap` is
 * `skip`; with `queue` it runs after that one, with `allow` beside it. Of more than 1,000 missed ticks only the last
 * 1,000 are looked at.
 */
import type { Schedule } from '../flows/background/schedules.ts'
import type { PlannedTimes } from './planned-times.ts'

export interface DueTick {
  /** Milliseconds. */
  readonly plannedAt: number
  readonly late: boolean
  readonly runs: boolean
}

const ON_TIME = 10_000
const MOST_MISSED = 1_000

/** The planned times from `from` up to now; of more than 1,000 the last ones. */
export function dueTimes(times: PlannedTimes, from: number, now: number): number[] {
  const list = (start: number): number[] => {
    const found: number[] = []
    for (let time: number | undefined = start; time !== undefined && time <= now; time = times.next(time)) {
      found.push(time)
      if (found.length > MOST_MISSED) break
    }
    return found
  }
  const all = list(from)
  if (all.length <= MOST_MISSED) return all
  return list(Math.max(from, times.recent(MOST_MISSED, now) ?? from)).slice(-MOST_MISSED)
}

/** `last`: the last one that is due. `open`: how many ticks of the schedule wait or run. */
export function dueTick(
  { overlap, catchUp }: Pick<Schedule, 'overlap' | 'catchUp'>,
  plannedAt: number,
  { last, now, open }: { readonly last: number; readonly now: number; readonly open: number },
): DueTick {
  const late = plannedAt !== last || now - plannedAt > ON_TIME
  if (!late) return { plannedAt, late, runs: overlap !== 'skip' || open === 0 }
  return { plannedAt, late, runs: catchUp === 'all' || (catchUp === 'last' && plannedAt === last) }
}
