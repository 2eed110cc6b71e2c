import type { Search } from '../shared/query.ts'
import type { Database } from '../storage/database.ts'
import { findPage } from '../storage/find-page.ts'
import { ownStorages } from '../storage/own-storages.ts'
import type { RecordPage } from '../storage/record-page.ts'

export async function searchUserLogs(database: Database, search: Search): Promise<RecordPage> {
  return findPage(database.session(), ownStorages.userLogs, search)
}
