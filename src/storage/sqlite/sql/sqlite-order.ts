/** The order of a search in SQLite, which walks an index for NULLS FIRST and NULLS LAST alike. */
import type { Search, SortKey } from '../../../shared/query.ts'
import { sortedText } from '../../../shared/texts/text-order.ts'
import { type CompiledSql, joinWith, sql } from '../../search/compiled-sql.ts'
import { behindPlace, lastWay, type OrderStep, orderBy, sortKeys } from '../../search/order-sql.ts'
import type { CursorPlace } from '../../search/search-cursor.ts'
import { ARRAY, type DocumentShape, OBJECT } from '../core/document-shape.ts'
import { fieldSql, sortedSql } from './field-sql.ts'
import { jsonValue, value } from './sql-values.ts'

export function orderSql(shape: DocumentShape, search: Search): string {
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
export function walksBehind(shape: DocumentShape, search: Search, place: CursorPlace): Walk[] {
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
