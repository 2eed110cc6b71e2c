/** Tells the advisor of searches that took long. */
import { type Search, search } from '../../../shared/query.ts'
import type { SearchedStorage } from '../../search/index-advice.ts'
import type { SearchAdvisor } from '../../search/search-advisor.ts'
import { ARRAY, OBJECT } from '../core/document-shape.ts'
import { numberOf, type SqliteConnection } from '../core/sqlite-connection.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { fieldSql } from './field-sql.ts'
import { compileCount } from './sqlite-query.ts'

interface Searched {
  readonly connection: SqliteConnection
  readonly entry: StorageEntry
  readonly advisor: SearchAdvisor
}

/** `started`: by performance.now(). A count is a search of which only the query counts. */
export function noteSearch(
  { connection, entry, advisor }: Searched,
  kind: 'find' | 'count',
  requested: Pick<Search, 'query' | 'includeRemoved'> & Partial<Search>,
  started: number,
): void {
  const milliseconds = performance.now() - started
  if (milliseconds < advisor.limits.milliseconds) return
  const finished = { storage: entry.table, kind, search: search(requested), milliseconds }
  const look = advisor.look(finished, searchedStorage(entry))
  if (look === undefined) return
  look.keep(look.worse ? countRows(connection, entry, look.advice) : 0)
}

export function searchedStorage(entry: StorageEntry): SearchedStorage {
  return {
    indexes: [...entry.indexes.values()],
    text: entry.textTable !== undefined,
    holdsLists: (field) => (fieldSql(entry.shape, field).types & (ARRAY | OBJECT)) !== 0,
  }
}

function countRows(
  connection: SqliteConnection,
  entry: StorageEntry,
  { reads, readsRemoved }: { readonly reads: Search['query']; readonly readsRemoved: boolean },
): number {
  const { sql, parameters } = compileCount(entry, reads, readsRemoved)
  return numberOf(connection.get(sql, ...parameters) ?? {}, 'n')
}
