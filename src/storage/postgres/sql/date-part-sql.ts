/** The number of a part of a date, as `storage/aggregate/date-part.ts` numbers them. */
import type { DatePart } from '../../aggregate/aggregate.ts'
import {
  DATE_PATTERN,
  FIRST_SECOND,
  HOUR_STEP,
  LAST_SECOND,
  MILLISECONDS_FROM,
  OFFSETS,
} from '../../aggregate/date-part.ts'
import { zoneOffsets } from '../../aggregate/zone-offsets.ts'
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

/** Of a field as JSON; NULL for what is no date. */
export function datePartSql(json: string, part: DatePart, zone: string): CompiledSql {
  const { changes, offsets } = zoneOffsets(zone)
  const offset = sql`(${numbers(offsets, 'bigint')})[width_bucket(seconds, ${numbers(changes, 'bigint')}) + 1]`
  const known = sql`SELECT seconds, is_day, CASE WHEN is_day THEN 0 ELSE ${offset} END AS o FROM (${secondsOf(json)}) AS given WHERE seconds BETWEEN ${String(FIRST_SECOND)} AND ${String(LAST_SECOND)} ${ONCE}`
  const local = sql`SELECT is_day, o, seconds + o AS at FROM (${known}) AS known ${ONCE}`
  return sql`(SELECT ${partOf(part)} FROM (${local}) AS local)`
}

/** One row or none: `seconds` since 1970, and whether it is a day without a time. */
function secondsOf(json: string): CompiledSql {
  const number = `SELECT floor(CASE WHEN abs(x) >= ${MILLISECONDS_FROM} THEN x / 1000 ELSE x END) AS seconds, FALSE AS is_day FROM (SELECT (${json} #>> '{}')::float8 AS x WHERE json_typeof(${json}) = 'number' ${ONCE}) AS number ${ONCE}`
  // CASE: what stands behind a condition may be worked out before it. make_date takes no year 0 and no 30 February.
  const day = `CASE WHEN p[1] <> '0000' THEN make_date(p[1]::integer, p[2]::integer, 1) + (p[3]::integer - 1) END`
  const time = `coalesce(p[4]::integer, 0) * 3600 + coalesce(p[5]::integer, 0) * 60 + coalesce(p[6]::integer, 0)`
  const ahead = `(coalesce(p[8]::integer, 0) * 3600 + coalesce(p[9]::integer, 0) * 60) * CASE WHEN p[7] = '-' THEN -1 ELSE 1 END`
  const text = `SELECT (d - ${EPOCH})::bigint * ${DAY} + ${time} - ${ahead} AS seconds, p[4] IS NULL AS is_day FROM (SELECT p, ${day} AS d FROM (SELECT regexp_match(${json} #>> '{}', '${DATE_PATTERN}') AS p WHERE json_typeof(${json}) = 'string' ${ONCE}) AS read WHERE p IS NOT NULL ${ONCE}) AS dated WHERE extract(month FROM d) = p[2]::integer`
  const inRange = `SELECT seconds::bigint AS seconds, is_day FROM (${number}) AS n WHERE abs(seconds) < 1e15`
  return { sql: `${inRange} UNION ALL ${text}`, parameters: [] }
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
