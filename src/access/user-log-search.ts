import type { JsonObject } from '../shared/json.ts'
import type { Search } from '../shared/query.ts'
import { documentsOf } from '../storage/find-documents.ts'
import type { Storage } from '../storage/storage.ts'
import { USER_LOGS } from './user-log.ts'

export interface FoundUserLogs {
  readonly records: readonly JsonObject[]
  readonly total: number
  /** Cursor for the next page. */
  readonly next: string | undefined
}

export async function searchUserLogs(storage: Storage, search: Search): Promise<FoundUserLogs> {
  const session = storage.session()
  const found = await session.find(USER_LOGS, search)
  const total = await session.count(USER_LOGS, search.query, search.includeRemoved)
  return { records: documentsOf(found), total, next: found.next() }
}
