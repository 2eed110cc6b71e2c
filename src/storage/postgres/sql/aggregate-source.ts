/**
 * The documents of an aggregate, with the fields that it needs as columns. To read a field, PostgreSQL reads the whole text of the
 * document (2 µs for 400 bytes), and it puts the expression of a column wherever the column is named. So a field that is named several
 * times, and several fields, are read by one `json_to_record` (3 µs), which is worked out once for a document and lets the statement run
 * on several cores. `OFFSET 0` has the former effect only; it is for fields inside others, and for names that no column can have.
 */
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import type { GroupedColumn } from './aggregate-groups.ts'
import { fieldSql } from './field-sql.ts'
import { whereSql } from './postgres-query.ts'
import { askedFields, type Decisions, question } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

/** Bytes of a column's name. */
const LONGEST_NAME = 63

export type ReadingOf = 'once' | 'record' | 'subquery'

export interface AggregateFields {
  readonly names: readonly string[]
  readonly reading: ReadingOf
  /** The column of a field. */
  column(field: string): GroupedColumn
  /** The same as JSON. */
  json(field: string): string
}

export function aggregateFields({ groups, values }: Aggregate): AggregateFields {
  const uses = [...groups, ...values].flatMap(({ field }) => field ?? [])
  const names = [...new Set(uses)]
  const reading = readingOf(
    names.filter((name) => fieldSql(name).kind === 'json'),
    uses.length === 1 && groups.some(({ part, ranges }) => part === undefined && ranges === undefined),
  )
  const read = (field: string) => `f${names.indexOf(field)}`
  return {
    names,
    reading,
    column(field) {
      const { kind } = fieldSql(field)
      const isReadOnce = reading === 'once' && kind === 'json'
      return { kind: kind === 'whole' ? 'number' : 'json', read: read(field), isReadOnce }
    },
    json: (field) => (fieldSql(field).kind === 'whole' ? `to_json(${read(field)})` : read(field)),
  }
}

function readingOf(json: readonly string[], isGroupedOnly: boolean): ReadingOf {
  if (json.length === 0 || isGroupedOnly) return 'once'
  const areColumns = json.every((name) => !name.includes('.') && Buffer.byteLength(name) <= LONGEST_NAME)
  return areColumns ? 'record' : 'subquery'
}

/** Which documents, and how the number of their part is known, which is the column `part`. */
export interface SourceScope {
  /** Of the table, or of a subquery that is made of it. */
  readonly rows: (table: string, columns: readonly string[], where: CompiledSql) => CompiledSql
  readonly hasPart: boolean
}

export const allDocuments: SourceScope = {
  rows: (table, columns, where) => sql`SELECT ${columns.join(', ')} FROM ${table} WHERE ${where}`,
  hasPart: false,
}

/** A row for each document that matches. Both forms of the condition stand there (`search-plan.ts`); one is carried out. */
export function aggregateSource(
  target: SearchTarget,
  { query }: Aggregate,
  {
    fields,
    decided,
    scope,
  }: { readonly fields: AggregateFields; readonly decided: Decisions; readonly scope: SourceScope },
): CompiledSql {
  const part = (plain: ReadonlySet<string>, gate: string): CompiledSql =>
    readSql(target.table, fields, scope, sql`${gate}${whereSql({ target, decided, plain }, query, false)}`)
  const asked = askedFields(target, query)
  if (asked.length === 0) return part(new Set(), '')
  const plain = sql`SELECT ${question(target, asked)} AS plain`
  return sql`WITH asked AS MATERIALIZED (${plain}) ${part(new Set(asked), '(SELECT plain FROM asked) AND ')} UNION ALL ${part(new Set(), '(SELECT NOT plain FROM asked) AND ')}`
}

function readSql(
  table: string,
  { names, reading }: AggregateFields,
  { rows, hasPart }: SourceScope,
  where: CompiledSql,
): CompiledSql {
  const reads = names.map((name) => fieldSql(name))
  if (reading !== 'record') {
    const columns = reads.map((read, at) => `${read.kind === 'json' ? read.json : columnOf(read)} AS f${at}`)
    return sql`(${rows(table, columns, where)}${reading === 'subquery' ? ' OFFSET 0' : ''})`
  }
  // The condition stands inside, where no field can have the name of a column.
  const inside = reads.flatMap((read, at) => (read.kind === 'json' ? [] : [`${columnOf(read)} AS f${at}`]))
  const outside = reads.map((read, at) =>
    read.kind === 'json' ? `items."${names[at]}" AS f${at}` : `found.f${at}`,
  )
  const columns = names.filter((_, at) => reads[at]?.kind === 'json').map((name) => `"${name}" json`)
  return sql`(SELECT ${[...outside, ...(hasPart ? ['found.part'] : [])].join(', ')} FROM (${rows(table, ['doc', ...inside], where)}) AS found, json_to_record(found.doc) AS items(${columns.join(', ')}))`
}

function columnOf(read: Exclude<ReturnType<typeof fieldSql>, { kind: 'json' }>): string {
  return read.kind === 'text' ? `to_json(${read.read})` : read.read
}
