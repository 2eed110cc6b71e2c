/**
 * Documents that a blueprint file brings along, such as the cities of the example: they go only into a storage that never
 * held a document, so that a second installation does not double them and a deleted one does not come back.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import type { NewDocument, Session } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import type { PermittedDatabase } from '../../storage/validated.ts'
import { auditTransfer } from '../audited-documents.ts'
import type { Actor } from '../records.ts'
import { createStorage, type StorageContext } from '../storage-records.ts'

/** Written at once; then the event loop turns. 100 cities take about 5 ms. */
const BATCH = 100

interface Samples {
  readonly storage: string
  readonly documents: readonly JsonObject[]
  /** `_meta.guid` of a document becomes its guid; without it the guids are ignored. */
  readonly withGuids?: boolean
}

/** Gives how many were stored: all or none. Creates the storage if it is missing. INVALID_BODY for the first that does not fit. */
export async function addSampleDocuments(
  context: StorageContext,
  /** On behalf of whom the documents are created; that the storage is empty is asked of all. */
  permitted: PermittedDatabase,
  { storage, documents, withGuids = false }: Samples,
  by: Actor,
): Promise<number> {
  const { database } = context.records
  await unlessThere(createStorage(context, { name: storage }, by))
  // Two installations at once would both find the storage empty.
  return database.capabilities.withClusterLock(`samples ${storage}`, () =>
    transact(
      permitted,
      async (session) => {
        if ((await database.session().count(storage, matchAll, true)) > 0) return 0
        for (let at = 0; at < documents.length; at += BATCH) {
          const batch = documents.slice(at, at + BATCH)
          await createBatch(
            session,
            storage,
            batch.map((one) => newDocument(one, withGuids)),
            at,
          )
          await nextTurn()
        }
        await auditTransfer(context.audit, session, storage, 'imported', documents.length)
        return documents.length
      },
      { user: by },
    ),
  )
}

/** Of a file. */
export function newDocument({ _meta, ...fields }: JsonObject, withGuid: boolean): NewDocument {
  const guid = withGuid && isJsonObject(_meta) ? textIn(_meta.guid) : ''
  return { mutations: setFields(fields), options: guid === '' ? {} : { guid } }
}

async function createBatch(session: Session, storage: string, requested: readonly NewDocument[], at: number) {
  const { documents: created, refused } = await createAll(session, storage, requested)
  if (!refused) return
  const number = at + created.length + 1
  throw new QuoinError(refused.code, `Document ${number} for ${storage}: ${refused.message}`, {
    fields: refused.fields,
    cause: refused,
  })
}

async function unlessThere(made: Promise<unknown>): Promise<void> {
  try {
    await made
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'CONFLICT') throw error
  }
}
