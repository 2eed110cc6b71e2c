/** One document of a builder's storage, for the management API. The document's history names the user of each write. */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Search } from '../../shared/query.ts'
import type { Session, Written } from '../../storage/database.ts'
import { findWithTotal } from '../../storage/find-documents.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { transactAgain } from '../../storage/transact.ts'
import { auditDocument } from '../audited-documents.ts'
import { type Actor, notFound } from '../records.ts'
import { type PermittedContext, storageNamed } from '../storage-records.ts'
import { checkExpand, referringSearch, withReferred } from './referred-documents.ts'

/** Which document: guids of its storage and its own. */
export interface DocumentPlace {
  readonly guid: string
  readonly document: string
}

export interface FoundDocuments {
  /** A JSON array, as it is stored. */
  readonly documents: StoredJson
  readonly total: number
  readonly next: string | undefined
}

/** `expand`: names of references to follow. Filters lead through references too. */
export async function searchDocuments(
  context: PermittedContext,
  guid: string,
  requested: Search,
  expand: readonly string[] = [],
): Promise<FoundDocuments> {
  return inStorage(context, guid, async (name) => {
    const session = context.records.database.session()
    checkExpand(expand, requested.limit)
    const { found, total } = await findWithTotal(
      session,
      name,
      await referringSearch(session, name, requested),
    )
    const documents = await withReferred(session, name, found.documents, expand)
    return { documents, total, next: found.next() }
  })
}

export async function getDocument(
  context: PermittedContext,
  { guid, document }: DocumentPlace,
  expand: readonly string[] = [],
): Promise<StoredJson> {
  return inStorage(context, guid, async (name) => {
    const session = context.records.database.session()
    const stored = await session.get(name, document)
    if (!stored) throw notFound(document, 'document')
    checkExpand(expand, 1)
    return withReferred(session, name, stored, expand)
  })
}

/** `fields` by dotted name. `expiry`: Unix seconds at which the document is deleted. */
export async function createDocument(
  context: PermittedContext,
  guid: string,
  fields: JsonObject,
  expiry: number | undefined,
  by: Actor,
): Promise<StoredJson> {
  return inStorage(context, guid, (name) =>
    transactAgain(
      context.records.database,
      async (session) => {
        const options = expiry === undefined ? {} : { expiry }
        const after = await session.create(name, setFields(fields), options)
        await auditDocument(context.audit, session, name, { action: 'created', after })
        return after
      },
      { user: by },
    ),
  )
}

/** Changes what is given. CONFLICT if `updateHash` is given and no longer the document's. */
export function updateDocument(
  context: PermittedContext,
  place: DocumentPlace,
  fields: JsonObject,
  updateHash: string | undefined,
  by: Actor,
): Promise<StoredJson> {
  return change(context, place, by, 'updated', (session, name) =>
    session.update(name, place.document, setFields(fields), updateHash === undefined ? {} : { updateHash }),
  )
}

/** Soft, so that it can be restored; `hard`: permanently, also if it was removed before. */
export function removeDocument(
  context: PermittedContext,
  place: DocumentPlace,
  hard: boolean,
  by: Actor,
): Promise<StoredJson> {
  return change(context, place, by, hard ? 'deleted' : 'removed', (session, name) =>
    hard ? session.delete(name, place.document) : session.setRemoved(name, place.document, true),
  )
}

/** NOT_FOUND if there is no such document among the removed ones. */
export function restoreDocument(
  context: PermittedContext,
  place: DocumentPlace,
  by: Actor,
): Promise<StoredJson> {
  return change(context, place, by, 'restored', (session, name) =>
    session.setRemoved(name, place.document, false),
  )
}

function change(
  context: PermittedContext,
  { guid, document }: DocumentPlace,
  by: Actor,
  action: 'updated' | 'removed' | 'restored' | 'deleted',
  write: (session: Session, name: string) => Written | Promise<Written>,
): Promise<StoredJson> {
  return inStorage(context, guid, (name) =>
    transactAgain(
      context.records.database,
      async (session) => {
        const written = await write(session, name)
        if (written.outcome === 'not_found') throw notFound(document, 'document')
        // No condition is given here that could refuse.
        if (written.outcome !== 'written')
          throw new QuoinError(
            'CONFLICT',
            `Another client changed the document ${document}. Read it again, then change it.`,
          )
        const { before, document: after } = written
        await auditDocument(context.audit, session, name, { action, before, after })
        return after
      },
      { user: by },
    ),
  )
}

/** Does work in the storage of that guid. NOT_FOUND if it does not exist, or was deleted during the work. */
async function inStorage<T>(
  context: PermittedContext,
  guid: string,
  work: (name: string) => Promise<T>,
): Promise<T> {
  const name = await storageNamed(context, guid)
  try {
    return await work(name)
  } catch (error) {
    // To an engine a missing table is an internal error; only here it is known that a user has deleted the storage.
    if (!(error instanceof QuoinError) || error.code === 'INTERNAL') {
      if (!context.records.database.has(name)) throw notFound(guid, 'storage')
      await storageNamed(context, guid)
    }
    throw error
  }
}
