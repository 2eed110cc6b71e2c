/**
 * Dates in a form that many documents share, so that the part of a calendar is worked out once for each such form and not for each
 * document: a million documents have few different hours. Instants as JavaScript writes them (2026-01-31T12:00:00.000Z) and seconds
 * since 1970 are cut to the hour that they are in, or to five minutes where clocks of the zone are not a whole number of hours from
 * UTC. All else that may be a date stays as it is. A cut costs 1 µs a document; matching the whole pattern of a date costs 4 µs.
 */
import { FIRST_SECOND, LAST_SECOND, MILLISECONDS_FROM } from '../../aggregate/date-part.ts'
import { type ZoneOffsets, zoneOffsets } from '../../aggregate/zone-offsets.ts'
import { FIRST_LIST, FIRST_TEXT } from './sort-key.ts'

/** A column of dates: JSON, seconds or milliseconds of `_meta` as a number, or a key and, where that is one of a number, the number. */
export type DateColumn =
  | { readonly kind: 'json' | 'number'; readonly read: string }
  | { readonly kind: 'key'; readonly read: string; readonly number: string }

/** 2026-01-31T12:00:00.123456789+05:30 is the longest date, 2026-01-31 the shortest. */
const LONGEST = 35
const HOUR = 3_600
const MINUTES = 300
/** In the years of the table of a zone. Its last second is not: dates of the year 9999 end in the middle of an hour. */
const LAST_CUT = Date.UTC(2200, 0, 1) / 1000
const FIRST_CUT = Date.UTC(1900, 0, 1) / 1000
/** Few documents have earlier dates. */
const LONG_AGO = Date.UTC(2000, 0, 1) / 1000

/**
 * A text: a date as it was written, `2026-01-31T12:00` for all instants of that hour, or a number of seconds. NULL for most of what is
 * no date. `zone`: undefined for dates that are not cut.
 */
export function dateBucketSql(column: DateColumn, zone: string | undefined): string {
  const { kind, read } = column
  const cut = zone === undefined ? undefined : cutOf(zoneOffsets(zone))
  if (kind === 'number') return secondsSql(`(${read})::float8`, cut)
  const { text, isText, isNumber, number, marked } = spelled(column)
  const whole = `CASE WHEN ${isText} THEN ${wholeText(text)} WHEN ${isNumber} THEN ${secondsSql(`${number}::float8`, cut)} END`
  const bucket = cut ? `CASE ${cutText(marked, cut)} ELSE ${whole} END` : whole
  return `(${bucket}) COLLATE "C"`
}

/** A text with one letter before it, and perhaps one behind. */
interface Marked {
  readonly read: string
  readonly before: string
  readonly behind: string
}

function spelled(column: Exclude<DateColumn, { kind: 'number' }> | DateColumn) {
  const { read } = column
  if (column.kind === 'key') {
    const isText = `${read} >= '${FIRST_TEXT}' AND ${read} < '${FIRST_LIST}'`
    const marked: Marked = { read, before: FIRST_TEXT, behind: '' }
    return {
      text: `substr(${read}, 2)`,
      isText,
      isNumber: `${column.number} IS NOT NULL`,
      number: column.number,
      marked,
    }
  }
  const text = `(${read} #>> '{}')`
  const type = `json_typeof(${read})`
  const marked: Marked = { read: `${read}::text`, before: '"', behind: '"' }
  return { text, isText: `${type} = 'string'`, isNumber: `${type} = 'number'`, number: text, marked }
}

interface Cut {
  readonly seconds: number
  /** Seconds since 1970. Before, clocks of the zone were set otherwise. */
  readonly from: number
}

/** undefined: clocks are not set in whole minutes. */
function cutOf({ changes, offsets }: ZoneOffsets): Cut | undefined {
  const fits = (seconds: number, at: number) =>
    (offsets[at] ?? 0) % seconds === 0 && (at === 0 || (changes[at - 1] ?? 0) % seconds === 0)
  /** The first second of the offsets that all fit, up to the last one. */
  const fittingFrom = (seconds: number) => {
    const odd = offsets.findLastIndex((_, at) => !fits(seconds, at))
    return odd < 0 ? FIRST_CUT : changes[odd]
  }
  const byHour = fittingFrom(HOUR)
  if (byHour !== undefined && byHour <= LONG_AGO) return { seconds: HOUR, from: byHour }
  const from = fittingFrom(MINUTES)
  return from === undefined ? undefined : { seconds: MINUTES, from }
}

/** What has no hyphen behind the year is no date. */
function wholeText(text: string): string {
  return `CASE WHEN length(${text}) <= ${LONGEST} AND substr(${text}, 5, 1) = '-' THEN ${text} END`
}

/** Of JSON with its quotes, `"2026-01-31T12:00:00.000Z"`, or of a key, `s2026-01-31T12:00:00.000Z`. The hour is not looked at; what is no date then is not one for any of its instants. */
function cutText({ read, before, behind }: Marked, { seconds, from }: Cut): string {
  // The next hour, so that an hour in which the clocks have changed stays whole.
  const first = new Date((from + HOUR) * 1000).toISOString().slice(0, 13)
  const isIn = `${read} >= '${before}${first}' COLLATE "C" AND ${read} < '${before}2200' COLLATE "C" AND substr(${read}, 6, 1) = '-'`
  const short =
    seconds === HOUR
      ? `substr(${read}, 2, 14) || '00'`
      : `substr(${read}, 2, 15) || CASE WHEN substr(${read}, 17, 1) < '5' COLLATE "C" THEN '0' ELSE '5' END`
  return `WHEN ${isIn} AND ${endsAsInstant(read, behind)} THEN ${short}`
}

/** That `:00:00.000Z` stands behind the hour. PostgreSQL looks up each piece in a hash table, which is faster than a pattern. */
function endsAsInstant(json: string, behind: string): string {
  const sixty = numbered(60, 2, (number) => `:${number}`)
  return [
    `substr(${json}, 15, 3) = ANY (${sixty})`,
    `substr(${json}, 18, 3) = ANY (${sixty})`,
    `substr(${json}, 21, 3) = ANY (${numbered(100, 2, (number) => `.${number}`)})`,
    `substr(${json}, 24) = ANY (${numbered(10, 1, (number) => `"${number}Z${behind.replace('"', '\\"')}"`)})`,
  ].join(' AND ')
}

function numbered(count: number, digits: number, text: (number: string) => string): string {
  const all = Array.from({ length: count }, (_, number) => text(String(number).padStart(digits, '0')))
  return `'{${all.join(',')}}'::text[]`
}

/** Milliseconds where it is that large. CASE: what is beyond all dates may be beyond bigint too. */
function secondsSql(number: string, cut: Cut | undefined): string {
  const seconds = `floor(CASE WHEN abs(${number}) >= ${MILLISECONDS_FROM} THEN ${number} / 1000 ELSE ${number} END)`
  const whole = `WHEN ${seconds} BETWEEN ${FIRST_SECOND} AND ${LAST_SECOND} THEN ${seconds}::bigint::text`
  if (!cut) return `CASE ${whole} END`
  const from = Math.max(cut.from + HOUR, 0)
  return `CASE WHEN ${seconds} >= ${from} AND ${seconds} < ${LAST_CUT} THEN (${seconds}::bigint / ${cut.seconds} * ${cut.seconds})::text ${whole} END`
}
