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
