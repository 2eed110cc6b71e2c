/** Records `{ asset, key, name, type, size, sha256, file }` of images that were made of assets: one for each asset and key. */

import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Query } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'

/** Of one asset; the oldest goes for the next one. */
export const MOST_VARIANTS = 64

export function openVariants(database: Database): Promise<void> {
  return database.ensure(ownStorages.assetImages, {
    indexes: [{ fields: ['asset', 'key'], unique: true }, { fields: ['file'] }],
  })
}

export async function findVariant(
  session: Session,
  asset: string,
  key: string,
): Promise<JsonObject | undefined> {
  const query: Query = { kind: 'and', queries: [term('asset', asset), term('key', key)] }
  const [found] = await findAll(session, ownStorages.assetImages, query, 1)
  return found
}

/** Of an asset, the oldest first. */
export function variantsOf(session: Session, asset: string): Promise<readonly JsonObject[]> {
  const oldest = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  return findAll(session, ownStorages.assetImages, term('asset', asset), 2 * MOST_VARIANTS, oldest)
}

export async function createVariant(session: Session, fields: JsonObject): Promise<JsonObject> {
  return documentOf(await session.create(ownStorages.assetImages, setFields(fields)))
}

/** False when it was deleted before. */
export async function deleteVariant(session: Session, record: JsonObject): Promise<boolean> {
  return (await session.delete(ownStorages.assetImages, guidOf(record))).outcome === 'written'
}

function term(field: string, value: string): Query {
  return { kind: 'term', field, value }
}
