/**
 * The documents of an aggregate, with the fields that it needs as columns. To read a field, PostgreSQL reads the whole text of the
 * document (2 µs for 400 bytes), and it puts the expression of a column wherever the column is named. So a field that is named several
 * times, and several fields, are read by one `json_to_record` (3 µs), which is worked out once for a document and lets the statement run
 * on several cores. `OFFSET 0` has the former effect only; it is for fields inside others, and for names that no column can have.
 */
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import type { MeasuredColumn } from './aggregate-cells.ts'
import type { GroupedColumn } from './aggregate-groups.ts'
import { fieldSql, type KeyColumns, keyOf, numberOf, quarterOf, wholeKeyOf } from './field-sql.ts'
import { whereSql } from './postgres-query.ts'
import { askedFields, type Decisions } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

/** Bytes of a column's name. */
const LONGEST_NAME = 63

/** `keys`: of key columns, which all of the fields have. */
export type ReadingOf = 'once' | 'record' | 'subquery' | 'keys'

export interface AggregateFields {
  readonly names: readonly string[]
  readonly reading: ReadingOf
  /** The column of a field. */
  column(field: string): GroupedColumn
  /** The same for figures. */
  measured(field: string): MeasuredColumn
}

export function aggregateFields({ groups, values }: Aggregate, columns: KeyColumns): AggregateFields {
  const uses = [...groups, ...values].flatMap(({ field }) => field ?? [])
  const names = [...new Set(uses)]
  const reading = readingOf(
    names.filter((name) => fieldSql(name).kind === 'json'),
    columns,
    uses.length === 1 && groups.some(({ part, ranges }) => part === undefined && ranges === undefined),
  )
  const read = (field: string) => `f${names.indexOf(field)}`
  return {
    names,
    reading,
    column(field) {
      const { kind } = fieldSql(field)
      if (reading === 'keys' && kind === 'json') return keyColumn(read(field))
      const isReadOnce = reading === 'once' && kind === 'json'
      return { kind: kind === 'whole' ? 'number' : 'json', read: read(field), isReadOnce }
    },
    measured(field) {
      const { kind } = fieldSql(field)
      if (reading === 'keys' && kind === 'json') return keyColumn(read(field))
      return { kind: 'json', read: kind === 'whole' ? `to_json(${read(field)})` : read(field) }
    },
  }
}

function keyColumn(read: string) {
  return { kind: 'key', read, number: `${read}_number`, quarter: `${read}_quarter` } as const
}

function readingOf(json: readonly string[], columns: KeyColumns, isGroupedOnly: boolean): ReadingOf {
  if (json.length > 0 && json.every((name) => columns.has(name))) return 'keys'
  if (json.length === 0 || isGroupedOnly) return 'once'
  const areColumns = json.every((name) => !name.includes('.') && Buffer.byteLength(name) <= LONGEST_NAME)
  return areColumns ? 'record' : 'subquery'
}

/** A row for each document that matches, where the fields in `plain` have no odd values (`search-plan.ts`). */
export function aggregateSource(
  target: SearchTarget,
  { query }: Aggregate,
  {
    fields,
    decided,
    plain,
  }: {
    readonly fields: AggregateFields
    readonly decided: Decisions
    readonly plain: ReadonlySet<string>
  },
): CompiledSql {
  const where = whereSql({ target, decided, plain }, query, false)
  return readSql(target, { ...fields, isPlain: plain.size > 0 }, where)
}

/** The fields for which the form of plain values is worth asking for. */
export function askedOf(
  target: SearchTarget,
  { query }: Aggregate,
  { names, reading }: AggregateFields,
): string[] {
  const read = reading === 'keys' ? names.filter((name) => target.columns.has(name)) : []
  return [...new Set([...askedFields(target, query), ...read])]
}

function readSql(
  { table, columns: keys }: SearchTarget,
  { names, reading, isPlain }: AggregateFields & { readonly isPlain: boolean },
  where: CompiledSql,
): CompiledSql {
  const reads = names.map((name) => fieldSql(name))
  const rows = (columns: readonly string[]) => sql`SELECT ${columns.join(', ')} FROM ${table} WHERE ${where}`
  if (reading === 'keys') {
    const columns = names.flatMap((name, at) => {
      const read = fieldSql(name)
      if (read.kind !== 'json') return [`${columnOf(read)} AS f${at}`]
      const key = isPlain ? keyOf(name, keys) : wholeKeyOf(name, keys)
      const number = `${numberOf(name, keys)} AS f${at}_number`
      return [`${key} AS f${at}`, number, `${quarterOf(name, keys)} AS f${at}_quarter`]
    })
    // A key that is read from a document has to be worked out once.
    return sql`(${rows(columns)}${isPlain ? '' : ' OFFSET 0'})`
  }
  if (reading !== 'record') {
    const columns = reads.map((read, at) => `${read.kind === 'json' ? read.json : columnOf(read)} AS f${at}`)
    return sql`(${rows(columns)}${reading === 'subquery' ? ' OFFSET 0' : ''})`
  }
  // The condition stands inside, where no field can have the name of a column.
  const inside = reads.flatMap((read, at) => (read.kind === 'json' ? [] : [`${columnOf(read)} AS f${at}`]))
  const outside = reads.map((read, at) =>
    read.kind === 'json' ? `items."${names[at]}" AS f${at}` : `found.f${at}`,
  )
  const columns = names.filter((_, at) => reads[at]?.kind === 'json').map((name) => `"${name}" json`)
  return sql`(SELECT ${outside.join(', ')} FROM (${rows(['doc', ...inside])}) AS found, json_to_record(found.doc) AS items(${columns.join(', ')}))`
}

function columnOf(read: Exclude<ReturnType<typeof fieldSql>, { kind: 'json' }>): string {
  return read.kind === 'text' ? `to_json(${read.read})` : read.read
}
