import type { JsonObject } from '../shared/json.ts'
import type { Search } from '../shared/query.ts'
import type { Database } from '../storage/database.ts'
import { documentsOf } from '../storage/find-documents.ts'
import { findWithTotal } from '../storage/find-with-total.ts'
import { USER_LOGS } from './user-log.ts'

export interface FoundUserLogs {
  readonly records: readonly JsonObject[]
  readonly total: number
  /** Cursor for the next page. */
  readonly next: string | undefined
}

export async function searchUserLogs(database: Database, search: Search): Promise<FoundUserLogs> {
  const session = database.session()
  const { found, total } = await findWithTotal(session, USER_LOGS, search)
  return { records: documentsOf(found), total, next: found.next() }
}
