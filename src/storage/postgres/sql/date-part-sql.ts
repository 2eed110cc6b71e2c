/** The number of a part of a date, as `storage/aggregate/date-part.ts` numbers them. */
import type { DatePart } from '../../aggregate/aggregate.ts'
import {
  DATE_PATTERN,
  FIRST_SECOND,
  HOUR_STEP,
  LAST_SECOND,
  OFFSETS,
  zoneOffsets,
} from '../../aggregate/date-part.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { numbers } from './compiled-sql.ts'

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
