/**
 * Dates in a form that many documents share, so that the part of a calendar is worked out once for each such form and not for each
 * document: a million documents have few different hours. Instants as JavaScript writes them (2026-01-31T12:00:00.000Z) and seconds
 * since 1970 are cut to the hour that they are in, or to its quarter where clocks of the zone are not a whole number of hours from
 * UTC. All else that may be a date stays as it is. A cut costs 1 µs a document; matching the whole pattern of a date costs 4 µs.
 */

import type { DatePart } from '../../aggregate/aggregate.ts'
import {
  DATE_PATTERN,
  FIRST_SECOND,
  HOUR_STEP,
  LAST_SECOND,
  MILLISECONDS_FROM,
  OFFSETS,
  type ZoneOffsets,
  zoneOffsets,
} from '../../aggregate/date-part.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { FIRST_LIST, FIRST_TEXT, numbers } from './field-sql.ts'

/** A column of dates: JSON, seconds or milliseconds of `_meta` as a number, or a key with the number and the quarter of an hour that it may be. */
export type DateColumn = { readonly kind: 'json' | 'number'; readonly read: string } | KeyColumn

interface KeyColumn {
  readonly kind: 'key'
  readonly read: string
  readonly number: string
  /** Of an hour, since 1970, of instants as JavaScript writes them. */
  readonly quarter: string
}

/** 2026-01-31T12:00:00.123456789+05:30 is the longest date, 2026-01-31 the shortest. */
const LONGEST = 35
const HOUR = 3_600
const QUARTER = 900
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
  const { text, isText, isNumber, number } = column.kind === 'key' ? ofKey(column) : ofJson(read)
  const whole = `CASE WHEN ${isText} THEN ${wholeText(text)} WHEN ${isNumber} THEN ${secondsSql(`${number}::float8`, cut)} END`
  const bucket = cut && kind === 'json' ? `CASE ${cutText(`${read}::text`, cut)} ELSE ${whole} END` : whole
  return `(${bucket}) COLLATE "C"`
}

/** Of documents with instants, which are grouped by a number. */
export interface InstantBucket {
  /** NULL of all other documents. */
  readonly number: string
  /** Of such a number, as `dateBucketSql` gives it. */
  readonly bucket: (number: string) => string
  readonly isOther: string
}

/**
 * PostgreSQL believes that an expression which also names the key has as many groups as there are documents, so that it sorts them. What is
 * grouped by quarters alone is hashed, on several cores: months of a million documents take a fifth of the time.
 */
export function instantBucket(column: DateColumn, zone: string | undefined): InstantBucket | undefined {
  const cut = zone === undefined || column.kind !== 'key' ? undefined : cutOf(zoneOffsets(zone))
  if (column.kind !== 'key' || cut === undefined) return undefined
  const { quarter } = column
  const first = Math.ceil(firstSecond(cut.from) / QUARTER)
  return {
    number: `CASE WHEN ${quarter} >= ${first} THEN ${quarter} / ${cut.seconds / QUARTER} END`,
    bucket: (number) => `(${number}::bigint * ${cut.seconds})::text COLLATE "C"`,
    isOther: `(${quarter} IS NULL OR ${quarter} < ${first})`,
  }
}

function ofKey({ read, number }: KeyColumn) {
  return {
    text: `substr(${read}, 2)`,
    isText: `${read} >= '${FIRST_TEXT}' AND ${read} < '${FIRST_LIST}'`,
    isNumber: `${number} IS NOT NULL`,
    number,
  }
}

function ofJson(read: string) {
  const text = `(${read} #>> '{}')`
  const type = `json_typeof(${read})`
  return { text, isText: `${type} = 'string'`, isNumber: `${type} = 'number'`, number: text }
}

interface Cut {
  readonly seconds: number
  /** Seconds since 1970. Before, clocks of the zone were set otherwise. */
  readonly from: number
}

/** The next hour, so that an hour in which the clocks have changed stays whole; none before 1970. */
function firstSecond(from: number): number {
  return Math.max(from + HOUR, 0)
}

/** undefined: clocks are not set in whole quarters of an hour. */
function cutOf({ changes, offsets }: ZoneOffsets): Cut | undefined {
  const fits = (seconds: number, at: number) =>
    (offsets[at] ?? 0) % seconds === 0 && (at === 0 || (changes[at - 1] ?? 0) % seconds === 0)
  /** The first second of the offsets that all fit, up to the last one. */
  const fittingFrom = (seconds: number) => {
    const unusual = offsets.findLastIndex((_, at) => !fits(seconds, at))
    return unusual < 0 ? FIRST_CUT : changes[unusual]
  }
  const byHour = fittingFrom(HOUR)
  if (byHour !== undefined && byHour <= LONG_AGO) return { seconds: HOUR, from: byHour }
  const from = fittingFrom(QUARTER)
  return from === undefined ? undefined : { seconds: QUARTER, from }
}

/** What has no hyphen behind the year is no date. */
function wholeText(text: string): string {
  return `CASE WHEN length(${text}) <= ${LONGEST} AND substr(${text}, 5, 1) = '-' THEN ${text} END`
}

/** Of JSON with its quotes, `"2026-01-31T12:00:00.000Z"`. The hour is not looked at; what is no date then is not one for any of its instants. */
function cutText(json: string, { seconds, from }: Cut): string {
  // The next hour, so that an hour in which the clocks have changed stays whole.
  const first = new Date((from + HOUR) * 1000).toISOString().slice(0, 13)
  const isIn = `${json} >= '"${first}' COLLATE "C" AND ${json} < '"2200' COLLATE "C" AND substr(${json}, 6, 1) = '-'`
  const quarter = `CASE width_bucket(substr(${json}, 16, 2), '{15,30,45}'::text[] COLLATE "C") WHEN 0 THEN '00' WHEN 1 THEN '15' WHEN 2 THEN '30' ELSE '45' END`
  const short = `substr(${json}, 2, 14) || ${seconds === HOUR ? `'00'` : quarter}`
  return `WHEN ${isIn} AND ${endsAsInstant(json)} THEN ${short}`
}

/** That `:00:00.000Z` stands behind the hour. PostgreSQL looks up each piece in a hash table, which is faster than a pattern. */
function endsAsInstant(json: string): string {
  const sixty = numbered(60, 2, (number) => `:${number}`)
  return [
    `substr(${json}, 15, 3) = ANY (${sixty})`,
    `substr(${json}, 18, 3) = ANY (${sixty})`,
    `substr(${json}, 21, 3) = ANY (${numbered(100, 2, (number) => `.${number}`)})`,
    `substr(${json}, 24) = ANY (${numbered(10, 1, (number) => `"${number}Z\\""`)})`,
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
  return `CASE WHEN ${seconds} >= ${firstSecond(cut.from)} AND ${seconds} < ${LAST_CUT} THEN (${seconds}::bigint / ${cut.seconds} * ${cut.seconds})::text ${whole} END`
}

// The number of a part of a date, as `storage/aggregate/date-part.ts` numbers them.

const DAY = '86400'
/** Days, and at least as many weeks, from the year 1 to 1970. */
const DAYS_BEFORE = 719_162
const WEEKS_BEFORE = 102_738
/** A date is added to days as integers: dates of PostgreSQL are in the calendar of ISO 8601, like ours. */
const EPOCH = `date '1970-01-01'`

/**
 * PostgreSQL works out what such a subquery gives once. Without it, it puts the expressions in place of each of their names: one
 * date was matched some hundred times, which took 5 ms.
 */
const ONCE = 'OFFSET 0'

/** Of a text that `dateBucketSql` gives; NULL for what is no date. About 10 µs. */
export function datePartSql(bucket: string, part: DatePart, zone: string): CompiledSql {
  const { changes, offsets } = zoneOffsets(zone)
  const offset = sql`(${numbers(offsets, 'bigint')})[width_bucket(seconds, ${numbers(changes, 'bigint')}) + 1]`
  const known = sql`SELECT seconds, is_day, CASE WHEN is_day THEN 0 ELSE ${offset} END AS o FROM (${secondsOf(bucket)}) AS given WHERE seconds BETWEEN ${String(FIRST_SECOND)} AND ${String(LAST_SECOND)} ${ONCE}`
  const local = sql`SELECT is_day, o, seconds + o AS at FROM (${known}) AS known ${ONCE}`
  return sql`(SELECT ${partOf(part)} FROM (${local}) AS local)`
}

/** One row: `seconds` since 1970, NULL for what is no date, and whether it is a day without a time. */
function secondsOf(bucket: string): CompiledSql {
  const piece = (at: number) => `substr(t, ${at}, 2)::integer`
  // CASE: what stands behind a condition may be worked out before it. make_date takes no year 0 and no 30 February.
  const day = `CASE WHEN t ~ '${DATE_PATTERN}' AND substr(t, 1, 4) <> '0000' THEN make_date(substr(t, 1, 4)::integer, ${piece(6)}, 1) + (${piece(9)} - 1) END`
  const second = `CASE WHEN substr(t, 17, 1) = ':' THEN ${piece(18)} ELSE 0 END`
  const time = `CASE WHEN length(t) > 10 THEN ${piece(12)} * 3600 + ${piece(15)} * 60 + ${second} ELSE 0 END`
  const sign = 'substr(t, length(t) - 5, 1)'
  const zone = `substr(t, length(t) - 4, 2)::integer * 3600 + substr(t, length(t) - 1, 2)::integer * 60`
  const ahead = `CASE WHEN length(t) <= 16 THEN 0 WHEN ${sign} = '+' THEN ${zone} WHEN ${sign} = '-' THEN -(${zone}) ELSE 0 END`
  const text = `CASE WHEN d IS NULL THEN NULL WHEN extract(month FROM d) = ${piece(6)} THEN (d - ${EPOCH})::bigint * ${DAY} + ${time} - (${ahead}) END`
  const dated = `SELECT t, CASE WHEN substr(t, 5, 1) = '-' THEN ${day} END AS d FROM (SELECT ${bucket} AS t ${ONCE}) AS bucket ${ONCE}`
  const seconds = `SELECT CASE WHEN substr(t, 5, 1) = '-' THEN ${text} ELSE t::bigint END AS seconds, length(t) = 10 AND substr(t, 5, 1) = '-' AS is_day FROM (${dated}) AS dated ${ONCE}`
  return { sql: seconds, parameters: [] }
}

/** Of `at`, seconds since 1970 as clocks of the zone show them. */
function partOf(part: DatePart): string {
  // From the year 1 on, where whole division rounds down.
  const day = `((at + ${DAYS_BEFORE * 86_400}) / ${DAY} - ${DAYS_BEFORE})::integer`
  const date = `(${EPOCH} + ${day})`
  switch (part) {
    case 'year':
      return `extract(year FROM ${date})::integer`
    case 'quarter':
      return `(extract(year FROM ${date}) * 4 + extract(quarter FROM ${date}) - 1)::integer`
    case 'month':
      return `(extract(year FROM ${date}) * 12 + extract(month FROM ${date}) - 1)::integer`
    case 'week':
      return `(${day} + 3 + 7 * ${WEEKS_BEFORE}) / 7 - ${WEEKS_BEFORE}`
    case 'day':
      return day
    case 'hour':
      return `CASE WHEN NOT is_day THEN ((at + ${DAYS_BEFORE * 86_400}) / 3600 - ${DAYS_BEFORE * 24}) * ${HOUR_STEP} + ${OFFSETS} - o END`
  }
}
