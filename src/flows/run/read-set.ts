import type { Cache } from '../../blocks/context.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { Clock } from '../../shared/clock.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Query, Search } from '../../shared/query.ts'
import type { Aggregate } from '../../storage/aggregate/aggregate.ts'
import type { Aggregated } from '../../storage/aggregate/finish-aggregate.ts'
import type { Read, ReadVersion, ReadVersions } from '../../storage/capabilities.ts'
import type { Database, Found, FoundWithTotal, Session } from '../../storage/database.ts'
import { totalKnownFrom } from '../../storage/find-documents.ts'
import { otherStorages } from '../../storage/search/other-storages.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'

interface TrackedRead {
  readonly version: ReadVersion
  /** What it was when this was read. */
  readonly seen: unknown
}

/** What a run has read, each with its version: whether a second run would read the same. */
export class ReadSet {
  readonly #versions: ReadVersions
  readonly #tracked: TrackedRead[] = []
  #isComplete = true

  constructor(versions: ReadVersions) {
    this.#versions = versions
  }

  /** False as soon as something was read whose version cannot be known. */
  get areUnchanged(): boolean {
    if (!this.#isComplete) return false
    for (const { version, seen } of this.#tracked) if (version() !== seen) return false
    return true
  }

  /** A session that notes what is read through it. */
  session(session: Session): Session {
    return new TrackingSession(session, this)
  }

  /** Reads, and notes it under the version that it had before and after. */
  track<T>(storage: string, read: Read | undefined, look: () => T, query?: Query): T {
    if (this.#versions.catchUp) return this.#ahead(storage, read, query, look)
    const isSettled = this.#others(query)
    const version = this.#versions.of(storage, read)
    const seen = version()
    const result = look()
    const isExact = !isPromise(result) && seen !== undefined && version() === seen && isSettled()
    if (isExact) this.#tracked.push({ version, seen })
    else this.#isComplete = false
    return result
  }

  /** The same for a page, whose version is there only once it is kept: then it is the page. */
  trackSearch(storage: string, search: Search, look: () => MaybePromise<Found>): MaybePromise<Found> {
    return this.#ofPage(storage, search, look, (found) => found)
  }

  /** A last page tells the total by itself; any other total is of all documents. */
  trackFindWithTotal(
    storage: string,
    search: Search,
    look: () => MaybePromise<FoundWithTotal>,
  ): MaybePromise<FoundWithTotal> {
    return this.#ofPage(storage, search, look, ({ found }) =>
      totalKnownFrom(found, search) === undefined ? undefined : found,
    )
  }

  /** Under the version of its kept result, else of all documents of the storage. */
  trackAggregate(
    storage: string,
    aggregate: Aggregate,
    look: () => MaybePromise<Aggregated>,
  ): MaybePromise<Aggregated> {
    if (this.#versions.catchUp) return this.#ahead(storage, undefined, aggregate.query, look)
    const ofStorage = this.#versions.of(storage)
    const before = ofStorage()
    const isSettled = this.#others(aggregate.query)
    const result = look()
    if (isPromise(result) || before === undefined || ofStorage() !== before || !isSettled()) {
      this.#isComplete = false
      return result
    }
    const ofAggregate = this.#versions.of(storage, { aggregate })
    const version = ofAggregate()
    this.#tracked.push(
      version === undefined ? { version: ofStorage, seen: before } : { version: ofAggregate, seen: version },
    )
    return result
  }

  /**
   * Where this process learns of writes only when it asks: noted before the read, so that what it learns of later counts as a
   * change whether the read saw it or not.
   */
  #ahead<T>(storage: string, read: Read | undefined, query: Query | undefined, look: () => T): T {
    const looked = [this.#versions.of(storage, read)]
    for (const other of query ? otherStorages(query) : []) looked.push(this.#versions.of(other))
    for (const version of looked) {
      const seen = version()
      if (seen === undefined) this.#isComplete = false
      else this.#tracked.push({ version, seen })
    }
    return look()
  }

  /** Notes what a query looks into beside its own storage. Asked after the read, it tells whether that is as before. */
  #others(query: Query | undefined): () => boolean {
    const others = query ? otherStorages(query) : []
    if (others.length === 0) return unchanged
    const tracked = others.map((storage) => {
      const version = this.#versions.of(storage)
      return { version, seen: version() }
    })
    this.#tracked.push(...tracked)
    return () => tracked.every(({ version, seen }) => seen !== undefined && version() === seen)
  }

  /** `page`: undefined where the result depends on more than the page. */
  #ofPage<T>(
    storage: string,
    search: Search,
    look: () => MaybePromise<T>,
    page: (result: T) => Found | undefined,
  ): MaybePromise<T> {
    if (this.#versions.catchUp) return this.#ahead(storage, undefined, search.query, look)
    const ofStorage = this.#versions.of(storage)
    const before = ofStorage()
    const isSettled = this.#others(search.query)
    const result = look()
    if (isPromise(result) || before === undefined || ofStorage() !== before || !isSettled()) {
      this.#isComplete = false
      return result
    }
    const found = page(result)
    const ofPage = this.#versions.of(storage, { page: search })
    if (found !== undefined && ofPage() === found) this.#tracked.push({ version: ofPage, seen: found })
    else this.#tracked.push({ version: ofStorage, seen: before })
    return result
  }
}

const unchanged = () => true

class TrackingSession extends TransparentSession {
  readonly #reads: ReadSet

  constructor(session: Session, reads: ReadSet) {
    super(session)
    this.#reads = reads
  }

  override get(storage: string, guid: string, options?: { readonly removed?: boolean }) {
    return this.#reads.track(storage, { guid }, () => super.get(storage, guid, options))
  }

  override find(storage: string, search: Search) {
    return this.#reads.trackSearch(storage, search, () => super.find(storage, search))
  }

  override findWithTotal(storage: string, search: Search) {
    return this.#reads.trackFindWithTotal(storage, search, () => super.findWithTotal(storage, search))
  }

  override aggregate(storage: string, requested: Aggregate) {
    return this.#reads.trackAggregate(storage, requested, () => super.aggregate(storage, requested))
  }

  override count(...requested: Parameters<Session['count']>) {
    return this.#reads.track(requested[0], undefined, () => super.count(...requested), requested[1])
  }
}

interface Entry {
  readonly value: unknown
  readonly until: number
}

const ENTRIES = 10_000
const BYTES = 64 * 1024 * 1024
/** What the key and the entry themselves take, roughly. */
const OVERHEAD = 200

/** Of one node: what it deletes is gone at once. */
interface NodeCache extends Cache {
  delete(key: string): number
}

/** Values by key on this node. Each counts with at least its share of the bytes, so that the number is bounded too. */
export function runCache(
  clock: Clock,
  bounds: { entries: number; bytes: number } = { entries: ENTRIES, bytes: BYTES },
): NodeCache {
  const entries = lruCache<string, Entry>(bounds.bytes)
  const least = Math.floor(bounds.bytes / bounds.entries)
  let deletions = 0

  return {
    get deletions() {
      return deletions
    },
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.until <= clock()) {
        entries.delete(key)
        return undefined
      }
      return entry.value
    },
    set(key, value, seconds, size) {
      const bytes = size + 2 * key.length + OVERHEAD
      entries.set(key, { value, until: clock() + seconds * 1000 }, Math.max(bytes, least))
    },
    delete(key) {
      deletions++
      if (!key.endsWith('*')) return entries.delete(key) ? 1 : 0
      const prefix = key.slice(0, -1)
      const found = [...entries.keys()].filter((known) => known.startsWith(prefix))
      for (const known of found) entries.delete(known)
      return found.length
    },
  }
}

// The cache of a node among others: a deletion is over when every node has done it.

/** What the nodes tell each other under; no storage has such a name. */
const topic = 'cache deletions'

interface ClusterCache {
  readonly cache: Cache
  close(): void
}

/** Where there is one node, the node's cache itself. */
export function openClusterCache(database: Database, node: NodeCache): ClusterCache {
  const { changes, cluster } = database.capabilities
  if (cluster === undefined) return { cache: node, close: () => undefined }
  const close = changes.watch(topic, (keys) => {
    for (const key of keys ?? ['*']) node.delete(key)
  })
  const cache: Cache = {
    get deletions() {
      return node.deletions
    },
    get: (key) => node.get(key),
    set: (key, value, seconds, bytes) => node.set(key, value, seconds, bytes),
    async delete(key) {
      const deleted = node.delete(key)
      await cluster.notify(topic, [key])
      return deleted
    },
  }
  return { cache, close }
}

/** Longer ones are not kept: most are asked for once, and a client can send 16 KB of them with each request. */
const LONGEST = 1_000

/**
 * What a repeatable flow can read of its request, as text: the path parameters and the query, from the same objects that
 * the flow is handed, in their order. The address itself is not part of it: two requests with one key read equal values,
 * whatever their addresses look like. Undefined when it is too long to be kept.
 *
 * Each name and value stands behind its length, so no value can look like two. JSON would do the same: it takes 1.2 µs for
 * two parameters, this 0.5 µs.
 */
export function addressKey({ path, query }: Pick<RunRequest, 'path' | 'query'>): string | undefined {
  let key = ''
  for (const name in path) key += sized(name) + sized(path[name] ?? '')
  key += '?'
  for (const name in query) {
    const value = query[name] ?? ''
    key += sized(name) + (typeof value === 'string' ? sized(value) : `[${value.map(sized).join('')}]`)
    if (key.length > LONGEST) return undefined
  }
  return key.length > LONGEST ? undefined : key
}

function sized(text: string): string {
  return `${text.length}:${text}`
}
