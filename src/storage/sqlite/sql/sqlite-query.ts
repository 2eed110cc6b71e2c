/**
 * A search as one SQL statement. Searches that differ only in values give the same text, so that prepared statements can
 * be kept by text; what the shape of the storage's documents knows is part of the text too.
 */
import type { JsonObject } from '../../../shared/json.ts'
import type { Query, Search, SortKey } from '../../../shared/query.ts'
import { sortedText } from '../../../shared/texts/text-order.ts'
import { checkQuery, checkSearch } from '../../search/check-search.ts'
import { type CompiledSql, joinWith, sql, TRUE } from '../../search/compiled-sql.ts'
import { isRelevanceOrder, rankedClauses, rankedPhrases, SCORE_DIGITS } from '../../search/rank-text.ts'
import {
  behindPlace,
  type CursorPlace,
  lastWay,
  type OrderStep,
  orderBy,
  readCursor,
  sortKeys,
  writeCursor,
} from '../../search/search-cursor.ts'
import { ARRAY, type DocumentShape, OBJECT } from '../core/document-shape.ts'
import { fieldSql, sortedSql } from './field-sql.ts'
import { jsonValue, rows, type SearchTarget, value } from './sql-values.ts'
import { condition } from './sqlite-condition.ts'

// The order of a search in SQLite, which walks an index for NULLS FIRST and NULLS LAST alike.

function orderSql(shape: DocumentShape, search: Search): string {
  return orderBy(orderSteps(shape, search), lastWay(search))
}

/** Some of the documents of a search, in its order. */
export interface Walk {
  /** Besides the search's own condition. */
  readonly where: CompiledSql
  readonly order: string
}

/** What every number and every text is greater than: how an index is told to pass over what is missing. */
const LEAST = '-9e999'

/**
 * Walks through the documents behind a place: one after the other they are the rest of the search. Where documents may
 * lack the first field they are two, because an index can start in the middle only among those that have the field, or
 * among those that do not; as one, every page would walk from the first document on.
 */
function walksBehind(shape: DocumentShape, search: Search, place: CursorPlace): Walk[] {
  const tied = sql`(${value(place.cms)}, ${value(place.guid)})`
  const way = lastWay(search)
  const steps = orderSteps(shape, search)
  const behind = (from: readonly OrderStep[], at: CursorPlace) => behindPlace(from, way, at, tied, bindPlace)
  const [first, ...rest] = steps
  const order = orderBy(steps, way)
  if (first === undefined) return [{ where: behind(steps, place), order }]
  const [at = null, ...values] = place.values
  // All of them lack the field, so it is not in the order: SQLite would sort them for it.
  const lacking = (further: readonly CompiledSql[]): Walk => ({
    where: joinWith('AND', [sql`${first.read} IS NULL`, ...further]),
    order: orderBy(rest, way),
  })
  const { missing } = first.key
  if (at === null) {
    const tie = lacking([behind(rest, { ...place, values })])
    return missing === 'last' ? [tie] : [tie, { where: sql`${first.read} >= ${LEAST}`, order }]
  }
  // Only the form with `first` can start in an index; none of these lacks the field.
  const having: OrderStep = { ...first, key: { ...first.key, missing: 'first' } }
  const further = { where: behind([having, ...rest], place), order }
  return missing === 'last' ? [further, lacking([])] : [further]
}

function orderSteps(shape: DocumentShape, search: Search): OrderStep[] {
  return sortKeys(search).map((key) => ({ key, read: sortExpression(shape, key) }))
}

function bindPlace(at: string | number, { key: { collation } }: OrderStep): CompiledSql {
  return jsonValue(typeof at === 'string' && collation ? sortedText(at, collation) : at)
}

/** Booleans come as 1 and 0 and numbers before texts, as they should; arrays and objects come as texts, and must not. */
function sortExpression(shape: DocumentShape, { field, collation }: SortKey): string {
  const { value, path, types } = fieldSql(shape, field)
  const read = sortedSql(value, collation)
  if ((types & (ARRAY | OBJECT)) === 0) return read
  return `CASE WHEN json_type(doc, ${path}) IN ('array', 'object') THEN NULL ELSE ${read} END`
}

/**
 * One row: `documents`, a JSON array of the documents' texts in the order of the search, and `length`, how many. Throws
 * INVALID_QUERY.
 */
export function compileFind(target: SearchTarget, search: Search): CompiledSql {
  checkSearch(search)
  const page = isRelevanceOrder(search) ? relevantPage(target, search) : sortedPage(target, search)
  // SQLite gives an aggregate the rows as the inner query orders them, which it must do because of its LIMIT, and the
  // parts of UNION ALL one after the other, the second only if the first was not enough. Its manual does not promise it;
  // sqlite-query.property.test.ts holds it to it. It is a third faster than sending row by row.
  // The last document for a cursor is not asked for: row_number() would double the time of a list (46 → 95 µs).
  const parts = page.walks.map(
    ({ where, order }) => sql`SELECT doc FROM ${page.from} WHERE ${where} ORDER BY ${order}`,
  )
  const [only, second] = parts
  const most = sql`LIMIT ${rows(search.limit + search.offset)}`
  const selects =
    only && second
      ? sql`SELECT doc FROM (${only} ${most}) UNION ALL SELECT doc FROM (${second} ${most})`
      : sql`${only ?? ''}`
  return sql`${page.before}SELECT '[' || ifnull(group_concat(doc, ','), '') || ']' AS documents, count(*) AS length FROM (${selects} LIMIT ${rows(search.limit)} OFFSET ${rows(search.offset)})`
}

/** One row: `n`, how many documents match. Throws INVALID_QUERY. */
export function compileCount(target: SearchTarget, query: Query, includeRemoved: boolean): CompiledSql {
  checkQuery(query)
  return sql`SELECT count(*) AS n FROM ${target.table} WHERE ${whereSql(target, query, includeRemoved)}`
}

/** Whether at least so many match: `n`, and no further ones are looked for. Of a query that was checked. */
export function compileCountUpTo(
  target: SearchTarget,
  { query, includeRemoved }: Pick<Search, 'query' | 'includeRemoved'>,
  most: number,
): CompiledSql {
  const found = sql`SELECT 1 FROM ${target.table} WHERE ${whereSql(target, query, includeRemoved)} LIMIT ${rows(most)}`
  return sql`SELECT count(*) AS n FROM (${found})`
}

/** The cursor behind the last document of a page: what `after` takes. undefined in relevance order. */
export function cursorBehind(search: Search, lastDocument: JsonObject): string | undefined {
  return writeCursor(search, lastDocument)
}

interface Page {
  /** WITH …, or nothing. */
  readonly before: CompiledSql | string
  readonly from: CompiledSql | string
  /** One, or two whose documents come one after the other. */
  readonly walks: readonly { readonly where: CompiledSql; readonly order: CompiledSql | string }[]
}

function sortedPage(target: SearchTarget, search: Search): Page {
  const place = readCursor(search)
  const found = whereSql(target, search.query, search.includeRemoved)
  const walks = place
    ? walksBehind(target.shape, search, place)
    : [{ where: TRUE, order: orderSql(target.shape, search) }]
  return {
    before: '',
    from: target.table,
    walks: walks.map(({ where, order }) => ({
      where: where === TRUE ? found : joinWith('AND', [found, where]),
      order,
    })),
  }
}

function relevantPage(target: SearchTarget, search: Search): Page {
  readCursor(search)
  const { table, textTable } = target
  const newest = orderSql(target.shape, search)
  const where = whereSql(target, search.query, search.includeRemoved)
  const phrases = rankedPhrases(rankedClauses(search.query))
  if (phrases.length === 0) return { before: '', from: table, walks: [{ where, order: newest }] }
  if (textTable === undefined) {
    const list = value(JSON.stringify(phrases))
    return {
      before: sql`WITH statistics AS MATERIALIZED (SELECT quoin_text_statistics(${list}, doc) AS collection FROM ${table}) `,
      from: `${table}, statistics`,
      walks: [
        {
          where,
          order: sql`round(quoin_text_score(${list}, collection, doc), ${String(SCORE_DIGITS)}), ${newest}`,
        },
      ],
    }
  }
  // See `sql/sqlite-find.ts`.
  return { before: '', from: table, walks: [{ where, order: sql`quoin_score(id) DESC, ${newest}` }] }
}

/** One of so many documents is counted for all of them, by its number: a call for each one would take 0.3 µs. */
const COUNTED = 16
/** Units of search-effort.ts for one document: 0.5 µs, and more for a long one. `octet_length` reads no text. */
const ROW_EFFORT = `quoin_spent(${COUNTED} * (8 + octet_length(doc) / 64))`
const COUNTS_ROWS: CompiledSql = { sql: `(id % ${COUNTED} <> 0 OR ${ROW_EFFORT})`, parameters: [] }

/** A condition for documents that match. */
export function whereSql(target: SearchTarget, query: Query, includeRemoved: boolean): CompiledSql {
  const found = condition(target, query)
  // Written so, because the table's indexes hold present documents only.
  const present: CompiledSql[] = includeRemoved ? [] : [{ sql: 'removed = 0', parameters: [] }]
  const conditions = [
    ...present,
    ...(target.countsRows ? [COUNTS_ROWS] : []),
    ...(found === TRUE ? [] : [found]),
  ]
  return joinWith('AND', conditions)
}
