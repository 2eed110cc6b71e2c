/**
 * A cursor is the place behind one document in the order of a search: its sort values, creation and guid. It stays right
 * while documents before it come and go, and costs the same on page 1,000 as on page 1. It is not secret (the reader
 * has seen that document) and not signed: a made-up one is only another place to start from.
 *
 * Long sort values do not fit into a header: Node's clients take 16 KB of them. Then the cursor is short: the document's guid and a
 * hash of the whole cursor. The session reads the document for it. The hash refuses a document that has moved since, and
 * keeps a made-up guid from telling where a hidden document stands.
 */
import { hash } from 'node:crypto'
import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, jsonProblem } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Search, SortKey } from '../../shared/query.ts'
import type { StoredJson } from '../stored-json.ts'
import { type CompiledSql, sql } from './compiled-sql.ts'
import { sortValue } from './evaluate-query.ts'
import { isRelevanceOrder } from './rank-text.ts'

const CREATED = ['_meta', 'cms']
const GUID = ['_meta', 'guid']
/** Characters of a whole cursor; a longer one is sent short. */
const LONGEST = 4_000

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
  const whole = wholeCursor(search, last)
  return whole.length <= LONGEST ? whole : encoded([placeOf(search, last).guid, hashOf(whole)])
}

function wholeCursor(search: Search, last: JsonObject): string {
  const { values, cms, guid } = placeOf(search, last)
  return encoded([orderName(search.sort), values, cms, guid])
}

function encoded(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

function hashOf(whole: string): string {
  return hash('sha256', whole, 'base64url')
}

/** The search with its whole cursor, where it has a short one. `get`: a document, removed or not. Throws INVALID_QUERY for one whose document is not there as it was. */
export function withWholeCursor(
  search: Search,
  get: (guid: string) => MaybePromise<StoredJson | undefined>,
): MaybePromise<Search> {
  const short = search.after === undefined ? undefined : parseShort(search.after)
  if (short === undefined || isRelevanceOrder(search)) return search
  return andThen(get(short.guid), (stored) => {
    const document = stored?.value
    const after = isJsonObject(document) ? wholeCursor(search, document) : ''
    // A short one is only given for a long value, which cannot be guessed by trying.
    if (after.length > LONGEST && hashOf(after) === short.hash) return { ...search, after }
    throw new QuoinError(
      'INVALID_QUERY',
      'The document that the previous page ended with was changed or deleted. Begin again without the cursor.',
      { fields: ['after'] },
    )
  })
}

/** Where a stored document stands in the order of a search. */
export function placeOf(search: Search, document: JsonObject): CursorPlace {
  return {
    values: search.sort.map((key) => sortValue(document, parseFieldPath(key.field)) ?? null),
    cms: Number(valueAt(document, CREATED)),
    guid: String(valueAt(document, GUID)),
  }
}

/** Throws INVALID_QUERY for a cursor, whole or short, that this search cannot have given. */
export function checkCursor(search: Search): void {
  const isShort = search.after !== undefined && parseShort(search.after) !== undefined
  if (!isShort || isRelevanceOrder(search)) readCursor(search)
}

/** The place in `search.after`, which is no short one, or undefined without one. Throws INVALID_QUERY for one that this search did not give. */
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
  const parts = partsOf(cursor)
  if (parts?.length !== 4) return undefined
  const [order, values, cms, guid] = parts
  if (!Array.isArray(values) || !values.every(isSortValue)) return undefined
  if (!Number.isSafeInteger(cms) || typeof cms !== 'number' || typeof guid !== 'string') return undefined
  return { order, values, cms, guid }
}

function parseShort(cursor: string): { guid: string; hash: string } | undefined {
  const parts = partsOf(cursor)
  if (parts?.length !== 2) return undefined
  const [guid, hash] = parts
  return typeof guid === 'string' && typeof hash === 'string' ? { guid, hash } : undefined
}

function partsOf(cursor: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parsed) && !jsonProblem(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

function isSortValue(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

/**
 * The order of a search in SQL, and the condition for what lies behind a cursor in that order: the part that both
 * engines share. An engine says how a field is read and how a place's value is bound.
 *
 * Ties follow the direction of the last sort key, so an index over (fields…, created, guid) is walked in one direction
 * and nothing is sorted.
 */
export interface OrderStep {
  readonly key: SortKey
  /** Gives what sorts as the reference does, and NULL for what counts as missing. */
  readonly read: string
}

/** A value of a cursor's place, as the statement compares it with `read`. */
type BindPlace = (at: string | number, step: OrderStep) => CompiledSql

/** The keys that decide anything. Creation last is what breaks ties anyway, in the same direction and in more detail. */
export function sortKeys(search: Search): readonly SortKey[] {
  const last = search.sort.at(-1)
  return last && ['_meta.created', '_meta.cms'].includes(last.field) ? search.sort.slice(0, -1) : search.sort
}

export function lastWay(search: Search): 'ASC' | 'DESC' {
  return search.sort.at(-1)?.order === 'asc' ? 'ASC' : 'DESC'
}

export function orderBy(steps: readonly OrderStep[], way: 'ASC' | 'DESC'): string {
  return [
    ...steps.map(({ read, key }) => `${read} ${key.order.toUpperCase()} NULLS ${key.missing.toUpperCase()}`),
    `created ${way}`,
    `guid ${way}`,
  ].join(', ')
}

/** True for the documents behind the place. `tied`: its creation and guid, bound as a row. */
export function behindPlace(
  steps: readonly OrderStep[],
  way: 'ASC' | 'DESC',
  place: CursorPlace,
  tied: CompiledSql,
  bind: BindPlace,
): CompiledSql {
  let behind = sql`(created, guid) ${way === 'ASC' ? '>' : '<'} ${tied}`
  for (const [index, step] of [...steps.entries()].toReversed()) {
    const at = place.values[index] ?? null
    behind = at === null ? behindMissing(step, behind) : behindValue(step, bind(at, step), behind)
  }
  return behind
}

function behindMissing({ read, key }: OrderStep, tied: CompiledSql): CompiledSql {
  const tie = sql`(${read} IS NULL AND ${tied})`
  return key.missing === 'first' ? sql`(${read} IS NOT NULL OR ${tie})` : tie
}

function behindValue({ read, key }: OrderStep, at: CompiledSql, tied: CompiledSql): CompiledSql {
  const comparison = key.order === 'asc' ? '>' : '<'
  const further = sql`${read} ${comparison} ${at}`
  const tie = sql`(${read} = ${at} AND ${tied})`
  if (key.missing === 'last') return sql`(${further} OR ${tie} OR ${read} IS NULL)`
  // The first part follows from the rest; it is the one that an index can start from.
  return sql`(${read} ${comparison}= ${at} AND (${further} OR ${tie}))`
}
