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

const MOST_NAMED = 5

/** Ticks that no node was up for. Times in milliseconds. */
export interface MissedTicks {
  readonly schedule: Schedule
  readonly count: number
  /** Planned time of the first one. */
  readonly since: number
  readonly now: number
  /** For the log. */
  readonly message: string
}

/** The missed ones among those that are due, undefined if there are none. */
export function missedTicks(
  schedule: Schedule,
  due: readonly DueTick[],
  now: number,
): MissedTicks | undefined {
  const late = due.filter((tick) => tick.late)
  const since = late[0]?.plannedAt
  const until = late.at(-1)?.plannedAt
  if (since === undefined || until === undefined) return undefined
  const runs = late.filter((tick) => tick.runs).length
  const times = late.length === 1 ? 'A planned time' : `${late.length} planned times`
  const when = late.length === 1 ? `at ${timeOf(since)}` : `from ${timeOf(since)} to ${timeOf(until)}`
  const caught = runs === 0 ? 'for none of them' : `for ${runs === late.length ? 'each' : 'the last'} of them`
  const message = `${times} of "${schedule.title}" ${when} passed while no node was running. The schedule is started late ${caught} (catch_up: ${schedule.catchUp}).${lostWords(late)}`
  return { schedule, count: late.length, since, now, message }
}

/** What the flow never hears of: a person has to know which days these were. */
function lostWords(late: readonly DueTick[]): string {
  const lost = late.filter((tick) => !tick.runs)
  if (lost.length === 0) return ''
  const named = lost.slice(0, MOST_NAMED).map(({ plannedAt }) => timeOf(plannedAt))
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : ''
  return ` Never started: ${named.join(', ')}${more}. Where one of them matters, run the schedule by hand, and set catch_up to all.`
}

function timeOf(time: number): string {
  return new Date(time).toISOString()
}
