/** Which storages there are, what they have, and the version of each: read once, changed with the database. And what is cached of each version. */
import { QuoinError } from '../../../shared/errors.ts'
import { search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { type Aggregated, tooManyGroups } from '../../aggregate/finish-aggregate.ts'
import type { Found } from '../../database.ts'
import type { Index } from '../../document-index.ts'
import type { ActiveUniqueKey } from '../../unique/active-unique-key.ts'
import type { UniqueKey } from '../../unique/unique-key.ts'
import { CachedCounts, type CountRequest, isTracked } from '../cache/cached-counts.ts'
import { type SearchCache, TouchedDocuments } from '../cache/search-cache.ts'
import { markedCount } from '../text/marked-search.ts'
import { loadShape, type ShapeRow } from './document-shape.ts'
import { numberOf, type SqliteConnection, textOf } from './sqlite-connection.ts'
import { readShape } from './sqlite-documents.ts'
import type { StorageEntry } from './storage-entry.ts'
import { documentTable, textTable } from './tables.ts'

const nothing = { textUpTo: -1, shape: [] }

export class SqliteCatalogue {
  readonly #entries = new Map<string, StorageEntry>()
  /** By name, and kept when a storage is dropped: one that comes back under the name must not repeat a version. */
  readonly #versions = new Map<string, number>()

  #lastWrite = 0

  load(connection: SqliteConnection): void {
    for (const row of connection.all('SELECT id, name, text, text_complete FROM storage')) {
      const id = numberOf(row, 'id')
      const textUpTo = numberOf(row, 'text_complete') === 1 ? Infinity : numberOf(row, 'text')
      const entry = this.add(id, textOf(row, 'name'), { textUpTo, shape: readShape(connection, id) })
      // The text is our own: createIndex wrote it.
      for (const index of connection.all('SELECT name, definition FROM storage_index WHERE storage = ?', id))
        entry.indexes.set(textOf(index, 'name'), JSON.parse(textOf(index, 'definition')) as Index)
      entry.unique = readKeys(connection, id)
    }
  }

  add(
    id: number,
    name: string,
    has: { textUpTo: number; shape: readonly ShapeRow[] } = nothing,
  ): StorageEntry {
    const entry: StorageEntry = {
      id,
      name,
      table: documentTable(id),
      textTable: has.textUpTo === Infinity ? textTable(id) : undefined,
      textUpTo: has.textUpTo,
      shape: loadShape(has.shape),
      revision: 0,
      unsaved: 0,
      shapeSaved: true,
      indexes: new Map(),
      unique: [],
      other: (storage) => this.find(storage),
    }
    this.#entries.set(name, entry)
    return entry
  }

  remove(entry: StorageEntry): void {
    this.#entries.delete(entry.name)
    // What is being read of its tables goes no further.
    entry.postings = undefined
    entry.fieldTexts = undefined
    this.written(entry.name)
  }

  find(name: string): StorageEntry | undefined {
    return this.#entries.get(name)
  }

  /** Throws INTERNAL: who asks for a storage has to have ensured it. */
  entry(name: string): StorageEntry {
    const entry = this.#entries.get(name)
    if (entry === undefined)
      throw new QuoinError('INTERNAL', `There is no storage named ${JSON.stringify(name)}.`)
    return entry
  }

  names(): readonly string[] {
    return [...this.#entries.keys()]
  }

  version(name: string): number {
    return this.#versions.get(name) ?? 0
  }

  written(name: string): void {
    this.#versions.set(name, this.version(name) + 1)
  }

  /** Larger than all that were given before. */
  nextWrite(): number {
    this.#lastWrite += 1
    return this.#lastWrite
  }
}

function readKeys(connection: SqliteConnection, storage: number): readonly ActiveUniqueKey[] {
  const rows = connection.all(
    'SELECT id, definition, ready FROM unique_key WHERE storage = ? ORDER BY id',
    storage,
  )
  return rows.map((row) => ({
    id: numberOf(row, 'id'),
    // The text is our own: make-unique.ts wrote it.
    definition: JSON.parse(textOf(row, 'definition')) as UniqueKey,
    isReady: numberOf(row, 'ready') === 1,
  }))
}

// The cached searches and counts of a storage, and how they follow writes.
//
// The cache belongs to one committed version. After a later commit it is checked against the documents that were written
// (`search-cache.ts`): counts are corrected, and a page is dropped if one of these documents was on it or may be on it
// now. From then on the whole cache belongs to the new version. While a transaction is open only results of the committed
// version are used, because the rows that the writer's connection sees may still be undone.
//
// The check needs a moment without an open transaction. A search uses the first such moment. In a storage that is searched,
// the check also runs right after a commit: otherwise many writers would leave no such moment to the searches.

export interface CacheParts {
  /** `idle`: no transaction is open. */
  readonly writer: { readonly idle: boolean; readonly connection: SqliteConnection }
  readonly catalogue: SqliteCatalogue
  readonly results: SearchCache
}

/** Brings the cache to the committed version. False if that is not possible now: then it may be neither used nor filled. */
export function followWrites(parts: CacheParts, entry: StorageEntry): boolean {
  entry.isSearched = true
  return follow(parts, entry)
}

/** Called when a commit to the storage has just become visible, before it is acknowledged. */
export function followCommit(parts: CacheParts, entry: StorageEntry): void {
  if (!entry.isSearched) return
  entry.isSearched = false
  // When all that was committed is known, and before a session that waited for the commit can write again.
  queueMicrotask(() => {
    try {
      follow(parts, entry)
    } catch {
      // The next search tries it again, and tells.
    }
  })
}

function follow({ writer, catalogue, results }: CacheParts, entry: StorageEntry): boolean {
  const { name, touched } = entry
  const version = catalogue.version(name)
  if (touched === undefined) {
    if (!writer.idle) return false
    entry.touched = new TouchedDocuments(version)
    entry.counts = new CachedCounts()
    results.follow(name, version, undefined)
    return true
  }
  if (touched.version === version && (touched.none || !writer.idle)) return true
  if (!writer.idle) return false
  const written = touched.read(writer.connection, entry)
  touched.forget(version)
  entry.counts?.follow(written)
  results.follow(name, version, written)
  return true
}

/** At the version that the cache belongs to. */
export function knownCount(
  { results: { uses } }: CacheParts,
  { counts }: StorageEntry,
  requested: CountRequest,
): number | undefined {
  const known = counts?.known(requested)
  uses[known === undefined ? 'misses' : 'hits'] += 1
  return known
}

/**
 * `isCurrent`: it is not known at the version that the cache belongs to, and the connection sees that version. Without it the
 * connection may see uncommitted writes: kept counts are corrected by those.
 */
export function cachedCount(
  { writer }: CacheParts,
  { connection, entry }: { readonly connection: SqliteConnection; readonly entry: StorageEntry },
  requested: CountRequest,
  isCurrent: boolean,
  count: () => number,
): number {
  const { counts, touched } = entry
  if (counts === undefined || touched === undefined || !isTracked(requested)) return count()
  const since = isCurrent ? undefined : touched.read(connection, entry)
  const known = since && counts.known(requested, since)
  if (known !== undefined) return known
  const { query, includeRemoved } = requested
  const counted = markedCount(connection, entry, query, includeRemoved, writer.idle) ?? count()
  if (isCurrent) counts.keep(requested, counted)
  return counted
}

// Aggregates in the cache of searches: each as a page whose documents are the rows. It is dropped when a document was written
// that the query found before or finds now.

/** No search has it: theirs begin with a brace. */
export function aggregateKey(requested: Aggregate): string {
  return `aggregate ${JSON.stringify(requested)}`
}

/** What was kept at this version, or what `work` gives, which is then kept. */
export function cachedAggregate(
  results: SearchCache,
  storage: string,
  version: number,
  requested: Aggregate,
  work: () => Aggregated,
): Aggregated {
  const key = aggregateKey(requested)
  // With a sort, so that free text in the query is a condition and no ranking.
  const sort = [{ field: '_meta.created', order: 'asc', missing: 'last' }] as const
  const page = { search: search({ query: requested.query, sort }), key }
  return aggregatedOf(results.found(storage, version, page, () => pageOf(work())))
}

const NONE = -1

function pageOf({ rows, total }: Aggregated): Found {
  return { documents: rows, length: total ?? NONE, next: () => undefined }
}

function aggregatedOf({ documents, length }: Found): Aggregated {
  return length === NONE ? tooManyGroups : { rows: documents, total: length }
}
