/**
 * An aggregate as one SQL statement that gives a row for each group, and the statements for sums that it cannot give exactly.
 *
 * SQLite adds integers exactly and other numbers as doubles. So a number with up to four decimal places is multiplied by 10,000 and added
 * as an integer. It fits when it is less than 2^37, where no two of such decimals are the same double, and when dividing the integer
 * gives the number again. Where one number does not fit,
 * or a sum is too large for an integer of SQLite, `sqlite-aggregate.ts` adds the rest.
 */
import { type Aggregate, type Grouping, type Measure, MOST_GROUPS } from '../../aggregate/aggregate.ts'
import { type CompiledSql, joinWith, sql } from '../../search/compiled-sql.ts'
import { ARRAY, BOOLEAN, NUMBER, OBJECT, STRING } from '../core/document-shape.ts'
import { coveringIndex, type Indexes } from './covering-index.ts'
import { fieldSql } from './field-sql.ts'
import { jsonValue, type SearchTarget, value } from './sql-values.ts'
import { whereSql } from './sqlite-query.ts'

/** Added and taken away again it makes a double of up to 2^51 whole. */
const ROUND = '6755399441055744.0'
const MOST_EXACT = 2 ** 37
/** A number is added as so many units. */
export const PLACES = 4

/** Columns: `k0`, `k1` … are the keys of a group, `c0`, `c1` … the cells of its values. */
export interface AggregateSql {
  /** `n0`, `n1` … how many numbers a sum or an average has. Without `sums` each sum is left to the other two. */
  groups(sums: boolean): CompiledSql
  /** The sums of the numbers that fit: `high` times 2^20 and `low`. Cannot become too large. */
  fitting(measure: Measure): CompiledSql
  /** Each number that does not fit, as `x`. */
  unfitting(measure: Measure): CompiledSql
}

const LOW_BITS = 20
export const HIGH = 1n << BigInt(LOW_BITS)

/**
 * What a document costs in units of search-effort.ts: some 3 µs where its text is read, 0.2 to 0.3 µs where an index has all that
 * is asked for (`node bench/aggregates.ts`). A part of a date takes 1.6 µs more and counts for half of that, so that a million
 * documents by month are below the bound, with an index or without.
 */
const READ_DOCUMENT = 60
const READ_ENTRY = 8
const READ_DATE = 20
/** Documents that are counted at a time, by their number: a call for each one would take 0.3 µs. */
const COUNTED = 1_024

/** `indexes`: of the storage, in the thread for many documents. One is named in a statement that it serves, and effort is counted. */
export function compileAggregate(
  target: SearchTarget,
  aggregate: Aggregate,
  indexes: Indexes | undefined,
): AggregateSql {
  const { groups, values, query } = aggregate
  const where = whereSql(target, query, false)
  const keys = groups.map((group, at) => sql`${keySql(target, group)} AS k${String(at)}`)
  const keysRead = groups.map((_, at) => asDouble(`k${at}`))
  const by = groups.length === 0 ? '' : ` GROUP BY ${groups.map((_, at) => at + 1).join(', ')}`

  const dates = groups.filter(({ part }) => part !== undefined).length

  function fromTable(columns: readonly CompiledSql[], conditions: readonly CompiledSql[]): CompiledSql {
    const read = list(columns)
    const from = sql`SELECT ${read} FROM ${target.table}`
    if (indexes === undefined) return sql`${from} WHERE ${joinWith('AND', conditions)}`
    const fields = groups.map(({ field }) => field)
    const index = coveringIndex(indexes, `${read.sql} ${where.sql}`, query, fields)
    const units = COUNTED * ((index === undefined ? READ_DOCUMENT : READ_ENTRY) + dates * READ_DATE)
    const counted = plain(`(id % ${COUNTED} <> 0 OR quoin_spent(${units}))`)
    return sql`${from}${index === undefined ? '' : ` INDEXED BY ${index}`} WHERE ${joinWith('AND', [counted, ...conditions])}`
  }

  function grouped(cells: readonly CompiledSql[], read: readonly string[]): CompiledSql {
    const inner = sql`${fromTable([...keys, ...cells], [where])}${by} LIMIT ${String(MOST_GROUPS + 1)}`
    return sql`SELECT ${[...keysRead, ...read].join(', ')} FROM (${inner})`
  }

  return {
    groups: (sums) =>
      grouped(
        values.flatMap((measure, at) => cellSql(target, measure, String(at), sums)),
        values.flatMap((measure, at) => readCell(measure, at)),
      ),
    fitting({ field = '' }) {
      const x = numberSql(target, field)
      const units = `CASE WHEN ${fits(x)} THEN CAST(${unitsOf(x)} AS INTEGER)`
      const low = String(2 ** LOW_BITS - 1)
      return grouped(
        [plain(`sum(${units} >> ${LOW_BITS} END) AS high`), plain(`sum(${units} & ${low} END) AS low`)],
        ['CAST(ifnull(high, 0) AS TEXT) AS high', 'CAST(ifnull(low, 0) AS TEXT) AS low'],
      )
    },
    unfitting({ field = '' }) {
      const x = numberSql(target, field)
      const rows = fromTable(
        [...keys, plain(`CAST(${x} AS REAL) AS x`)],
        [where, plain(`(${x} < '' AND NOT ${fits(x)})`)],
      )
      return sql`SELECT ${[...keysRead, 'x'].join(', ')} FROM (${rows})`
    },
  }
}

function plain(text: string): CompiledSql {
  return { sql: text, parameters: [] }
}

/** A scalar, booleans as blobs beside numbers that look alike; NULL for what counts as missing. */
function keySql(target: SearchTarget, { field, part, zone = 'UTC', ranges }: Grouping): CompiledSql {
  if (part !== undefined) {
    const read = dateSql(target, field)
    return sql`quoin_date_part(${asDoubleOf(read)}, ${value(part)}, ${value(zone)})`
  }
  if (ranges) {
    const x = numberSql(target, field)
    const steps = ranges.map((bound, at) => sql` WHEN ${x} < ${jsonValue(bound)} THEN ${String(at)}`)
    return sql`CASE WHEN ${x} IS NULL OR ${x} >= '' THEN NULL${list(steps, '')} ELSE ${String(ranges.length)} END`
  }
  return { sql: scalarSql(target, field), parameters: [] }
}

function scalarSql(target: SearchTarget, field: string): string {
  const { value: read, path, types, fixed } = fieldSql(target.shape, field)
  if (fixed) return types & OBJECT ? 'NULL' : read
  if ((types & (ARRAY | OBJECT)) === 0 && (types & (BOOLEAN | NUMBER)) !== (BOOLEAN | NUMBER)) return read
  return `CASE json_type(doc, ${path}) WHEN 'true' THEN x'01' WHEN 'false' THEN x'00' WHEN 'array' THEN NULL WHEN 'object' THEN NULL ELSE ${read} END`
}

/** Whether {@link scalarSql} gives booleans as 1 and 0: then it gives no other numbers. */
export function booleansAsNumbers(target: SearchTarget, field: string): boolean {
  const { types, fixed } = fieldSql(target.shape, field)
  return !fixed && (types & (BOOLEAN | NUMBER | ARRAY | OBJECT)) === BOOLEAN
}

/** Its numbers, and possibly its texts, which SQLite puts behind all numbers; NULL for everything else. */
function numberSql(target: SearchTarget, field: string): string {
  const { value: read, path, types, fixed } = fieldSql(target.shape, field)
  if ((types & NUMBER) === 0) return 'NULL'
  if (fixed || (types & (BOOLEAN | ARRAY | OBJECT)) === 0) return read
  return `CASE WHEN json_type(doc, ${path}) IN ('integer', 'real') THEN ${read} END`
}

/** Its numbers and texts. */
function dateSql(target: SearchTarget, field: string): string {
  const { value: read, path, types, fixed } = fieldSql(target.shape, field)
  if ((types & (NUMBER | STRING)) === 0) return 'NULL'
  if (fixed || (types & (BOOLEAN | ARRAY | OBJECT)) === 0) return read
  return `CASE WHEN json_type(doc, ${path}) IN ('integer', 'real', 'text') THEN ${read} END`
}

/** As searches sort: booleans as 1 and 0, numbers before texts. */
function orderedSql(target: SearchTarget, field: string): string {
  const { value: read, path, types } = fieldSql(target.shape, field)
  if ((types & (ARRAY | OBJECT)) === 0) return read
  return `CASE WHEN json_type(doc, ${path}) IN ('array', 'object') THEN NULL ELSE ${read} END`
}

function cellSql(target: SearchTarget, measure: Measure, at: string, sums: boolean): CompiledSql[] {
  const { figure, field } = measure
  if (field === undefined) return [plain(`count(*) AS c${at}`)]
  switch (figure) {
    case 'count':
      return [plain(`count(${fieldSql(target.shape, field).value}) AS c${at}`)]
    case 'distinct':
      return [plain(`count(DISTINCT ${scalarSql(target, field)}) AS c${at}`)]
    case 'min':
    case 'max':
      return [plain(`${figure}(${orderedSql(target, field)}) AS c${at}`)]
    case 'sum':
    case 'average':
      return sumCells(target, field, at, sums)
  }
}

function sumCells(target: SearchTarget, field: string, at: string, sums: boolean): CompiledSql[] {
  const x = numberSql(target, field)
  // One number that does not fit makes the sum a double, which tells.
  const units = sums ? `WHEN ${fits(x)} THEN CAST(${unitsOf(x)} AS INTEGER) ` : ''
  const numbers = fieldSql(target.shape, field).types & STRING ? `CASE WHEN ${x} < '' THEN 1 END` : x
  return [
    plain(`sum(CASE ${units}WHEN ${x} < '' THEN 0.5 END) AS c${at}`),
    plain(`count(${numbers}) AS n${at}`),
  ]
}

/** What JavaScript gets: node:sqlite refuses integers beyond 2^53. */
function readCell({ figure }: Measure, at: number): string[] {
  if (figure !== 'sum' && figure !== 'average') return [asDouble(`c${at}`)]
  return [
    `CASE typeof(c${at}) WHEN 'real' THEN NULL ELSE CAST(ifnull(c${at}, 0) AS TEXT) END AS c${at}`,
    `n${at}`,
  ]
}

function unitsOf(x: string): string {
  return `((${x} * 1e${PLACES} + ${ROUND}) - ${ROUND})`
}

function fits(x: string): string {
  return `(${x} BETWEEN -${MOST_EXACT} AND ${MOST_EXACT} AND ${unitsOf(x)} / 1e${PLACES} = ${x})`
}

function asDouble(column: string): string {
  return `${asDoubleOf(column)} AS ${column}`
}

function asDoubleOf(read: string): string {
  return `CASE typeof(${read}) WHEN 'integer' THEN CAST(${read} AS REAL) ELSE ${read} END`
}

function list(parts: readonly CompiledSql[], separator = ', '): CompiledSql {
  const [first, ...rest] = parts
  return first ? rest.reduce((joined, part) => sql`${joined}${separator}${part}`, first) : sql``
}
