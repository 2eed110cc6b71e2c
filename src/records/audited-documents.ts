/**
 * Audit records of the management API's changes to documents of builders' storages: each write with the values before and
 * after, an import or export as one record. Writes of flows are not audited; the history of a storage records those.
 */
import { yieldToEventLoop } from '../shared/cooperative.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import { isSecretName } from '../shared/names/secret-names.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import type { ManyChange } from '../storage/many/many-change.ts'
import type { StoredJson } from '../storage/stored-json.ts'
import type { AuditLog } from './audit-log.ts'
import { wholeOf } from './permissions/visible-page.ts'

const CATEGORY = 'documents'
/** Characters of a document that is looked at in a turn of its own: a list of a megabyte takes 20 ms to write and 25 to look at. */
const LONG = 65_536

/** In the transaction of the write. */
export async function auditDocument(
  audit: Pick<AuditLog, 'record'>,
  session: Session,
  storage: string,
  {
    action,
    before,
    after,
  }: {
    readonly action: 'created' | 'updated' | 'removed' | 'restored' | 'deleted'
    readonly before?: StoredJson
    readonly after: StoredJson
  },
): Promise<void> {
  if (after.text.length + (before?.text.length ?? 0) > LONG) await yieldToEventLoop()
  const is = documentOf(wholeOf(after))
  await audit.record(session, {
    category: CATEGORY,
    action,
    guid: guidOf(is),
    name: storage,
    before: before && documentOf(wholeOf(before)),
    after: is,
    shown: withoutSecrets,
  })
}

/** In the transaction that ends an import, or before the first document of an export is sent. */
export function auditTransfer(
  audit: Pick<AuditLog, 'record'>,
  session: Session,
  storage: string,
  action: 'imported' | 'exported',
  documents: number,
): MaybePromise<void> {
  return audit.record(session, {
    category: CATEGORY,
    action,
    guid: '',
    name: storage,
    before: undefined,
    after: { documents },
  })
}

const manyActions = { update: 'updated', remove: 'removed', restore: 'restored', delete: 'deleted' } as const

/** One record of a change of many documents, with the fields that it sets. `job`: of one that has yet to be done. */
export function auditMany(
  audit: Pick<AuditLog, 'record'>,
  session: Session,
  { storage, kind, mutations }: Pick<ManyChange, 'storage' | 'kind' | 'mutations'>,
  said: { readonly documents: number; readonly job?: string },
): MaybePromise<void> {
  const fields = mutations.map(({ field }) => field)
  return audit.record(session, {
    category: CATEGORY,
    action: manyActions[kind],
    guid: '',
    name: storage,
    before: {},
    after: { ...said, ...(fields.length > 0 && { fields }) },
  })
}

/** A user who may read the audit log may not be allowed to read the documents. The nesting of documents is bounded. */
function withoutSecrets(state: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [name, isSecretName(name) ? '•••' : visible(value)]),
  )
}

function visible(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => visible(item))
  return isJsonObject(value) ? withoutSecrets(value) : (value ?? null)
}
