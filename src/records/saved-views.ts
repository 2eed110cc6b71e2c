/** Saved views of the documents of a storage: what the studio filters, sorts and shows, under a name; own ones and shared ones. */
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import type { Query } from '../shared/query.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type Actor, notFound } from './records.ts'

const { views } = systemStorages
const MOST_OF_USER = 50
const MOST_OF_STORAGE = 500

export interface ViewInput {
  readonly name: string
  readonly shared?: boolean
  /** Filters, order, columns and widths, as words of an address. */
  readonly address: string
}

export interface Viewer extends Actor {
  /** May change shared views of others. */
  readonly manages: boolean
}

/** Those of the user and those that are shared, by name. */
export async function viewsOf(database: Database, storage: string, viewer: Viewer): Promise<JsonObject[]> {
  const mine: Query = { kind: 'term', field: 'created_by.guid', value: viewer.guid }
  const shared: Query = { kind: 'term', field: 'shared', value: true }
  const query: Query = { kind: 'and', queries: [ofStorage(storage), { kind: 'or', queries: [mine, shared] }] }
  const byName = [{ field: 'name', order: 'asc', missing: 'last' } as const]
  return findAll(database.session(), views, query, MOST_OF_STORAGE, byName)
}

/** CONFLICT when there are too many. */
export async function createView(
  database: Database,
  storage: string,
  { name, shared = false, address }: ViewInput,
  { guid, username }: Viewer,
): Promise<JsonObject> {
  const by = { guid, username }
  return transact(
    database,
    async (session) => {
      const own: Query = { kind: 'term', field: 'created_by.guid', value: guid }
      await refuseMore(session, { kind: 'and', queries: [ofStorage(storage), own] }, MOST_OF_USER)
      await refuseMore(session, ofStorage(storage), MOST_OF_STORAGE)
      const fields = { storage, name, shared, address, created_by: by, modified_by: by }
      return documentOf(await session.create(views, setFields(fields)))
    },
    { user: by },
  )
}

async function refuseMore(session: Session, query: Query, most: number): Promise<void> {
  if ((await session.count(views, query)) < most) return
  throw new QuoinError(
    'CONFLICT',
    `A storage has at most ${MOST_OF_USER} views of a user and ${MOST_OF_STORAGE} in all. Delete some first.`,
  )
}

/** Changes what is given. NOT_FOUND for a view that the user may not change. */
export function updateView(
  database: Database,
  place: { readonly storage: string; readonly view: string },
  changes: Partial<ViewInput>,
  viewer: Viewer,
): Promise<JsonObject> {
  return change(database, place, viewer, async (session, by) => {
    const { name, shared, address } = changes
    const fields = setFields({ name, shared, address, modified_by: by })
    const written = await session.update(views, place.view, fields)
    if (written.outcome !== 'written') throw notFound(place.view, 'view')
    return documentOf(written.document)
  })
}

export async function removeView(
  database: Database,
  place: { readonly storage: string; readonly view: string },
  viewer: Viewer,
): Promise<void> {
  await change(database, place, viewer, (session) => session.delete(views, place.view))
}

/** When a storage is deleted: one of the same name begins without views. */
export async function forgetViews(session: Session, storage: string): Promise<void> {
  for (const view of await findAll(session, views, ofStorage(storage), MOST_OF_STORAGE))
    await session.delete(views, guidOf(view))
}

function change<T>(
  database: Database,
  { storage, view }: { readonly storage: string; readonly view: string },
  { guid, username, manages }: Viewer,
  work: (session: Session, by: JsonObject) => T | Promise<T>,
): Promise<T> {
  const by = { guid, username }
  return transact(
    database,
    async (session) => {
      const stored = await session.get(views, view)
      const record = stored && documentOf(stored)
      const author = record?.created_by
      const isOwn = typeof author === 'object' && author !== null && 'guid' in author && author.guid === guid
      if (record?.storage !== storage || !(isOwn || (manages && record.shared === true)))
        throw notFound(view, 'view')
      return work(session, by)
    },
    { user: by },
  )
}

function ofStorage(storage: string): Query {
  return { kind: 'term', field: 'storage', value: storage }
}
