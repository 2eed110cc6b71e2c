/**
 * The groups of an aggregate, for each part of a storage: documents that were created between two moments. A statement tells of which
 * moment of the database its groups are, and the one that brings them up to date works out only the parts that were written since
 * an earlier moment. Both are one statement, so of one moment: a transaction that writes to two parts is seen in both or in neither.
 */
import type { Aggregate } from '../../aggregate/aggregate.ts'
import type { RawGroup } from '../../aggregate/finish-aggregate.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from '../core/rows.ts'
import type { SourceScope } from './aggregate-source.ts'
import { compileAggregate, rawGroup } from './compile-aggregate.ts'
import { numbers, oneRow, value } from './compiled-sql.ts'
import {
  isSameLife,
  isUnseen,
  MOST_NOTED,
  momentIn,
  NOTED_MOMENT,
  type NotedMoment,
  notedSince,
} from './noted-moment.ts'
import type { SearchTarget } from './search-target.ts'

/** Groups of all parts that one statement gives. */
const MOST_PART_GROUPS = 20_000

/** Milliseconds, ascending. The part 0 is before the first, the part n from the bound n − 1 on. */
export type PartBounds = readonly number[]

export interface GroupsOfParts {
  /** By the number of the part. A part without documents has none. */
  readonly groups: ReadonlyMap<number, readonly RawGroup[]>
  /** Characters that they were sent in. */
  readonly size: number
}

/** Of one moment; undefined: notes of writes were lost. */
export interface AllParts extends GroupsOfParts {
  readonly moment: NotedMoment | undefined
}

export interface PartNews extends GroupsOfParts {
  readonly moment: NotedMoment
  /** The parts that were worked out. */
  readonly parts: readonly number[]
}

export async function allParts(
  connection: PostgresConnection,
  target: SearchTarget,
  aggregate: Aggregate,
  bounds: PartBounds,
): Promise<AllParts | 'too many'> {
  const scope: SourceScope = {
    rows: (table, columns, where) =>
      sql`SELECT ${columns.map((column) => `${column}, `).join('')}${partOf('created', bounds)} AS part FROM ${table} WHERE ${where}`,
    hasPart: true,
  }
  const groups = gathered(compileAggregate(target, aggregate, { scope }))
  const row = await oneRow(connection, sql`SELECT ${NOTED_MOMENT}, groups FROM (${groups}) AS gathered`)
  const found = groupsIn(row, aggregate)
  return found === 'too many' ? found : { ...found, moment: momentIn(row) }
}

export interface KnownParts {
  readonly moment: NotedMoment
  readonly bounds: PartBounds
  /** Parts that were written before, and have to be worked out. */
  readonly stale: readonly number[]
  /** All parts from this one on have to be: they have other bounds by now. */
  readonly from: number
}

/** Which parts have to be worked out, of the moment of the answer. undefined: as with `laterParts`. */
export async function writtenParts(
  connection: PostgresConnection,
  target: Pick<SearchTarget, 'id'>,
  known: KnownParts,
): Promise<{ readonly moment: NotedMoment; readonly parts: readonly number[] } | undefined> {
  const row = await oneRow(connection, sql`WITH ${partsToLookAt(target, known)} SELECT ${TOLD}`)
  const moment = momentIn(row)
  return row.is_told === true && moment ? { moment, parts: numbersIn(textOf(row, 'parts')) } : undefined
}

/** What was written since. undefined: most parts, too much to look at, or it is not known what. */
export async function laterParts(
  connection: PostgresConnection,
  target: SearchTarget,
  aggregate: Aggregate,
  known: KnownParts,
): Promise<PartNews | 'too many' | undefined> {
  const scope: SourceScope = {
    // `OFFSET 0`: one walk over an index by `created` for each part, whatever else PostgreSQL expects to be cheaper.
    rows: (table, columns, where) =>
      sql`SELECT within.*, part FROM ranges, LATERAL (SELECT ${columns.join(', ')} FROM ${table} WHERE ${where} AND created >= low AND created < high OFFSET 0) AS within`,
    hasPart: true,
  }
  const groups = gathered(compileAggregate(target, aggregate, { scope }))
  const row = await oneRow(
    connection,
    sql`WITH ${partsToLookAt(target, known)} SELECT ${TOLD}, groups FROM (${groups}) AS gathered`,
  )
  const moment = momentIn(row)
  if (row.is_told !== true || moment === undefined) return undefined
  const found = groupsIn(row, aggregate)
  return found === 'too many' ? found : { ...found, moment, parts: numbersIn(textOf(row, 'parts')) }
}

/** Columns. */
const TOLD = sql`${NOTED_MOMENT}, (SELECT is_told FROM told) AS is_told, (SELECT coalesce(json_agg(part), '[]')::text FROM ranges) AS parts`

/** The items `told` (whether all writes since are known, and few parts were written) and `ranges` (those parts). */
function partsToLookAt(
  target: Pick<SearchTarget, 'id'>,
  { moment, bounds, stale, from }: KnownParts,
): CompiledSql {
  const lows = [Number.MIN_SAFE_INTEGER, ...bounds]
  const highs = [...bounds, Number.MAX_SAFE_INTEGER]
  const isFew = sql`(SELECT count(DISTINCT part) FROM written) <= ${value(Math.ceil(lows.length / 2))}`
  const isWhole = sql`(SELECT count(*) FROM later) < ${value(MOST_NOTED)} AND NOT EXISTS (SELECT FROM written WHERE part IS NULL)`
  const isWritten = sql`part >= ${value(from)} OR part = ANY (${numbers(stale, 'bigint')}) OR part IN (SELECT part FROM written)`
  const all = sql`SELECT (number - 1)::integer AS part, low, high FROM unnest(${numbers(lows, 'bigint')}, ${numbers(highs, 'bigint')}) WITH ORDINALITY AS items(low, high, number)`
  return sql`later AS MATERIALIZED (${notedSince(moment)}),
    written AS MATERIALIZED (SELECT ${partOf('created', bounds)} AS part FROM later WHERE ${isUnseen(target, moment)}),
    told AS MATERIALIZED (SELECT coalesce(${isFew} AND ${isWhole} AND ${isSameLife(moment)}, FALSE) AS is_told),
    ranges AS MATERIALIZED (SELECT * FROM (${all}) AS parts WHERE (SELECT is_told FROM told) AND (${isWritten}))`
}

function partOf(created: string, bounds: PartBounds): CompiledSql {
  return sql`width_bucket(${created}, ${numbers(bounds, 'bigint')})`
}

function gathered(grouped: CompiledSql): CompiledSql {
  return sql`SELECT json_agg(part_groups)::text AS groups FROM (${grouped} LIMIT ${String(MOST_PART_GROUPS + 1)}) AS part_groups`
}

function groupsIn(row: Row, aggregate: Aggregate): GroupsOfParts | 'too many' {
  const text = row.groups === null ? '[]' : textOf(row, 'groups')
  const groups = new Map<number, RawGroup[]>()
  const rows: readonly Row[] = JSON.parse(text)
  if (rows.length > MOST_PART_GROUPS) return 'too many'
  for (const one of rows) {
    const part = numberOf(one, 'part')
    const list = groups.get(part) ?? []
    groups.set(part, list)
    list.push(rawGroup(aggregate, one))
  }
  return { groups, size: text.length }
}

function numbersIn(text: string): number[] {
  const list: unknown = JSON.parse(text)
  return Array.isArray(list) ? list.map(Number) : []
}
