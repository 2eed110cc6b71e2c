import type { JsonObject } from '../shared/json.ts'
import { isJsonObject } from '../shared/json.ts'
import type { Query, SortKey } from '../shared/query.ts'
import { search } from '../shared/query.ts'
import type { Found, Session } from '../storage/storage.ts'

/** The documents of a page, parsed. */
export function documentsOf(found: Found): readonly JsonObject[] {
  const value = found.documents.value
  return Array.isArray(value) ? value.filter(isJsonObject) : []
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

export async function findAll(
  session: Session,
  storage: string,
  query: Query,
  limit: number,
  sort: readonly SortKey[] = [],
): Promise<readonly JsonObject[]> {
  return documentsOf(await session.find(storage, search({ query, limit, sort })))
}
