/**
 * What is kept of a storage's searches and counts, and how it follows what is written.
 *
 * It is of one committed version. When something was committed since, what is kept is judged by the documents that were
 * written (`touched-documents.ts`): counts are set right, pages go that one of these documents was on or may be on now. From
 * then on all of it is of the new version. While a transaction is open only what is of the committed version serves, because
 * what stands in the writer's connection may still be undone.
 *
 * Judging takes a moment without a transaction. A search takes the first that it finds. Where there are searches, it is
 * also done right after a commit: else many writers would leave no such moment to those who search.
 */
import type { Query } from '../../../shared/query.ts'
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

/** Brings what is kept to the committed version. False if that cannot be now: then nothing kept may be used or added. */
export function followWrites(parts: KeptParts, entry: StorageEntry): boolean {
  entry.isSearched = true
  return follow(parts, entry)
}

/** Called when a commit to the storage has just become visible, before anybody hears of it. */
export function followCommit(parts: KeptParts, entry: StorageEntry): void {
  if (!entry.isSearched) return
  entry.isSearched = false
  // When all that was committed is known, and before whoever waited for the commit can write again.
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
 * A count on a connection that may see what is not committed yet. `settled`: it does not, and what is kept follows what
 * was written.
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
  const since = settled ? [] : touched.read(connection, entry)
  const known = since && counts.known(key, since)
  if (known !== undefined) return known
  const counted = markedCount(connection, entry, query, includeRemoved, settled) ?? count()
  if (settled) counts.keep(key, { query, includeRemoved, count: counted })
  return counted
}
