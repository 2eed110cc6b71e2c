/**
 * When a schedule fires. Times are milliseconds and whole seconds.
 *
 * Summer time. A cron pattern without wildcards in seconds, minutes and hours is a time of the wall clock: in the hour
 * that does not exist it fires once, right after the gap; in the hour that comes twice, the first time only. A pattern
 * with wildcards or steps is an interval: it skips what does not exist and fires in both hours. `every` is a length of
 * time and knows no wall clock.
 */
import { Cron, CronPattern } from 'croner'
import { readDuration } from '../blocks/pins/scalar-values.ts'
import type { Schedule } from '../flows/background/schedules.ts'
import { QuoinError } from '../shared/errors.ts'

export interface PlannedTimes {
  /** The first time after this one; undefined when there is none. */
  next(after: number): number | undefined
  /** The time from which on there are at most so many up to `now`; what lies before is not counted one by one. */
  recent(count: number, now: number): number | undefined
}

const SECOND = 1_000

export type TimedSchedule = Pick<Schedule, 'cron' | 'every' | 'startAt' | 'timeZone'>

/** Throws INVALID_BODY for a pattern, an interval or a time zone that makes no sense; undefined with `nextRun`. */
export function plannedTimes(schedule: TimedSchedule): PlannedTimes | undefined {
  const { cron, every, timeZone, startAt } = schedule
  if (cron !== undefined) return cronTimes(cron, timeZone, startAt)
  if (every !== undefined) return intervalTimes(intervalOf(every), startAt)
  return undefined
}

function intervalOf(text: string): number {
  const interval = readDuration(text)
  if (interval !== undefined && interval >= SECOND) return Math.round(interval / SECOND) * SECOND
  throw invalid(`The interval ${JSON.stringify(text)} must be at least a second, such as 30s, 5m or 1d.`)
}

function intervalTimes(interval: number, startAt: number | undefined): PlannedTimes {
  if (startAt === undefined)
    return {
      next: (after) => wholeSecond(after + interval),
      recent: (count, now) => wholeSecond(now - count * interval),
    }
  const start = wholeSecond(startAt)
  return {
    next: (after) =>
      after < start ? start : start + (Math.floor((after - start) / interval) + 1) * interval,
    recent: (count, now) =>
      Math.max(start, start + (Math.floor((now - start) / interval) - count + 1) * interval),
  }
}

function cronTimes(pattern: string, timezone: string, startAt: number | undefined): PlannedTimes {
  const cron = readCron(pattern, timezone)
  const skippedTime = skippedTimes(pattern, timezone)
  const next = (after: number): number | undefined => {
    const from = startAt === undefined ? after : Math.max(after, startAt - 1)
    const found = earlier(cron.nextRun(new Date(from))?.getTime(), skippedTime(from))
    // It has never been seen to stand still here; if it did, this loop of ours would not end.
    if (found === undefined || found > from) return found
    return cron.nextRun(new Date(from + SECOND))?.getTime()
  }
  return {
    next,
    recent: (count, now) =>
      cron
        .previousRuns(count, new Date(now + 1))
        .at(-1)
        ?.getTime(),
  }
}

/**
 * When the next time of the wall clock is made up for that does not exist: where clocks go on from 23:00 to midnight, croner looks for it on
 * a day that is over, and it would never come.
 */
function skippedTimes(pattern: string, timezone: string): (after: number) => number | undefined {
  if (!new CronPattern(pattern, undefined, { fixedTimeRule: 'no-wildcard' }).isFixedTime)
    return () => undefined
  const clock = new Cron(pattern, { timezone: 'UTC', paused: true })
  return (after) => {
    const local = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(timezone).toPlainDateTime()
    const planned = clock.nextRun(new Date(`${local.toString({ smallestUnit: 'millisecond' })}Z`))
    if (planned === null) return undefined
    const requested = Temporal.PlainDateTime.from(planned.toISOString().slice(0, -1))
    const before = requested.toZonedDateTime(timezone, { disambiguation: 'earlier' })
    if (before.toPlainDateTime().equals(requested)) return undefined
    return before.getTimeZoneTransition('next')?.epochMilliseconds
  }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

function readCron(pattern: string, timezone: string): Cron {
  try {
    // Cron alone would take a date for a pattern that fires once.
    new CronPattern(pattern)
    const cron = new Cron(pattern, { timezone, paused: true, fixedTimeRule: 'no-wildcard' })
    // Only working a time out shows that the zone is known.
    cron.nextRun(new Date(0))
    return cron
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : ''
    throw invalid(
      `The cron pattern ${JSON.stringify(pattern)} in ${JSON.stringify(timezone)} cannot be used: ${reason}`,
    )
  }
}

function wholeSecond(ms: number): number {
  return Math.ceil(ms / SECOND) * SECOND
}

function invalid(message: string): QuoinError {
  return new QuoinError('INVALID_BODY', message)
}
