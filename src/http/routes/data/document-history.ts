import type { Permissions } from '../../../records/permissions/permissions.ts'
import type { Subject } from '../../../records/permissions/subject.ts'
import { notFound } from '../../../records/records.ts'
import type { StorageContext } from '../../../records/storage-records.ts'
import { overlap } from '../../../shared/field-path.ts'
import type { JsonObject } from '../../../shared/json.ts'
import type { Search } from '../../../shared/query.ts'
import type { RecordPage } from '../../../shared/record-page.ts'
import { objectsIn, textIn } from '../../../storage/document-fields.ts'

interface Asked {
  readonly name: string
  readonly document: string
  readonly page: Pick<Search, 'limit' | 'offset' | 'after'>
}

/**
 * The history of a document that the user sees now, without changes of fields that the user does not see. What was deleted is seen by
 * those alone who are not bound by rules.
 */
export async function historyFor(
  { records, history }: StorageContext,
  permissions: Permissions,
  { name, document, page }: Asked,
  subject: Subject,
): Promise<RecordPage> {
  if (!subject.bound || !(await permissions.counts(name))) return history.of(name, document, page)
  const session = permissions.session(records.database.session(), subject)
  if (!(await session.get(name, document, { removed: true }))) throw notFound(document, 'document')
  const hidden = await permissions.hidden(name, subject)
  const found = await history.of(name, document, page)
  return { ...found, records: found.records.map((record) => withoutHidden(record, hidden)) }
}

function withoutHidden(record: JsonObject, hidden: readonly string[]): JsonObject {
  if (hidden.length === 0) return record
  const revisions = objectsIn(record.revisions).filter(
    ({ key }) => !hidden.some((name) => overlap(name, textIn(key))),
  )
  return { ...record, revisions }
}
