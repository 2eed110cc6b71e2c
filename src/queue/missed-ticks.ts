import type { Schedule } from '../flows/background/schedules.ts'
import type { DueTick } from './due-ticks.ts'

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
