/**
 * One unit of work in a process that only reads. Each read sees what is committed when it begins; unlike in the process
 * that writes, the writer may commit between two reads of one flow, as it may on PostgreSQL.
 */

import type { MaybePromise } from '../../../shared/maybe-promise.ts'
import { matchAll, type Query, type Search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import type { Aggregated } from '../../aggregate/finish-aggregate.ts'
import type { Claims } from '../../claims.ts'
import type { Found, FoundWithTotal, Origin, Session, SessionShortcuts, Transaction } from '../../database.ts'
import { totalKnownFrom } from '../../find-with-total.ts'
import { EFFORT_OF_A_SEARCH, EFFORT_OF_A_TURN, EffortSpent } from '../../search/search-effort.ts'
import type { StoredJson } from '../../stored-json.ts'
import { WriteRefused } from '../../write-refused.ts'
import { keptAggregate, knownAggregate } from '../cache/kept-aggregates.ts'
import type { SearchCache } from '../cache/search-cache.ts'
import { guarded, type SqliteConnection } from '../core/sqlite-connection.ts'
import { getDocument } from '../core/sqlite-documents.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { countKey } from '../sql/aside-search.ts'
import { aggregatedAside, boundedAggregate } from '../sql/bounded-aggregate.ts'
import { boundedCount, boundedFind } from '../sql/bounded-search.ts'
import type { SearchThread } from '../sql/search-thread.ts'
import { pageOf } from '../sql/sqlite-find.ts'
import type { ReaderCatalogue } from './reader-catalogue.ts'

export interface ReaderParts {
  readonly connection: SqliteConnection
  /** For searches that look at too much for one turn of the event loop. */
  readonly thread: SearchThread
  readonly catalogue: ReaderCatalogue
  readonly results: SearchCache
  /** Told on whose behalf a write was tried. */
  readonly refused: (origin: Origin) => void
  /** Told of each error of the database. */
  readonly failed: (error: unknown) => void
}

export class ReaderSession implements Session, Claims, Transaction, SessionShortcuts {
  readonly hasWritten = false
  readonly origin: Origin
  readonly #parts: ReaderParts

  constructor(parts: ReaderParts, origin: Origin) {
    this.#parts = parts
    this.origin = origin
  }

  get claims(): Claims {
    return this
  }

  get transaction(): Transaction {
    return this
  }

  get(storage: string, guid: string, options?: { readonly removed?: boolean }): StoredJson | undefined {
    const { connection, catalogue } = this.#parts
    const removed = options?.removed ?? false
    const entry = catalogue.remembered(storage)
    if (entry) {
      try {
        return getDocument(connection, entry, guid, removed)
      } catch {
        // Its table may be gone, and another storage there under its name.
      }
    }
    return this.#snapshot(storage, (current) => getDocument(connection, current, guid, removed))
  }

  /** A result that is kept costs one read of the catalogue (5 µs), which is exact, in place of the search. */
  find(storage: string, search: Search): MaybePromise<Found> {
    return this.#orAside(
      () => this.#find(storage, search),
      () => this.#findAside(storage, search, false).then(({ found }) => found),
    )
  }

  #find(storage: string, search: Search): Found {
    const { connection, catalogue, failed, results } = this.#parts
    const key = JSON.stringify(search)
    const now = guarded(() => catalogue.unchanged(storage), failed)
    const known = now && results.known(now.entry.table, now.version, key)
    if (known) return known
    return this.#snapshot(storage, (entry, version) =>
      results.found(entry.table, version, { search, key }, () =>
        boundedFind({ connection, entry, effort: EFFORT_OF_A_TURN, alone: false }, search),
      ),
    )
  }

  /** In one read transaction: the writer may commit between two. */
  findWithTotal(storage: string, search: Search): MaybePromise<FoundWithTotal> {
    return this.#orAside(
      () =>
        this.#transaction(() => {
          const found = this.#find(storage, search)
          const known = totalKnownFrom(found, search)
          return { found, total: known ?? this.#count(storage, search.query, search.includeRemoved) }
        }),
      async () => {
        const { found, total } = await this.#findAside(storage, search, true)
        if (total === undefined) throw new Error('The search thread did not count.')
        return { found, total }
      },
    )
  }

  count(storage: string, query: Query = matchAll, includeRemoved = false): MaybePromise<number> {
    return this.#orAside(
      () => this.#count(storage, query, includeRemoved),
      async () => {
        const { thread, results } = this.#parts
        const effort = EFFORT_OF_A_SEARCH
        const { table, version, total } = await thread.count({ storage, query, includeRemoved, effort })
        if (isNews(results, table, version))
          results.counted(table, version, countKey(query, includeRemoved), () => total)
        return total
      },
    )
  }

  #count(storage: string, query: Query, includeRemoved: boolean): number {
    const { connection, catalogue, failed, results } = this.#parts
    const key = countKey(query, includeRemoved)
    const now = guarded(() => catalogue.unchanged(storage), failed)
    const known = now && results.knownCount(now.entry.table, now.version, key)
    if (known !== undefined) return known
    return this.#snapshot(storage, (entry, version) =>
      results.counted(entry.table, version, key, () =>
        boundedCount({ connection, entry, effort: EFFORT_OF_A_TURN, alone: false }, query, includeRemoved),
      ),
    )
  }

  aggregate(storage: string, wanted: Aggregate): MaybePromise<Aggregated> {
    const { connection, catalogue, failed, results, thread } = this.#parts
    return this.#orAside(
      () => {
        const now = guarded(() => catalogue.unchanged(storage), failed)
        const known = now && knownAggregate(results, now.entry.table, now.version, wanted)
        if (known) return known
        return this.#snapshot(storage, (entry, version) =>
          keptAggregate(results, entry.table, version, wanted, () =>
            boundedAggregate({ connection, entry, effort: EFFORT_OF_A_TURN, alone: false }, wanted),
          ),
        )
      },
      async () => {
        const answer = await thread.aggregate({ storage, aggregate: wanted, effort: EFFORT_OF_A_SEARCH })
        const { table, version } = answer
        const aggregated = aggregatedAside(answer)
        if (isNews(results, table, version)) keptAggregate(results, table, version, wanted, () => aggregated)
        return aggregated
      },
    )
  }

  /** In this turn if it looks at little, else in the thread. */
  #orAside<T>(here: () => T, inThread: () => Promise<T>): MaybePromise<T> {
    try {
      return here()
    } catch (error) {
      if (error instanceof EffortSpent) return inThread()
      throw error
    }
  }

  async #findAside(storage: string, search: Search, total: boolean) {
    const { thread, results } = this.#parts
    const answer = await thread.find({ storage, search, total, effort: EFFORT_OF_A_SEARCH })
    const { table, version, documents, length } = answer
    const found = pageOf({ documents, length }, search)
    if (isNews(results, table, version))
      results.found(table, version, { search, key: JSON.stringify(search) }, () => found)
    return { found, total: answer.total }
  }

  create(): never {
    this.#refuse()
  }

  update(): never {
    this.#refuse()
  }

  setRemoved(): never {
    this.#refuse()
  }

  delete(): never {
    this.#refuse()
  }

  /** Asked before a write. */
  holder(): never {
    this.#refuse()
  }

  /** Asked before a write. */
  hold(): never {
    this.#refuse()
  }

  /** Asked for a write. */
  numbers(): never {
    this.#refuse()
  }

  enqueue(): never {
    this.#refuse()
  }

  /** Nothing can have been written. */
  commit(): void {}

  rollback(): void {}

  #refuse(): never {
    this.#parts.refused(this.origin)
    throw new WriteRefused()
  }

  /** In one read transaction: what is known of the storage is what the work meets. */
  #snapshot<T>(storage: string, work: (entry: StorageEntry, version: number) => T): T {
    return this.#transaction(() => {
      const { entry, version } = this.#parts.catalogue.read(storage)
      return work(entry, version)
    })
  }

  /** Work within work is part of it. */
  #transaction<T>(work: () => T): T {
    const { connection, failed } = this.#parts
    if (connection.inTransaction) return work()
    return guarded(() => {
      connection.run('BEGIN')
      try {
        return work()
      } finally {
        if (connection.inTransaction) connection.run('COMMIT')
      }
    }, failed)
  }
}

/** False for a version older than the cached one: adding it would drop the newer results. */
function isNews(results: SearchCache, table: string, version: number): boolean {
  return (results.version(table) ?? 0) <= version
}
