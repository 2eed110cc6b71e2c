/**
 * Searches that took long, by storage and shape, with the index that would help. A search that was quick costs two
 * readings of a clock (0.1 µs); only a slow one is looked at. In memory, of this process, and bounded: the shape that was
 * seen longest ago makes room.
 */
import { lruCache } from '../../shared/lru-cache.ts'
import type { Bounds, Query, Search, SortKey } from '../../shared/query.ts'
import { adviseIndex, type IndexAdvice, isThere, type SearchedStorage } from './index-advice.ts'
import { isRelevanceOrder } from './rank-text.ts'

// A query without its values: field names and operators only, as text that people read and that tells searches apart.
// country = ? and (status in ? or not done exists), text in title

/** Field names can be long and many, and the record of a search has to stay small. */
const MAX_LENGTH = 1_000

export function queryShape(query: Query): string {
  const shape = shapeOf(query)
  return shape.length > MAX_LENGTH ? `${shape.slice(0, MAX_LENGTH).toWellFormed()}…` : shape
}

function shapeOf(query: Query): string {
  switch (query.kind) {
    case 'all':
      return ''
    case 'and':
      return joined(query.queries, 'and')
    case 'or':
      return joined(query.queries, 'or')
    case 'not':
      return `not (${shapeOf(query.query)})`
    case 'filter':
      return shapeOf(query.query)
    case 'exists':
      return `${query.field} exists`
    case 'fields':
      return `${query.field} ${query.operator === '==' ? '=' : query.operator} ${query.other}`
    case 'contains':
      return `${query.field} contains ?`
    case 'caseless':
      return `${query.field} ${query.test} ? in any case`
    case 'folded':
      return `${query.field} ${foldedTests[query.test]} ? ${query.folding.ignoreAccents ? 'in any case, without accents' : 'in any case'}`
    case 'empty':
      return `${query.field} is empty`
    case 'term':
      return `${query.field} = ?`
    case 'terms':
      return `${query.field} in ?`
    case 'range':
      return rangeShape(query.field, query.bounds)
    case 'through':
      return `${query.field}: (${shapeOf(query.query)})`
    case 'simple_query_string':
      return query.fields.length === 0 ? 'free text' : `free text in ${query.fields.join(', ')}`
  }
}

const foldedTests = { equals: 'is', contains: 'contains', startsWith: 'begins with' }

function rangeShape(field: string, { gte, gt, lte, lt }: Bounds): string {
  const sides = Object.entries({ '>=': gte, '>': gt, '<=': lte, '<': lt })
  return sides.flatMap(([sign, bound]) => (bound === undefined ? [] : `${field} ${sign} ?`)).join(' and ')
}

/** Each form once: 1,000 alternatives on one field are one shape. */
function joined(queries: readonly Query[], word: 'and' | 'or'): string {
  const parts = new Set(queries.map(shapeOf).filter((part) => part !== ''))
  const [only = ''] = parts
  if (parts.size <= 1) return only
  return [...parts].map((part) => (/ (and|or) /.test(part) ? `(${part})` : part)).join(` ${word} `)
}

/** From when on a search is worth a look. */
export interface SlowLimits {
  readonly milliseconds: number
  /** A slow search that read fewer documents had to wait for something else. */
  readonly rows: number
}

/** Searches of one shape. */
export interface SlowSearch {
  readonly kind: 'find' | 'count'
  /** {@link queryShape}; empty without a filter. */
  readonly filter: string
  /** Empty: newest first; undefined for counts and by relevance. */
  readonly sort: readonly Pick<SortKey, 'field' | 'order'>[] | undefined
  /** How often it was slow. */
  readonly times: number
  /** Of the slowest: how long it took, and how many documents it had to read at most. */
  readonly milliseconds: number
  readonly rows: number
  /** Milliseconds since 1970. */
  readonly first: number
  readonly last: number
  readonly advice: Pick<IndexAdvice, 'index' | 'text' | 'why'>
}

/** One search that is over. */
export interface Finished {
  /** Its table: no other storage ever has that, also under the same name. */
  readonly storage: string
  readonly kind: SlowSearch['kind']
  readonly search: Search
  readonly milliseconds: number
}

/** A search that is being looked at; `reads` says what to count, and the caller reports the rows. */
export interface Look {
  readonly advice: IndexAdvice
  /** What is known already is not counted again unless this time was worse. */
  readonly worse: boolean
  keep(rows: number): void
}

export interface SearchAdvisor {
  readonly limits: SlowLimits
  /** undefined for a search that the indexes serve, and where one a moment ago led to nothing. Call it for slow ones only. */
  look(finished: Finished, searched: SearchedStorage): Look | undefined
  /** The slowest first, without those that an index serves by now. */
  of(storage: string, searched: Pick<SearchedStorage, 'indexes' | 'text'>): readonly SlowSearch[]
}

export const slowLimits: SlowLimits = { milliseconds: 5, rows: 1_000 }

/** Of all storages together: a kilobyte each at most, usually 300 bytes. */
const MOST = 500
/**
 * Milliseconds in which a storage is not looked at again after a look that led to nothing. Where the database has more to do than it can,
 * all searches are slow, of which most are served by indexes: looking at each took 4 % of the time, and counting its rows a statement.
 */
const REST = 100

export function searchAdvisor(
  clock: () => number,
  limits: SlowLimits = slowLimits,
  most = MOST,
): SearchAdvisor {
  /** By storage and shape. */
  const known = lruCache<string, { readonly storage: string; readonly slow: SlowSearch }>(most)
  const resting = restingStorages(clock, most)

  return {
    limits,
    look(finished, searched) {
      const { storage, kind, search, milliseconds } = finished
      if (resting.has(storage)) return undefined
      const sort =
        kind === 'count' || isRelevanceOrder(search)
          ? undefined
          : search.sort.map(({ field, order }) => ({ field, order }))
      const filter = queryShape(search.query)
      const key = JSON.stringify([storage, kind, filter, sort, search.includeRemoved])
      const advice = adviseIndex(search, searched, kind === 'count')
      if (advice === undefined) {
        // The index was made since the search was slow.
        known.delete(key)
        resting.add(storage)
        return undefined
      }
      const before = known.get(key)?.slow
      const worse = before === undefined || milliseconds > before.milliseconds
      return {
        advice,
        worse,
        keep(rows) {
          if (worse && rows < limits.rows) return resting.add(storage)
          const now = clock()
          known.set(key, {
            storage,
            slow: {
              kind,
              filter,
              sort,
              times: (before?.times ?? 0) + 1,
              milliseconds: Math.max(milliseconds, before?.milliseconds ?? 0),
              rows: Math.max(rows, before?.rows ?? 0),
              first: before?.first ?? now,
              last: now,
              advice: { index: advice.index, text: advice.text, why: advice.why },
            },
          })
        },
      }
    },
    of: (storage, { indexes, text }) =>
      [...known.values()]
        .filter((one) => one.storage === storage)
        .map(({ slow }) => slow)
        .filter(({ advice }) => !(advice.index && isThere(advice.index, indexes)) && !(advice.text && text))
        .sort((a, b) => b.milliseconds - a.milliseconds),
  }
}

/** Those at which a look has just led to nothing. */
function restingStorages(clock: () => number, most: number) {
  const since = lruCache<string, number>(most)
  return {
    add: (storage: string): void => since.set(storage, clock()),
    has(storage: string): boolean {
      const passed = clock() - (since.get(storage) ?? Number.NEGATIVE_INFINITY)
      return passed >= 0 && passed < REST
    },
  }
}
