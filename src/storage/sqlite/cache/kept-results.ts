/**
 * The cached searches and counts of a storage, and how they follow writes.
 *
 * The cache belongs to one committed version. After a later commit it is checked against the documents that were written
 * (`touched-documents.ts`): counts are corrected, and a page is dropped if one of these documents was on it or may be on it
 * now. From then on the whole cache belongs to the new version. While a transaction is open only results of the committed
 * version are used, because the rows that the writer's connection sees may still be undone.
 *
 * The check needs a moment without an open transaction. A search uses the first such moment. In a storage that is searched,
 * the check also runs right after a commit: otherwise many writers would leave no such moment to the searches.
 */
import type { Query } from '../../../shared/query.ts'
import { isOfOneStorage } from '../../search/other-storages.ts'
import type { SqliteCatalogue } from '../core/sqlite-catalogue.ts'
import type { SqliteConnection } from '../core/sqlite-connection.ts'
import type { SqliteWriter } from '../core/sqlite-writer.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { markedCount } from '../text/marked-search.ts'
import { KeptCounts } from './kept-counts.ts'
import type { SearchCache } from './search-cache.ts'
import { TouchedDocuments } from './touched-documents.ts'

export interface KeptParts {
  readonly writer: Pick<SqliteWriter, 'idle' | 'connection'>
  readonly catalogue: SqliteCatalogue
  readonly results: SearchCache
}

/** Brings the cache to the committed version. False if that is not possible now: then it may be neither used nor filled. */
export function followWrites(parts: KeptParts, entry: StorageEntry): boolean {
  entry.isSearched = true
  return follow(parts, entry)
}

/** Called when a commit to the storage has just become visible, before it is acknowledged. */
export function followCommit(parts: KeptParts, entry: StorageEntry): void {
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

function follow({ writer, catalogue, results }: KeptParts, entry: StorageEntry): boolean {
  const { name, touched } = entry
  const version = catalogue.version(name)
  if (touched === undefined) {
    if (!writer.idle) return false
    entry.touched = new TouchedDocuments()
    entry.counts = new KeptCounts()
    results.follow(name, version, undefined)
    return true
  }
  if (results.version(name) === version && (touched.none || !writer.idle)) return true
  if (!writer.idle) return false
  const written = touched.read(writer.connection, entry)
  touched.forget()
  entry.counts?.follow(written)
  results.follow(name, version, written)
  return true
}

/**
 * A count on a connection that may see uncommitted writes. `settled`: it sees none, and the cache is up to date with the
 * committed ones.
 */
export function keptCount(
  connection: SqliteConnection,
  entry: StorageEntry,
  { query, includeRemoved }: { readonly query: Query; readonly includeRemoved: boolean },
  settled: boolean,
  count: () => number,
): number {
  const { counts, touched } = entry
  if (counts === undefined || touched === undefined) return count()
  const key = JSON.stringify([query, includeRemoved])
  if (!isOfOneStorage(key)) return count()
  const since = settled ? [] : touched.read(connection, entry)
  const known = since && counts.known(key, since)
  if (known !== undefined) return known
  const counted = markedCount(connection, entry, query, includeRemoved, settled) ?? count()
  if (settled) counts.keep(key, { query, includeRemoved, count: counted })
  return counted
}
