import { type FieldPath, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isEmptyValue } from '../../shared/field-rule.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Bounds, FieldOperator, Query, Scalar } from '../../shared/query.ts'
import { caselessText, soughtCaseless } from '../../shared/texts/caseless-text.ts'
import type { Collation } from '../../shared/texts/collations.ts'
import { composedBounds, composedText } from '../../shared/texts/composed-text.ts'
import { isFoldedMatch } from '../../shared/texts/folded-text.ts'
import { sortedText } from '../../shared/texts/text-order.ts'
import { textMatches, textQuery } from './match-text.ts'
import { documentTokens, valueTokens } from './text-tokens.ts'

/** A present document of a storage. */
export type Lookup = (storage: string, guid: string) => JsonObject | undefined

/**
 * Whether a document satisfies a query: the reference for both engines' compilers, and what live subscriptions ask. Takes
 * a query that `checkQuery` let pass. Whether the document is removed is not asked.
 */
export function matches(query: Query, document: JsonObject, lookup: Lookup = noLookup): boolean {
  switch (query.kind) {
    case 'all':
      return true
    case 'and':
      return query.queries.every((inner) => matches(inner, document, lookup))
    case 'or':
      return query.queries.some((inner) => matches(inner, document, lookup))
    case 'not':
      return !matches(query.query, document, lookup)
    case 'filter':
      return matches(query.query, document, lookup)
    case 'exists': {
      const value = valueAt(document, parseFieldPath(query.field))
      return value !== undefined && value !== null
    }
    case 'term':
      return someValue(document, query, (value) => isSame(value, query.value))
    case 'terms':
      return someValue(document, query, (value) => query.values.some((requested) => isSame(value, requested)))
    case 'range':
      return isInRange(document, query)
    case 'fields':
      return areInOrder(
        valueAt(document, parseFieldPath(query.field)),
        query.operator,
        valueAt(document, parseFieldPath(query.other)),
      )
    case 'contains':
      return holds(valueAt(document, parseFieldPath(query.field)), query.value)
    case 'caseless':
      return isAlike(valueAt(document, parseFieldPath(query.field)), query)
    case 'folded': {
      const text = valueAt(document, parseFieldPath(query.field))
      return typeof text === 'string' && isFoldedMatch(text, query.test, query.values, query.folding)
    }
    case 'empty':
      return isEmptyValue(valueAt(document, parseFieldPath(query.field)))
    case 'through': {
      const guid = valueAt(document, parseFieldPath(query.field))
      const target = typeof guid === 'string' ? lookup(query.storage, guid) : undefined
      return target !== undefined && matches(query.query, target, lookup)
    }
    case 'simple_query_string':
      return textMatches(textQuery(query.text), searchedTokens(query.fields, document))
  }
}

function noLookup(storage: string): never {
  throw new TypeError(`Whether a document matches cannot be told without the storage ${storage}.`)
}

/** Whether a search for this query has the document, be it on whatever page: removed ones only if they are asked for. */
export function isFound(query: Query, includeRemoved: boolean, document: JsonObject): boolean {
  const isPresent = isJsonObject(document._meta) && document._meta.removed === 0
  return (includeRemoved || isPresent) && matches(query, document)
}

/** The value itself, or one of the items if it is an array and those count. */
function someValue(
  document: JsonObject,
  { field, scalar }: { readonly field: string; readonly scalar?: true },
  test: (value: JsonValue) => boolean,
): boolean {
  const value = valueAt(document, parseFieldPath(field))
  if (value === undefined) return false
  return Array.isArray(value) && !scalar ? value.some(test) : test(value)
}

function areInOrder(a: JsonValue | undefined, operator: FieldOperator, b: JsonValue | undefined): boolean {
  if (a === undefined || a === null || b === undefined || b === null)
    return operator === '==' && (a ?? null) === (b ?? null)
  if (typeof a !== typeof b || typeof a === 'object' || typeof b === 'object') return false
  const order = compareScalars(comparable(a), comparable(b))
  if (operator === '==') return order === 0
  return operator === '<' ? order < 0 : order <= 0
}

function comparable(value: Scalar): string | number {
  return typeof value === 'boolean' ? Number(value) : value
}

function holds(value: JsonValue | undefined, requested: Scalar): boolean {
  if (Array.isArray(value)) return value.some((item) => isSame(item, requested))
  if (typeof value !== 'string' || typeof requested !== 'string') return false
  return value.includes(requested) || composedText(value).includes(composedText(requested))
}

function isAlike(
  stored: JsonValue | undefined,
  { test, value }: Extract<Query, { kind: 'caseless' }>,
): boolean {
  if (typeof stored !== 'string') return false
  const [text, sought] = [caselessText(stored), soughtCaseless(value)]
  if (test === 'equals') return text === sought
  if (test === 'endsWith') return text.endsWith(sought)
  return test === 'contains' ? text.includes(sought) : text.startsWith(sought)
}

/** Texts in any form of Unicode: stored ones are composed. */
function isSame(value: JsonValue, requested: Scalar): boolean {
  return (
    value === requested ||
    (typeof value === 'string' &&
      typeof requested === 'string' &&
      composedText(value) === composedText(requested))
  )
}

function isInRange(document: JsonObject, query: Extract<Query, { kind: 'range' }>): boolean {
  const bounds = composedBounds(query.bounds)
  return someValue(document, query, (value) => isWithin(bounds, value))
}

function isWithin(bounds: Bounds, value: JsonValue): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const { gte, gt, lte, lt } = bounds
  const keeps = (bound: string | number | undefined, test: (order: number) => boolean): boolean =>
    bound === undefined || (typeof bound === typeof value && test(compareScalars(value, bound)))
  return (
    keeps(gte, (order) => order >= 0) &&
    keeps(gt, (order) => order > 0) &&
    keeps(lte, (order) => order <= 0) &&
    keeps(lt, (order) => order < 0)
  )
}

function searchedTokens(fields: readonly string[], document: JsonObject): string[] {
  if (fields.length === 0) return documentTokens(document)
  return valueTokens(fields.map((field) => valueAt(document, parseFieldPath(field))))
}

/**
 * Order of strings by code point, which is also the order of their UTF-8 bytes and so both engines' order. JavaScript's
 * own `<` puts U+1F600 before U+FF5E, because it compares halves of surrogate pairs.
 */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left === right) continue
    // Half of a pair stands for a code point above U+FFFF, whatever the other side is.
    if (isSurrogate(left) !== isSurrogate(right)) return isSurrogate(left) ? 1 : -1
    return left - right
  }
  return a.length - b.length
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000
}

/** What a document is sorted by at a field: undefined for what counts as missing; booleans are 0 and 1. */
export function sortValue(document: JsonObject, path: FieldPath): string | number | undefined {
  const value: JsonValue | undefined = valueAt(document, path)
  if (typeof value === 'string' || typeof value === 'number') return value
  return typeof value === 'boolean' ? Number(value) : undefined
}

/** Numbers before strings. */
export function compareScalars(a: string | number, b: string | number): number {
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : 1
  return typeof b === 'string' ? -1 : a - b
}

/** As a sort does it. */
export function compareSorted(
  a: string | number,
  b: string | number,
  collation: Collation | undefined,
): number {
  if (collation === undefined || typeof a !== 'string' || typeof b !== 'string') return compareScalars(a, b)
  return compareStrings(sortedText(a, collation), sortedText(b, collation))
}
