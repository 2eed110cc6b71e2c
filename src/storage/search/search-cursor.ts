/**
 * A cursor is the place behind one document in the order of a search: its sort values, creation and guid. It stays right
 * while documents before it come and go, and costs the same on page 1,000 as on page 1. It is not secret (the reader
 * has seen that document) and not signed: a made-up one is only another place to start from.
 */
import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type JsonObject, jsonProblem } from '../../shared/json.ts'
import type { Search, SortKey } from '../../shared/query.ts'
import { sortValue } from './compare-values.ts'
import { isRelevanceOrder } from './rank-text.ts'

const CREATED = ['_meta', 'cms']
const GUID = ['_meta', 'guid']

export interface CursorPlace {
  /** One per sort key; null where the document counts as missing. */
  readonly values: readonly (string | number | null)[]
  /** Created, in milliseconds. */
  readonly cms: number
  readonly guid: string
}

/** The cursor behind a document that the search found; undefined in relevance order, which has no stable places. */
export function writeCursor(search: Search, last: JsonObject): string | undefined {
  if (isRelevanceOrder(search)) return undefined
  const { values, cms, guid } = placeOf(search, last)
  return Buffer.from(JSON.stringify([orderName(search.sort), values, cms, guid])).toString('base64url')
}

/** Where a stored document stands in the order of a search. */
export function placeOf(search: Search, document: JsonObject): CursorPlace {
  return {
    values: search.sort.map((key) => sortValue(document, parseFieldPath(key.field)) ?? null),
    cms: Number(valueAt(document, CREATED)),
    guid: String(valueAt(document, GUID)),
  }
}

/** The place in `search.after`, or undefined without one. Throws INVALID_QUERY for one that this search did not give. */
export function readCursor(search: Search): CursorPlace | undefined {
  if (search.after === undefined) return undefined
  if (isRelevanceOrder(search))
    throw new QuoinError(
      'INVALID_QUERY',
      'A cursor needs a sort: results by relevance are paged by offset.',
      { fields: ['after'] },
    )
  const place = parseCursor(search.after)
  if (!place || place.order !== orderName(search.sort) || place.values.length !== search.sort.length)
    throw new QuoinError('INVALID_QUERY', 'The cursor is not one that this search gave. Start without it.', {
      fields: ['after'],
    })
  return place
}

/**
 * Fields and directions, so that a cursor of another order is told from one of this. Not collations: who reads a cursor before the search is
 * made does not know those of the fields.
 */
function orderName(sort: readonly SortKey[]): string {
  return sort.map((key) => `${key.field} ${key.order} ${key.missing}`).join(',')
}

function parseCursor(cursor: string): (CursorPlace & { order: unknown }) | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
  if (!Array.isArray(parsed) || parsed.length !== 4 || jsonProblem(parsed)) return undefined
  const [order, values, cms, guid]: unknown[] = parsed
  if (!Array.isArray(values) || !values.every(isSortValue)) return undefined
  if (!Number.isSafeInteger(cms) || typeof cms !== 'number' || typeof guid !== 'string') return undefined
  return { order, values, cms, guid }
}

function isSortValue(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}
