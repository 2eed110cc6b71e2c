/**
 * The part of a calendar that a date falls into, as a number that grows with time: the year; the month or quarter counted from
 * the year 0; the day, week (from Monday) or hour counted from 1970. The number of an hour also has the offset of the zone,
 * so that the hour that clocks repeat in autumn is two.
 */

import { lruCache } from '../../shared/lru-cache.ts'
import type { DatePart } from './aggregate.ts'

// When the clocks of a time zone change, from 1900 to 2200. Earlier and later dates have the first and the last offset.

export interface ZoneOffsets {
  /** Seconds since 1970, ascending. */
  readonly changes: readonly number[]
  /** Seconds east of UTC: before the first change, and from each change on. */
  readonly offsets: readonly number[]
}

const FIRST = '1900-01-01T00:00:00Z'
/** 2200. */
const LAST = 7_258_118_400_000
const NANOSECONDS = 1_000_000_000
const known = lruCache<string, ZoneOffsets>(50)

/** Throws RangeError for what is no time zone. */
export function zoneOffsets(zone: string): ZoneOffsets {
  const read = known.get(zone)
  if (read) return read
  const made = readZone(zone)
  known.set(zone, made)
  return made
}

function offsetAt({ changes, offsets }: ZoneOffsets, seconds: number): number {
  let from = 0
  let to = changes.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((changes[middle] ?? 0) <= seconds) from = middle + 1
    else to = middle
  }
  return offsets[from] ?? 0
}

function readZone(zone: string): ZoneOffsets {
  const start = Temporal.Instant.from(FIRST).toZonedDateTimeISO(zone)
  const changes: number[] = []
  const offsets = [start.offsetNanoseconds / NANOSECONDS]
  for (
    let change = start.getTimeZoneTransition('next');
    change && change.epochMilliseconds < LAST;
    change = change.getTimeZoneTransition('next')
  ) {
    changes.push(change.epochMilliseconds / 1000)
    offsets.push(change.offsetNanoseconds / NANOSECONDS)
  }
  return { changes, offsets }
}

/** Up to here a number is seconds since 1970, from here on milliseconds; as the pins for dates take it. */
export const MILLISECONDS_FROM = 1e11
/** Seconds since 1970 that are in the years 1 to 9999 in every time zone. */
export const FIRST_SECOND = -62_135_424_000
export const LAST_SECOND = 253_402_128_000
/** In the number of an hour: the hour times this, plus {@link OFFSETS} minus the offset. */
export const HOUR_STEP = 1_000_000
export const OFFSETS = 500_000

/** Groups: year, month, day, hour, minute, second, and sign, hours and minutes of the offset. The same in PostgreSQL. */
export const DATE_PATTERN =
  '^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(?:[Tt ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:[.][0-9]{1,9})?)?(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))?)?$'
const DATE = new RegExp(DATE_PATTERN)

const DAY = 86_400

interface ReadDate {
  readonly seconds: number
  /** Without a time of day, and so in no time zone. */
  readonly isDay: boolean
}

export function datePart(value: unknown, part: DatePart, zone: ZoneOffsets): number | null {
  const read = readDate(value)
  if (!read || !(read.seconds >= FIRST_SECOND && read.seconds <= LAST_SECOND)) return null
  if (read.isDay) return part === 'hour' ? null : ofDay(Math.floor(read.seconds / DAY), part)
  const offset = offsetAt(zone, read.seconds)
  const local = read.seconds + offset
  if (part === 'hour') return Math.floor(local / 3600) * HOUR_STEP + OFFSETS - offset
  return ofDay(Math.floor(local / DAY), part)
}

/** `2026`, `2026-Q1`, `2026-01`, `2026-W05`, `2026-01-31`, `2026-01-31T09:00+01:00`. */
export function datePartText(number: number, part: DatePart): string {
  switch (part) {
    case 'year':
      return year(number)
    case 'quarter':
      return `${year(Math.floor(number / 4))}-Q${modulo(number, 4) + 1}`
    case 'month':
      return `${year(Math.floor(number / 12))}-${two(modulo(number, 12) + 1)}`
    case 'week':
      return weekText(number)
    case 'day':
      return new Date(number * DAY * 1000).toISOString().slice(0, 10)
    case 'hour': {
      const hour = Math.floor(number / HOUR_STEP)
      const offset = OFFSETS - (number - hour * HOUR_STEP)
      return `${new Date(hour * 3_600_000).toISOString().slice(0, 16)}${offsetText(offset)}`
    }
  }
}

function ofDay(day: number, part: DatePart): number {
  if (part === 'day') return day
  if (part === 'week') return Math.floor((day + 3) / 7)
  const date = new Date(day * DAY * 1000)
  const years = date.getUTCFullYear()
  if (part === 'year') return years
  const month = date.getUTCMonth()
  return part === 'month' ? years * 12 + month : years * 4 + Math.floor(month / 3)
}

function readDate(value: unknown): ReadDate | undefined {
  if (typeof value === 'number')
    return {
      seconds: Math.floor(Math.abs(value) >= MILLISECONDS_FROM ? value / 1000 : value),
      isDay: false,
    }
  const found = typeof value === 'string' ? DATE.exec(value) : null
  if (!found) return undefined
  const [, years, months, days, hour, minute, second, sign, ahead, aheadMinutes] = found
  const midnight = new Date(0)
  midnight.setUTCFullYear(Number(years), Number(months) - 1, Number(days))
  if (midnight.getUTCDate() !== Number(days)) return undefined
  const time = Number(hour ?? 0) * 3600 + Number(minute ?? 0) * 60 + Number(second ?? 0)
  const offset = (Number(ahead ?? 0) * 60 + Number(aheadMinutes ?? 0)) * 60
  return {
    seconds: midnight.getTime() / 1000 + time - (sign === '-' ? -offset : offset),
    isDay: hour === undefined,
  }
}

/** A week belongs to the year of its Thursday. */
function weekText(week: number): string {
  const thursday = new Date(week * 7 * DAY * 1000)
  const years = thursday.getUTCFullYear()
  const first = new Date(0)
  first.setUTCFullYear(years, 0, 1)
  const days = (thursday.getTime() - first.getTime()) / (DAY * 1000)
  return `${year(years)}-W${two(Math.floor(days / 7) + 1)}`
}

function offsetText(offset: number): string {
  const size = Math.abs(offset)
  const seconds = size % 60 === 0 ? '' : `:${two(size % 60)}`
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 3600))}:${two(Math.floor(size / 60) % 60)}${seconds}`
}

function year(number: number): string {
  return String(number).padStart(4, '0')
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}

function modulo(number: number, by: number): number {
  return ((number % by) + by) % by
}

// Parts of many dates. Dates that stand beside each other in an index are mostly of the same hour, and an hour is mostly of one
// part: so the part of an hour is worked out once. A million instants by month took 1.9 s so, and 8 s one by one (`node bench/aggregates.ts`).

/** An instant as JavaScript writes it, such as 2026-01-31T12:00:00.000Z; the hour is before the first colon. */
const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-5][0-9]:[0-5][0-9][.][0-9]{3}Z$/
const HOUR_LENGTH = '2026-01-31T12'.length
/** Hours that are kept: a year's. No bounded map, since it is asked for each document and all of a year fits. */
const MOST_HOURS = 8_784

/** The number of a part, as `datePart` gives it. */
export type ReadDatePart = (value: unknown) => number | null

export function datePartReader(part: DatePart, zone: ZoneOffsets): ReadDatePart {
  // null: no date. undefined: the hour belongs to two parts.
  const hours = new Map<string, number | null | undefined>()
  let lastHour = ''
  let last: number | null | undefined
  return (value) => {
    if (typeof value !== 'string' || !INSTANT.test(value)) return datePart(value, part, zone)
    const hour = value.slice(0, HOUR_LENGTH)
    if (hour !== lastHour) {
      lastHour = hour
      if (hours.has(hour)) last = hours.get(hour)
      else {
        if (hours.size === MOST_HOURS) hours.clear()
        last = partOfHour(hour, part, zone)
        hours.set(hour, last)
      }
    }
    return last === undefined ? datePart(value, part, zone) : last
  }
}

interface KnownReader {
  readonly part: DatePart
  readonly zone: string
  readonly read: ReadDatePart
}

/** An aggregate has at most six groupings. */
const MOST_READERS = 6

/** The same for a caller that names part and zone with each value: the readers of an aggregate are kept. */
export function datePartReaders(): (value: unknown, part: DatePart, zone: string) => number | null {
  const readers: KnownReader[] = []
  return (value, part, zone) => {
    const known = readers.find((one) => one.part === part && one.zone === zone)
    if (known) return known.read(value)
    const read = datePartReader(part, zoneOffsets(zone))
    if (readers.length === MOST_READERS) readers.length = 0
    readers.push({ part, zone, read })
    return read(value)
  }
}

/** undefined: clocks change in it, or two parts meet in it, as in a zone that is half an hour off. */
function partOfHour(hour: string, part: DatePart, zone: ZoneOffsets): number | null | undefined {
  const from = Date.parse(`${hour}:00:00Z`) / 1000
  if (zone.changes.some((change) => change > from && change < from + 3600)) return undefined
  const first = datePart(`${hour}:00:00.000Z`, part, zone)
  return first === datePart(`${hour}:59:59.999Z`, part, zone) ? first : undefined
}
