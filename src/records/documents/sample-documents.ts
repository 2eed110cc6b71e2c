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
  /** Their guids are ignored. */
  readonly documents: readonly JsonObject[]
}

/** Gives how many were stored: all or none. Creates the storage if it is missing. INVALID_BODY for the first that does not fit. */
export async function addSampleDocuments(
  context: StorageContext,
  /** On behalf of whom the documents are created; that the storage is empty is asked of all. */
  permitted: PermittedDatabase,
  { storage, documents }: Samples,
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
        await createSamples(
          session,
          storage,
          documents.map((one) => newDocument(one)),
        )
        await auditTransfer(context.audit, session, storage, 'imported', documents.length)
        return documents.length
      },
      { user: by },
    ),
  )
}

/** Of a file. `withGuid`: `_meta.guid` becomes its guid. */
export function newDocument({ _meta, ...fields }: JsonObject, withGuid = false): NewDocument {
  const guid = withGuid && isJsonObject(_meta) ? textIn(_meta.guid) : ''
  return { mutations: setFields(fields), options: guid === '' ? {} : { guid } }
}

/** Throws for the first that does not fit, with its number. */
export async function createSamples(
  session: Session,
  storage: string,
  documents: readonly NewDocument[],
): Promise<void> {
  for (let at = 0; at < documents.length; at += BATCH) {
    const { documents: created, refused } = await createAll(session, storage, documents.slice(at, at + BATCH))
    if (refused)
      throw new QuoinError(
        refused.code,
        `Document ${at + created.length + 1} for ${storage}: ${refused.message}`,
        { fields: refused.fields, cause: refused },
      )
    await nextTurn()
  }
}

async function unlessThere(made: Promise<unknown>): Promise<void> {
  try {
    await made
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'CONFLICT') throw error
  }
}
