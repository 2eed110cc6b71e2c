/** How a session on SQLite searches and counts: from the cache, in this turn of the event loop, or in the search thread. */
import { andThen, type MaybePromise } from '../../../shared/maybe-promise.ts'
import { matchAll, type Query, type Search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import type { Aggregated } from '../../aggregate/finish-aggregate.ts'
import type { Found, FoundWithTotal, Written } from '../../database.ts'
import { DocumentSession } from '../../document-session.ts'
import { totalKnownFrom } from '../../find-documents.ts'
import { otherStorages } from '../../search/other-storages.ts'
import { withWholeCursor } from '../../search/search-cursor.ts'
import {
  EFFORT_OF_A_HOLDER,
  EFFORT_OF_A_SEARCH,
  EFFORT_OF_A_TURN,
  EFFORT_OF_A_WRITER,
  EffortSpent,
  tooMuchForTransaction,
} from '../../search/search-effort.ts'
import type { StoredJson } from '../../stored-json.ts'
import { SerializationConflict } from '../../unit-of-work.ts'
import {
  type Aside,
  aggregateAside,
  boundedAggregate,
  boundedCount,
  boundedFind,
  countAside,
  findAside,
  noteSearch,
  readMissing,
  type SearchPlace,
} from '../sql/bounded-search.ts'
import type { SessionParts } from './session-parts.ts'
import { cachedAggregate, cachedCount, followWrites, knownCount } from './sqlite-catalogue.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { Writing } from './sqlite-documents.ts'
import type { StorageEntry } from './storage-entry.ts'

export abstract class SearchingSession extends DocumentSession<Writing, Written> {
  abstract get hasWritten(): boolean
  abstract get(
    storage: string,
    guid: string,
    options?: { readonly removed?: boolean },
  ): MaybePromise<StoredJson | undefined>
  /** Has the writer, and so sees what other sessions have written and what is not on disk yet. */
  protected abstract get holds(): boolean
  protected abstract get parts(): SessionParts
  /** Its writes were undone without its doing: then nothing kept may serve. */
  protected abstract get isLost(): boolean
  /** Whether the session has written to the storage since the last commit. */
  protected abstract wroteTo(storage: string): boolean
  /** A unit of work that has committed nothing yet. */
  protected abstract get isUnit(): boolean
  /** For a unit of work: reads in its turn. Throws SerializationConflict. */
  protected abstract inUnit<T>(storage: string, look: () => MaybePromise<T>): MaybePromise<T>
  /** Of a unit: those of these storages of which nothing was read yet. */
  protected abstract unread(storages: readonly string[]): readonly StorageEntry[]
  /**
   * Before a unit searches in the thread: resolves when no other unit does, and then what was noted of these storages is to be
   * read again. Undefined where it is this unit's turn already.
   */
  protected abstract slowTurn(fresh: readonly StorageEntry[]): Promise<void> | undefined
  /** Gives the writer back, if the session has it and has written nothing. Resolves when what it has read is on disk. */
  protected abstract settle(): MaybePromise<void>
  /** On the connection that sees what the session has to see. Throws when the session is lost. */
  protected abstract read<T>(
    storage: string,
    work: (connection: SqliteConnection, entry: StorageEntry) => T,
  ): T

  find(storage: string, requested: Search): MaybePromise<Found> {
    return andThen(
      withWholeCursor(requested, (guid) => this.get(storage, guid, { removed: true })),
      (search) =>
        this.#orAside(
          storage,
          search.query,
          () => this.#findCached(storage, search),
          (entry, aside) =>
            findAside(this.parts, entry, { search, total: false }, aside).then(({ found }) => found),
        ),
    )
  }

  /** Nothing is committed between two reads of one turn. */
  findWithTotal(storage: string, requested: Search): MaybePromise<FoundWithTotal> {
    return andThen(
      withWholeCursor(requested, (guid) => this.get(storage, guid, { removed: true })),
      (search) => this.#findCounted(storage, search),
    )
  }

  #findCounted(storage: string, search: Search): MaybePromise<FoundWithTotal> {
    const { query, includeRemoved } = search
    return this.#orAside(
      storage,
      query,
      () => {
        const found = this.#findCached(storage, search)
        const total = totalKnownFrom(found, search) ?? this.#count(storage, query, includeRemoved)
        return { found, total }
      },
      async (entry, aside) => {
        const { found, total } = await findAside(this.parts, entry, { search, total: true }, aside)
        if (total === undefined) throw new Error('The search thread did not count.')
        return { found, total }
      },
    )
  }

  count(storage: string, query: Query = matchAll, includeRemoved = false): MaybePromise<number> {
    return this.#orAside(
      storage,
      query,
      () => this.#count(storage, query, includeRemoved),
      (entry, aside) => countAside(this.parts, entry, { query, includeRemoved }, aside),
    )
  }

  aggregate(storage: string, requested: Aggregate): MaybePromise<Aggregated> {
    return this.#orAside(
      storage,
      requested.query,
      () => {
        const { catalogue, results } = this.parts
        const entry = catalogue.entry(storage)
        const work = () =>
          this.read(storage, (connection) => boundedAggregate(this.#place(connection, entry), requested))
        if (this.holds || this.isLost || !followWrites(this.parts, entry)) return work()
        return cachedAggregate(results, storage, catalogue.version(entry.name), requested, work)
      },
      (entry, aside) => aggregateAside(this.parts, entry, requested, aside),
    )
  }

  /**
   * In this turn if it looks at little, else in the thread. That one sees what is committed; so what the session itself has
   * written to the storage must be found here, or not at all.
   */
  #orAside<T>(
    storage: string,
    query: Query,
    here: () => T,
    inThread: (entry: StorageEntry, aside: Aside) => Promise<T>,
  ): MaybePromise<T> {
    const look = (): MaybePromise<T> => {
      try {
        return here()
      } catch (error) {
        if (!(error instanceof EffortSpent)) throw error
        const entry = this.parts.catalogue.entry(storage)
        const others = otherStorages(query)
        if (this.wroteTo(storage) || others.some((other) => this.wroteTo(other))) {
          readMissing(this.parts, entry)
          throw tooMuchForTransaction(storage)
        }
        if (this.hasWritten) {
          // Others have ended writes that the thread cannot see before they are on disk, and that takes this session's end.
          if (this.isUnit && [storage, ...others].some((name) => this.#isUnsaved(name)))
            throw new SerializationConflict()
          return inThread(entry, { keep: false, effort: EFFORT_OF_A_HOLDER })
        }
        const search = () => inThread(entry, { keep: true, effort: EFFORT_OF_A_SEARCH })
        if (!this.isUnit) return search()
        const turn = this.slowTurn(fresh)
        return turn ? turn.then(inTurn) : andThen(this.settle(), search)
      }
    }
    if (!this.isUnit) return look()
    const others = otherStorages(query).filter((name) => this.parts.catalogue.find(name))
    const fresh = this.unread([storage, ...others])
    const inTurn: () => MaybePromise<T> = others.reduce<() => MaybePromise<T>>(
      (inside, other) => () => this.inUnit(other, inside),
      () => this.inUnit(storage, look),
    )
    return inTurn()
  }

  #isUnsaved(storage: string): boolean {
    return (this.parts.catalogue.find(storage)?.unsaved ?? 0) > 0
  }

  #findCached(storage: string, search: Search): Found {
    const { catalogue, results } = this.parts
    const entry = catalogue.entry(storage)
    if (this.holds || this.isLost || !followWrites(this.parts, entry)) return this.#find(storage, search)
    const requested = { search, key: JSON.stringify(search) }
    return results.found(storage, catalogue.version(entry.name), requested, () => this.#find(storage, search))
  }

  #find(storage: string, search: Search): Found {
    return this.read(storage, (connection, entry) => {
      const started = performance.now()
      const page = boundedFind(this.#place(connection, entry), search, this.parts.writer.idle)
      noteSearch({ connection, entry, advisor: this.parts.advisor }, 'find', search, started)
      return page
    })
  }

  #count(storage: string, query: Query, includeRemoved: boolean): number {
    const { advisor, catalogue } = this.parts
    const requested = { query, includeRemoved }
    const target = catalogue.entry(storage)
    const isCurrent = !this.holds && !this.isLost && followWrites(this.parts, target)
    const known = isCurrent ? knownCount(this.parts, target, requested) : undefined
    if (known !== undefined) return known
    return this.read(storage, (connection, entry) => {
      const place = this.#place(connection, entry)
      const count = () => {
        const started = performance.now()
        const counted = boundedCount(place, query, includeRemoved)
        noteSearch({ connection, entry, advisor }, 'count', requested, started)
        return counted
      }
      if (this.holds) return count()
      return connection.within(place.effort, () =>
        cachedCount(this.parts, place, requested, isCurrent, count),
      )
    })
  }

  #place(connection: SqliteConnection, entry: StorageEntry): SearchPlace {
    const alone = this.wroteTo(entry.name)
    const unsaved = this.holds ? this.parts.writer.unsavedTotals().of(entry.id) : undefined
    const countsRows = !alone && !(this.isUnit && this.hasWritten)
    return {
      connection,
      entry,
      alone,
      countsRows,
      unsaved,
      effort: alone ? EFFORT_OF_A_WRITER : EFFORT_OF_A_TURN,
    }
  }
}
