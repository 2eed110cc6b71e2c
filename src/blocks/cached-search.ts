/**
 * A search that a block makes for a builder, with the builder's own cache over it.
 *
 * A cache key names one result. Should two blocks use one key for different searches, each finds the other's entry and
 * takes it for a miss: slower, never a wrong answer.
 */
import { hash } from 'node:crypto'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import { andThen } from '../shared/maybe-promise.ts'
import type { Search } from '../shared/query.ts'
import type { Found, Session, Transaction } from '../storage/database.ts'
import { findWithTotal } from '../storage/find-documents.ts'
import { StoredJson } from '../storage/stored-json.ts'
import { PinError } from './block.ts'
import type { Cache } from './context.ts'

/** The part of a flow's context that a search needs. */
interface SearchContext {
  readonly session: Pick<Session, 'find' | 'count'> & {
    readonly transaction: Pick<Transaction, 'hasWritten'>
  }
  readonly cache: Pick<Cache, 'get' | 'set' | 'deletions'>
}

interface Requested {
  readonly storage: string
  readonly search: Search
  /** Whether the total is read. */
  readonly total: boolean
  /** Empty or undefined: not cached. */
  readonly cacheKey: string | undefined
  /** 0: not cached. */
  readonly cacheSeconds: number
}

/** An entry of the cache. Immutable: all runs on the node share it. */
interface Hits {
  /** SHA-256 of the storage and the search that found them. */
  readonly fingerprint: string
  /** A JSON array. */
  readonly documents: StoredJson
  readonly length: number
  /** On all pages; undefined when it was not wanted. */
  readonly total: number | undefined
  /** The cursor behind the last of them. Reads that document, so it is evaluated only on demand. */
  readonly next: () => string | undefined
}

const MAX_CACHE_KEY = 512

/** Where the searches with this `cache_key` are in the cache, apart from whatever else is kept there. */
export function searchCacheKey(cacheKey: string): string {
  return `search:${cacheKey}`
}

/** Throws PinError for `cache_key`, and what the session throws. */
export function searchWithCache(
  context: SearchContext,
  requested: Requested,
): MaybePromise<{ readonly hits: Hits; readonly fromCache: boolean }> {
  const { cacheKey, cacheSeconds } = requested
  // What only this run can see so far must not be kept for others: it may still be undone.
  if (!cacheKey || cacheSeconds === 0 || context.session.transaction.hasWritten)
    return andThen(searchNow(context, requested, ''), (hits) => ({ hits, fromCache: false }))
  if (cacheKey.length > MAX_CACHE_KEY)
    throw new PinError('cache_key', `must be at most ${MAX_CACHE_KEY} characters`)

  const key = searchCacheKey(cacheKey)
  const fingerprint = hash('sha256', JSON.stringify([requested.storage, requested.search]))
  const cached = context.cache.get(key)
  if (
    isHits(cached) &&
    cached.fingerprint === fingerprint &&
    !(requested.total && cached.total === undefined)
  )
    return { hits: cached, fromCache: true }
  const { deletions } = context.cache
  return andThen(searchNow(context, requested, fingerprint), (hits) => {
    if (deletions === context.cache.deletions)
      context.cache.set(key, hits, cacheSeconds, 2 * hits.documents.text.length)
    return { hits, fromCache: false }
  })
}

function searchNow(
  { session }: SearchContext,
  requested: Requested,
  fingerprint: string,
): MaybePromise<Hits> {
  const { storage, search } = requested
  const hits = ({ found, total }: { readonly found: Found; readonly total: number | undefined }): Hits => ({
    fingerprint,
    documents: found.documents,
    length: found.length,
    total,
    next: () => found.next(),
  })
  if (requested.total) return andThen(findWithTotal(session, storage, search), hits)
  return andThen(session.find(storage, search), (found) => hits({ found, total: undefined }))
}

function isHits(cached: unknown): cached is Hits {
  return (
    typeof cached === 'object' &&
    cached !== null &&
    'fingerprint' in cached &&
    'documents' in cached &&
    cached.documents instanceof StoredJson
  )
}
