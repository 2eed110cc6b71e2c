/** A search on a connection, as a page of stored documents. */
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import type { Query, Search } from '../../../shared/query.ts'
import type { Found } from '../../database.ts'
import { checkSearch } from '../../search/check-search.ts'
import { StoredJson } from '../../stored-json.ts'
import { numberOf, type Row, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { storedRanking } from '../text/stored-ranking.ts'
import type { TextTotal } from '../text/text-totals.ts'
import type { SearchTarget } from './sql-values.ts'
import { compileCount, compileFind, cursorBehind } from './sqlite-query.ts'

/** `unsaved`: what the connection's own transaction has changed of the totals that rank free text. Throws INVALID_QUERY. */
export function findDocuments(
  connection: SqliteConnection,
  target: SearchTarget,
  search: Search,
  unsaved?: TextTotal,
): Found {
  checkSearch(search)
  const ranked = storedRanking(connection, target, search, unsaved)
  if (ranked) return pageOf(ranked, search)
  const { sql, parameters } = compileFind(target, search)
  return pageOf(connection.get(sql, ...parameters) ?? {}, search)
}

export function countDocuments(
  connection: SqliteConnection,
  target: SearchTarget,
  query: Query,
  includeRemoved: boolean,
): number {
  const { sql, parameters } = compileCount(target, query, includeRemoved)
  return numberOf(connection.get(sql, ...parameters) ?? {}, 'n')
}

/** A row with the documents as a JSON array, and how many they are. */
export function pageOf(row: Row, search: Search): Found {
  const length = numberOf(row, 'length')
  const documents = new StoredJson(textOf(row, 'documents'))
  return {
    documents,
    length,
    next: () => (length === 0 || length < search.limit ? undefined : cursorBehind(search, lastOf(documents))),
  }
}

/** Looking for it in the page is cheap beside asking SQLite for it in every search; few callers want a cursor. */
function lastOf(documents: StoredJson): JsonObject {
  const last = documents.lastDocument()
  if (!isJsonObject(last)) throw new TypeError('A page holds documents.')
  return last
}
