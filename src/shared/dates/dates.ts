import type { Bounds } from '../query.ts'

/**
 * Dates as text, ISO 8601: `2026-01-31`, `2026-01-31T09:00`, `2026-01-31T09:00:00.5+02:00`. Without a zone it is UTC, so
 * that two machines never disagree. JavaScript's own parser takes almost anything ("foo 1" is a day in 2001).
 */
const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)([Zz]|[+-]\d{2}:\d{2})?)?$/

/** Milliseconds since 1970, or undefined for text that is no such date, or a day that does not exist (30 February). */
export function readIsoDate(text: string): number | undefined {
  const match = DATE.exec(text)
  if (!match) return undefined
  const [, year, month, day, time = '00:00', zone = 'Z'] = match
  const midnight = new Date(`${year}-${month}-${day}T00:00Z`)
  if (midnight.getUTCDate() !== Number(day)) return undefined
  const instant = Date.parse(`${year}-${month}-${day}T${time}${zone.toUpperCase()}`)
  return Number.isNaN(instant) ? undefined : instant
}

/** Whether the text looks like a date, even if it is not a valid one: `2026-02-30`, `2026-01-31T99:00`. */
export function hasIsoDateShape(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}(?:[Tt ]|$)/.test(text)
}

// A day compared with an instant stands for the whole day: what happened on 31 March at 10:00 is not after 31 March. Instants are
// texts that begin with their day and `T`, in UTC.

const DAY = /^\d{4}-\d{2}-\d{2}$/
/** Behind all instants of a day: the letter after `T`. */
const BEHIND = 'U'

export function isDayText(text: string): boolean {
  return text.length === 10 && DAY.test(text)
}

/** Whether one is a day and the other an instant of it. */
export function isSameDay(a: string, b: string): boolean {
  if (a.length === b.length) return false
  const [day, instant] = a.length < b.length ? [a, b] : [b, a]
  return isDayText(day) && instant.startsWith(day) && instant.charAt(10) < BEHIND
}

/** Bounds for stored texts. At most a day is to its end, and more than a day is behind it. */
export function wholeDayBounds({ gte, gt, lte, lt }: Bounds): Bounds {
  const ends = [lt, typeof lte === 'string' && isDayText(lte) ? lte + BEHIND : undefined]
  const begins = [gte, typeof gt === 'string' && isDayText(gt) ? gt + BEHIND : undefined]
  const isDay = (bound: string | number | undefined) => typeof bound === 'string' && isDayText(bound)
  const before = ends.filter((bound) => bound !== undefined).sort(byOrder)[0]
  const from = begins
    .filter((bound) => bound !== undefined)
    .sort(byOrder)
    .at(-1)
  return {
    ...(from !== undefined && { gte: from }),
    ...(gt !== undefined && !isDay(gt) && { gt }),
    ...(lte !== undefined && !isDay(lte) && { lte }),
    ...(before !== undefined && { lt: before }),
  }
}

function byOrder(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Times of day as people type and read them, in a time zone. A time that a change of clocks skips is moved on by as much as the
 * clocks are (02:30 becomes 03:30); of one that is there twice it is the first. So do `Temporal` and most calendars.
 */
const LOCAL = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)$/

/** Milliseconds since 1970 of a time without a zone; undefined for another text, or a day or time that does not exist. */
export function readLocalTime(text: string, zone: string): number | undefined {
  const [, day, time] = LOCAL.exec(text) ?? []
  if (day === undefined || time === undefined) return undefined
  try {
    const local = Temporal.PlainDateTime.from(`${day}T${time}`, { overflow: 'reject' })
    return local.toZonedDateTime(zone).epochMilliseconds
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** `2026-03-10T08:00:00` */
export function localTime(milliseconds: number, zone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(milliseconds)
    .toZonedDateTimeISO(zone)
    .toPlainDateTime()
  return local.toString({ smallestUnit: 'second' })
}

/** `2026-03-10T08:00:00+01:00`; with Z and milliseconds in UTC. */
export function timeWithOffset(milliseconds: number, zone: string): string {
  if (zone === 'UTC') return new Date(milliseconds).toISOString()
  const zoned = Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO(zone)
  return zoned.toString({ smallestUnit: 'second', timeZoneName: 'never' })
}
