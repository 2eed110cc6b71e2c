/**
 * What the address says about a data table, and the search that it makes of it. Parameters begin with the table's id:
 * `tasks.q` (free text), `tasks.sort` (`field` or `-field`), `tasks.page`, `tasks.after` (a cursor, far behind),
 * `tasks.cols` (several), and for filters `tasks.is.field`, `tasks.from.field`, `tasks.to.field`.
 *
 * Only columns that the table names can be reached, and sorted or filtered by only if they say so; whatever else the
 * address says is not heard. The table's own query always holds.
 */

import { PinError } from '../../blocks/block.ts'
import { rangeQuery } from '../../blocks/range-query.ts'
import type { CellContext } from '../../blocks/table-cells.ts'
import { readLocalTime } from '../../shared/dates/dates.ts'
import { QuoinError } from '../../shared/errors.ts'
import { keepsDigits } from '../../shared/numbers/exact-json.ts'
import type { DataTable, TableColumn } from '../../shared/pages/page-table.ts'
import type { Query, Scalar, Search, SortKey } from '../../shared/query.ts'
import type { Reference } from '../../storage/reference/references.ts'
import { isBehind } from '../../storage/reference/table-references.ts'
import { throughReferences } from '../../storage/reference/through-references.ts'
import { textProblem } from '../../storage/search/check-search.ts'
import type { PageAddress } from './page-origin.ts'

/** Most documents that can be skipped; what lies behind is reached with a cursor. */
const MAX_OFFSET = 10_000
const MAX_TEXT = 200
const NUMBER = /^-?\d+(?:\.\d+)?$/
const DATE = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?$|^now(?:[+-]\d+[a-zA-Z])*(?:\/[a-zA-Z])?$/

export interface TableQuery {
  readonly query: Query
  readonly sort: readonly SortKey[]
  /** From 1. */
  readonly page: number
  readonly after: string | undefined
  readonly columns: readonly TableColumn[]
  /** What the visitor searches for. */
  readonly text: string
  /** The column that the visitor chose to sort by. */
  readonly sorted: SortKey | undefined
  /** Whether the visitor searches or filters. */
  readonly narrowed: boolean
}

/** The name of one of the table's parameters in the address. */
export function tableParameter(table: Pick<DataTable, 'id'>, name: string): string {
  return `${table.id}.${name}`
}

/** When and where a visitor asks: `now` in milliseconds, for dates such as `now-7d`. */
export type FilterTime = Pick<CellContext, 'now' | 'timeZone'>

/** Throws INVALID_QUERY for a text that asks for too much of what is slow. */
export function tableQuery(
  table: DataTable,
  address: PageAddress,
  at: FilterTime,
  references: readonly Reference[] = [],
): TableQuery {
  const get = (name: string) => address.get(tableParameter(table, name))?.slice(0, MAX_TEXT) ?? ''
  const text = get('q').trim()
  const filters = table.columns.flatMap((column) => filterOf(table, column, get, at))
  const search: Query[] = text === '' || !table.searchable ? [] : [textQuery(table, text, references)]
  checkText(tableParameter(table, 'q'), text)
  const sorted = sortOf(table, get('sort'))
  const chosen = new Set(address.getAll(tableParameter(table, 'cols')))
  const columns = table.columns.filter(({ field, hidden }) => (chosen.size > 0 ? chosen.has(field) : !hidden))
  const after = get('after')
  // As filters: what is found stands in the order that the table is in.
  const narrowing = [...filters, ...search].map((query): Query => ({ kind: 'filter', query }))
  const query: Query =
    narrowing.length === 0 ? table.query : { kind: 'and', queries: [table.query, ...narrowing] }
  return {
    query: throughReferences(query, references),
    sort: sorted ? [sorted] : table.sort,
    page: pageOf(get('page')),
    after: after === '' ? undefined : after,
    columns: columns.length > 0 ? columns : table.columns,
    text,
    sorted,
    narrowed: narrowing.length > 0,
  }
}

/** The search for one page of it. */
export function tableSearch(table: DataTable, asked: TableQuery): Search {
  const place =
    asked.after === undefined
      ? { offset: (asked.page - 1) * table.pageSize }
      : { offset: 0, after: asked.after }
  return { query: asked.query, sort: asked.sort, limit: table.pageSize, includeRemoved: false, ...place }
}

/** The last page that can be asked for by its number. */
export function lastNumberedPage({ pageSize }: Pick<DataTable, 'pageSize'>): number {
  return Math.floor(MAX_OFFSET / pageSize) + 1
}

/** The documents of a table with these guids. */
export function rowsQuery(
  table: DataTable,
  guids: readonly string[],
  references: readonly Reference[] = [],
): Query {
  const own = throughReferences(table.query, references)
  return { kind: 'and', queries: [{ kind: 'terms', field: '_meta.guid', values: guids }, own] }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

function pageOf(text: string): number {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1
}

function sortOf(table: DataTable, written: string): SortKey | undefined {
  const order = written.startsWith('-') ? 'desc' : 'asc'
  const field = order === 'desc' ? written.slice(1) : written
  const column = table.columns.find((one) => one.field === field && one.sortable)
  return column && { field: column.field, order, missing: 'last' }
}

/** In the columns only: the rest of a document may be private. */
function textQuery(table: DataTable, text: string, references: readonly Reference[]): Query {
  const own = table.columns.filter(({ field }) => !isBehind(field, references))
  const fields = own.filter(isText).map(({ field }) => field)
  if (fields.length === 0) return NOTHING
  return { kind: 'simple_query_string', fields, text: withPrefix(text) }
}

const NOTHING: Query = { kind: 'or', queries: [] }
const wordless: ReadonlySet<string> = new Set([
  'number',
  'currency',
  'percent',
  'date',
  'date_time',
  'relative_time',
  'boolean',
])

/** Each column that is searched costs a look into each document that any of the words is in. */
function isText({ field, format }: TableColumn): boolean {
  return !field.startsWith('_meta.') && !wordless.has(format)
}

/** The last word may be the beginning of one, as it is during typing. Not where it is grammar. */
function withPrefix(text: string): string {
  return /[\p{L}\p{N}]$/u.test(text) && !text.includes('"') ? `${text}*` : text
}

function checkText(parameter: string, text: string, called = parameter): void {
  const problem = textProblem([text])
  if (problem) throw new QuoinError('INVALID_QUERY', `${called} ${problem}.`, { fields: [parameter] })
}

function hasTimes({ field, format }: TableColumn): boolean {
  return format === 'date_time' || format === 'relative_time' || field.startsWith('_meta.')
}

/** A time without a zone is one of the visitor's. */
function inZone(text: string, zone: string): string {
  const at = readLocalTime(text, zone)
  return at === undefined ? text : new Date(at).toISOString()
}

function filterOf(
  table: DataTable,
  column: TableColumn,
  get: (name: string) => string,
  { now, timeZone }: FilterTime,
): Query[] {
  const { field, filter } = column
  if (filter === undefined) return []
  if (filter === 'number' || filter === 'date') {
    // What cannot be read narrows nothing: it is a typed address.
    const fits = filter === 'number' ? NUMBER : DATE
    const bound = (name: string) => (fits.test(get(name).trim()) ? get(name).trim() : '')
    const [from, to] = [bound(`from.${field}`), bound(`to.${field}`)]
    if (filter === 'number') {
      const bounds = { ...(from !== '' && { gte: Number(from) }), ...(to !== '' && { lte: Number(to) }) }
      return Object.keys(bounds).length === 0 ? [] : [{ kind: 'range', field, bounds }]
    }
    try {
      // A day that is the end of a range is in it as a whole.
      const end = DAY.test(to) ? `${to}T23:59:59.999` : to
      // Days of fields that hold days are the same everywhere.
      const zone = hasTimes(column) ? timeZone : 'UTC'
      const begin = DAY.test(from) && zone !== 'UTC' ? `${from}T00:00` : from
      const range = rangeQuery(field, { gte: inZone(begin, zone), lte: inZone(end, zone) }, now)
      return range ? [range] : []
    } catch (error) {
      if (error instanceof PinError) return []
      throw error
    }
  }
  const is = get(`is.${field}`).trim()
  if (is === '') return []
  if (filter === 'text') {
    checkText(tableParameter(table, `is.${field}`), is, `the filter of ${field}`)
    return [{ kind: 'simple_query_string', fields: [field], text: withPrefix(is) }]
  }
  if (filter === 'boolean')
    return is === 'true' || is === 'false' ? [{ kind: 'term', field, value: is === 'true' }] : []
  // The address cannot say whether the documents hold the number 5 or the text "5".
  const values: Scalar[] = [is, Number(is)]
  return [
    NUMBER.test(is) && keepsDigits(is)
      ? { kind: 'terms', field, values }
      : { kind: 'term', field, value: is },
  ]
}
