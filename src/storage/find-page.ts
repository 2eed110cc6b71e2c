import type { Search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import type { Session } from './database.ts'
import { documentsOf } from './find-documents.ts'
import { findWithTotal } from './find-with-total.ts'

/** The page and its total, both of one moment. Errors as for `Session.find`. */
export async function findPage(session: Session, storage: string, search: Search): Promise<RecordPage> {
  const { found, total } = await findWithTotal(session, storage, search)
  return { records: documentsOf(found), total, next: found.next() }
}
