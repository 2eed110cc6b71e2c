/**
 * An aggregate as one SQL statement that gives a row for each group. Sums are of `numeric`, from the text of each JSON number, so
 * they are exact. Each field is read once for each document: OFFSET 0 keeps the planner from reading it again wherever it is used.
 */
import { type Aggregate, type Grouping, type Measure, MOST_GROUPS } from '../../aggregate/aggregate.ts'
import { checkAggregate } from '../../aggregate/check-aggregate.ts'
import { decimalOf } from '../../aggregate/decimal.ts'
import {
  type Aggregated,
  type Cell,
  finishAggregate,
  type GroupKey,
  tooManyGroups,
} from '../../aggregate/finish-aggregate.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { EFFORT_OF_A_SEARCH, SearchEffort } from '../../search/search-effort.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from '../core/rows.ts'
import { numbers, statement } from './compiled-sql.ts'
import { datePartSql } from './date-part-sql.ts'
import { decideTexts } from './decide-texts.ts'
import { fieldSql } from './field-sql.ts'
import { question, whereSql } from './postgres-query.ts'
import { askedFields, type Decisions } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

/** Throws INVALID_QUERY. */
export async function aggregateDocuments(
  connection: PostgresConnection,
  target: SearchTarget,
  aggregate: Aggregate,
): Promise<Aggregated> {
  checkAggregate(aggregate)
  const decided = await decideTexts(connection, target, aggregate.query, new SearchEffort(EFFORT_OF_A_SEARCH))
  const { text, values } = statement(compileAggregate(target, aggregate, decided))
  const rows = await connection.rows(text, values)
  if (rows.length > MOST_GROUPS) return tooManyGroups
  return finishAggregate(
    aggregate,
    rows.map((row) => ({
      keys: aggregate.groups.map((group, at) => keyOf(row, group, at)),
      cells: aggregate.values.map((measure, at) => cellOf(row, measure, at)),
    })),
  )
}

/** Columns: `k0`, `k1` … are the keys of a group, `c0`, `c1` … the cells of its values. */
function compileAggregate(target: SearchTarget, aggregate: Aggregate, decided: Decisions): CompiledSql {
  const { groups, values } = aggregate
  const fields = [...new Set([...groups, ...values].flatMap(({ field }) => field ?? []))]
  const read = (field: string) => `f${fields.indexOf(field)}`
  const columns = [
    ...groups.map((group, at) => sql`${keySql(read(group.field), group)} AS k${String(at)}`),
    ...values.flatMap((measure, at) =>
      cellSql(measure.field === undefined ? undefined : read(measure.field), measure, at),
    ),
  ]
  const by = groups.length === 0 ? '' : ` GROUP BY ${groups.map((_, at) => at + 1).join(', ')}`
  const source = sourceSql(target, aggregate, fields, decided)
  return sql`SELECT ${list(columns)} FROM (${source}) AS documents${by} LIMIT ${String(MOST_GROUPS + 1)}`
}

/** A row for each document that matches, with its fields as JSON. Both forms of the condition stand there (`search-plan.ts`); one is carried out. */
function sourceSql(
  target: SearchTarget,
  { query }: Aggregate,
  fields: readonly string[],
  decided: Decisions,
): CompiledSql {
  const columns = fields.map((field, at) => `${jsonOf(field)} AS f${at}`).join(', ')
  const part = (plain: ReadonlySet<string>, gate: string): CompiledSql =>
    sql`(SELECT ${columns} FROM ${target.table} WHERE ${gate}${whereSql({ target, decided, plain }, query, false)} OFFSET 0)`
  const asked = askedFields(target, query)
  if (asked.length === 0) return part(new Set(), '')
  const plain = sql`SELECT ${question(target, asked)} AS plain`
  return sql`WITH asked AS MATERIALIZED (${plain}) ${part(new Set(asked), '(SELECT plain FROM asked) AND ')} UNION ALL ${part(new Set(), '(SELECT NOT plain FROM asked) AND ')}`
}

function jsonOf(field: string): string {
  const read = fieldSql(field)
  return read.kind === 'json' ? read.json : `to_json(${read.read})`
}

const isScalar = (json: string) => `json_typeof(${json}) IN ('string', 'number', 'boolean')`

/** Of a scalar its JSON text, which is the same for the same value: JavaScript wrote it. */
function keySql(json: string, { part, zone = 'UTC', ranges }: Grouping): CompiledSql {
  if (part !== undefined) return datePartSql(json, part, zone)
  if (ranges)
    return sql`CASE WHEN json_typeof(${json}) = 'number' THEN width_bucket((${json} #>> '{}')::float8, ${numbers(ranges, 'float8')}) END`
  return sql`CASE WHEN ${isScalar(json)} THEN ${json}::text END COLLATE "C"`
}

function cellSql(json: string | undefined, { figure }: Measure, at: number): CompiledSql[] {
  const plain = (text: string, name = `c${at}`): CompiledSql => ({
    sql: `${text} AS ${name}`,
    parameters: [],
  })
  if (json === undefined) return [plain('count(*)')]
  const type = `json_typeof(${json})`
  const text = `${json} #>> '{}'`
  switch (figure) {
    case 'count':
      return [plain(`count(*) FILTER (WHERE ${type} <> 'null')`)]
    case 'distinct':
      return [plain(`count(DISTINCT ${json}::text COLLATE "C") FILTER (WHERE ${isScalar(json)})`)]
    case 'sum':
    case 'average': {
      const isNumber = `FILTER (WHERE ${type} = 'number')`
      return [
        plain(`coalesce(sum(CASE WHEN ${type} = 'number' THEN (${text})::numeric END), 0)::text`),
        plain(`count(*) ${isNumber}`, `n${at}`),
      ]
    }
    case 'min':
    case 'max': {
      const number = `CASE ${type} WHEN 'number' THEN (${text})::float8 WHEN 'boolean' THEN CASE WHEN ${text} = 'true' THEN 1 ELSE 0 END END`
      return [
        plain(`${figure}(${number})`, `n${at}`),
        plain(`${figure}(${text} COLLATE "C") FILTER (WHERE ${type} = 'string')`),
      ]
    }
  }
}

function keyOf(row: Row, { part, ranges }: Grouping, at: number): GroupKey {
  const key = row[`k${at}`]
  if (key === null) return null
  if (part !== undefined || ranges) return numberOf(row, `k${at}`)
  return JSON.parse(textOf(row, `k${at}`))
}

function cellOf(row: Row, { figure, field }: Measure, at: number): Cell {
  const [cell, number] = [row[`c${at}`], row[`n${at}`]]
  if (field === undefined) return numberOf(row, `c${at}`)
  switch (figure) {
    case 'count':
    case 'distinct':
      return numberOf(row, `c${at}`)
    case 'sum':
    case 'average':
      return { sum: decimalOf(textOf(row, `c${at}`)), numbers: numberOf(row, `n${at}`) }
    case 'min':
      if (number !== null) return numberOf(row, `n${at}`)
      return cell === null ? null : textOf(row, `c${at}`)
    case 'max':
      if (cell !== null) return textOf(row, `c${at}`)
      return number === null ? null : numberOf(row, `n${at}`)
  }
}

function list(parts: readonly CompiledSql[]): CompiledSql {
  const [first, ...rest] = parts
  return first ? rest.reduce((joined, part) => sql`${joined}, ${part}`, first) : sql``
}
