/** The order of a search in SQLite, which walks an index for NULLS FIRST and NULLS LAST alike. */
import type { Search } from '../../shared/query.ts'
import { type CompiledSql, sql } from '../compiled-sql.ts'
import { ARRAY, type DocumentShape, OBJECT } from '../document-shape.ts'
import { behindPlace, lastWay, type OrderStep, orderBy, sortKeys } from '../order-sql.ts'
import type { CursorPlace } from '../search-cursor.ts'
import { fieldSql } from './field-sql.ts'
import { jsonValue, value } from './sql-values.ts'

export function orderSql(shape: DocumentShape, search: Search): string {
  return orderBy(orderSteps(shape, search), lastWay(search))
}

/** True for the documents behind the place. */
export function behindSql(shape: DocumentShape, search: Search, place: CursorPlace): CompiledSql {
  const tied = sql`(${value(place.cms)}, ${value(place.guid)})`
  return behindPlace(orderSteps(shape, search), lastWay(search), place, tied, jsonValue)
}

function orderSteps(shape: DocumentShape, search: Search): OrderStep[] {
  return sortKeys(search).map((key) => ({ key, read: sortExpression(shape, key.field) }))
}

/** Booleans come as 1 and 0 and numbers before texts, as they should; arrays and objects come as texts, and must not. */
function sortExpression(shape: DocumentShape, field: string): string {
  const { value: read, path, types } = fieldSql(shape, field)
  if ((types & (ARRAY | OBJECT)) === 0) return read
  return `CASE WHEN json_type(doc, ${path}) IN ('array', 'object') THEN NULL ELSE ${read} END`
}
