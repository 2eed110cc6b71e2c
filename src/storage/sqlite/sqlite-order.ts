/**
 * The order of a search in SQL, and the condition for what lies behind a cursor in that order.
 *
 * Ties follow the direction of the last sort key, so an index over (fields…, created, guid) is walked in one direction
 * and nothing is sorted. SQLite walks it for NULLS FIRST and NULLS LAST alike.
 */
import type { Search, SortKey } from '../../shared/query.ts'
import { ARRAY, type DocumentShape, OBJECT } from '../document-shape.ts'
import type { CursorPlace } from '../search-cursor.ts'
import { type CompiledSql, jsonValue, sql, value } from './compiled-sql.ts'
import { fieldSql } from './field-sql.ts'

interface OrderStep {
  readonly read: string
  readonly key: SortKey
}

export function orderSql(shape: DocumentShape, search: Search): string {
  const steps = orderSteps(shape, search.sort)
  const way = lastWay(search)
  return [
    ...steps.map(({ read, key }) => `${read} ${key.order.toUpperCase()} NULLS ${key.missing.toUpperCase()}`),
    `created ${way}`,
    `guid ${way}`,
  ].join(', ')
}

/** True for the documents behind the place. */
export function behindSql(shape: DocumentShape, search: Search, place: CursorPlace): CompiledSql {
  const comparison = lastWay(search) === 'ASC' ? '>' : '<'
  let behind = sql`(created, guid) ${comparison} (${value(place.cms)}, ${value(place.guid)})`
  for (const [index, { read, key }] of [...orderSteps(shape, search.sort).entries()].toReversed()) {
    const at = place.values[index] ?? null
    behind = at === null ? behindMissing(read, key, behind) : behindValue(read, key, at, behind)
  }
  return behind
}

function behindMissing(read: string, key: SortKey, tied: CompiledSql): CompiledSql {
  const tie = sql`(${read} IS NULL AND ${tied})`
  return key.missing === 'first' ? sql`(${read} IS NOT NULL OR ${tie})` : tie
}

function behindValue(read: string, key: SortKey, at: string | number, tied: CompiledSql): CompiledSql {
  const comparison = key.order === 'asc' ? '>' : '<'
  const further = sql`${read} ${comparison} ${jsonValue(at)}`
  const tie = sql`(${read} = ${jsonValue(at)} AND ${tied})`
  if (key.missing === 'last') return sql`(${further} OR ${tie} OR ${read} IS NULL)`
  // The first part follows from the rest; it is the one that an index can start from.
  return sql`(${read} ${comparison}= ${jsonValue(at)} AND (${further} OR ${tie}))`
}

function orderSteps(shape: DocumentShape, sort: readonly SortKey[]): OrderStep[] {
  const last = sort.at(-1)
  // Creation is what breaks ties anyway, in the same direction, and in more detail.
  const keys = last && ['_meta.created', '_meta.cms'].includes(last.field) ? sort.slice(0, -1) : sort
  return keys.map((key) => ({ key, read: sortExpression(shape, key.field) }))
}

/** Booleans come as 1 and 0 and numbers before texts, as they should; arrays and objects come as texts, and must not. */
function sortExpression(shape: DocumentShape, field: string): string {
  const { value: read, path, types } = fieldSql(shape, field)
  if ((types & (ARRAY | OBJECT)) === 0) return read
  return `CASE WHEN json_type(doc, ${path}) IN ('array', 'object') THEN NULL ELSE ${read} END`
}

function lastWay(search: Search): 'ASC' | 'DESC' {
  return search.sort.at(-1)?.order === 'asc' ? 'ASC' : 'DESC'
}
