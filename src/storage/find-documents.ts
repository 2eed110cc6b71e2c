import { inTurns, type Pause } from '../shared/in-turns.ts'
import type { JsonObject } from '../shared/json.ts'
import { type Query, type SortKey, search } from '../shared/query.ts'
import type { Found, Session } from './database.ts'
import { objectsIn } from './document-fields.ts'

/** The documents of a page, parsed. */
export function documentsOf(found: Found): JsonObject[] {
  return objectsIn(found.documents.value)
}

/** The present document whose field has this value; the field has a unique index. */
export async function findOne(
  session: Session,
  storage: string,
  field: string,
  value: string,
): Promise<JsonObject | undefined> {
  const [document] = await findAll(session, storage, { kind: 'term', field, value }, 1)
  return document
}

/** The present documents that match, up to `limit` of them. */
export async function findAll(
  session: Session,
  storage: string,
  query: Query,
  limit: number,
  sort: readonly SortKey[] = [],
): Promise<JsonObject[]> {
  return documentsOf(await session.find(storage, search({ query, limit, sort })))
}

/** The same in several turns of the event loop; all of them are of one moment. */
export async function findInTurns(
  session: Session,
  storage: string,
  wanted: { readonly query: Query; readonly limit: number; readonly sort: readonly SortKey[] },
  pause?: Pause,
): Promise<JsonObject[]> {
  const { documents } = await session.find(storage, search(wanted))
  return objectsIn(await inTurns(documents.inSteps(), pause))
}
