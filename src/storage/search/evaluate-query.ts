import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Bounds, Query } from '../../shared/query.ts'
import { compareScalars } from './compare-values.ts'
import { textMatches, textQuery } from './match-text.ts'
import { documentTokens, valueTokens } from './text-tokens.ts'

/**
 * Whether a document satisfies a query: the reference for both engines' compilers, and what live subscriptions ask. Takes
 * a query that `checkQuery` let pass. Whether the document is removed is not asked.
 */
export function matches(query: Query, document: JsonObject): boolean {
  switch (query.kind) {
    case 'all':
      return true
    case 'and':
      return query.queries.every((inner) => matches(inner, document))
    case 'or':
      return query.queries.some((inner) => matches(inner, document))
    case 'not':
      return !matches(query.query, document)
    case 'filter':
      return matches(query.query, document)
    case 'exists': {
      const value = valueAt(document, parseFieldPath(query.field))
      return value !== undefined && value !== null
    }
    case 'term':
      return someValue(document, query.field, (value) => value === query.value)
    case 'terms':
      return someValue(document, query.field, (value) => query.values.some((wanted) => wanted === value))
    case 'range':
      return someValue(document, query.field, (value) => isWithin(query.bounds, value))
    case 'simple_query_string':
      return textMatches(textQuery(query.text), searchedTokens(query.fields, document))
  }
}

/** Whether a search for this query has the document, be it on whatever page: removed ones only if they are asked for. */
export function isFound(query: Query, includeRemoved: boolean, document: JsonObject): boolean {
  const isPresent = isJsonObject(document._meta) && document._meta.removed === 0
  return (includeRemoved || isPresent) && matches(query, document)
}

/** The value itself, or one of the items if it is an array. */
function someValue(document: JsonObject, field: string, test: (value: JsonValue) => boolean): boolean {
  const value = valueAt(document, parseFieldPath(field))
  if (value === undefined) return false
  return Array.isArray(value) ? value.some(test) : test(value)
}

function isWithin(bounds: Bounds, value: JsonValue): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const { gte, gt, lte, lt } = bounds
  const holds = (bound: string | number | undefined, test: (order: number) => boolean): boolean =>
    bound === undefined || (typeof bound === typeof value && test(compareScalars(value, bound)))
  return (
    holds(gte, (order) => order >= 0) &&
    holds(gt, (order) => order > 0) &&
    holds(lte, (order) => order <= 0) &&
    holds(lt, (order) => order < 0)
  )
}

function searchedTokens(fields: readonly string[], document: JsonObject): string[] {
  if (fields.length === 0) return documentTokens(document)
  return valueTokens(fields.map((field) => valueAt(document, parseFieldPath(field))))
}
