/**
 * Parts of many dates. Dates that stand beside each other in an index are mostly of the same hour, and an hour is mostly of one
 * part: so the part of an hour is worked out once. A million instants by month took 1.9 s so, and 8 s one by one (`node bench/aggregates.ts`).
 */
import type { DatePart } from './aggregate.ts'
import { datePart } from './date-part.ts'
import { type ZoneOffsets, zoneOffsets } from './zone-offsets.ts'

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
