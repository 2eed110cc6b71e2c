/**
 * API keys as `_api_keys` keeps them: `{ name, user_guid, hint, scopes, endpoints, expiry, key_hash, previous_hash,
 * previous_until, created_by }`, times in Unix seconds, 0 = never. A rotation moves `key_hash` to `previous_hash`, which is
 * valid until `previous_until`. When a key was used is a record of its own (`key-uses.ts`).
 */
import type { JsonObject } from '../../shared/json.ts'
import type { Session } from '../../storage/database.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf, numberIn, textIn, textsIn } from '../../storage/document-fields.ts'
import { findAll, findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { firstMissingScope, holds } from '../scopes.ts'

/** Keys of one user. */
export const MAX_KEYS = 100

export interface FoundKey {
  readonly record: JsonObject
  /** Unix seconds at which the secret that was sent ends to be valid; Infinity = never. */
  readonly until: number
}

/** The key with this secret, unless the secret has expired. One indexed read, two for a secret that was rotated. */
export async function findKey(session: Session, keyHash: string, now: number): Promise<FoundKey | undefined> {
  const current = await findOne(session, systemStorages.apiKeys, 'key_hash', keyHash)
  const record = current ?? (await findOne(session, systemStorages.apiKeys, 'previous_hash', keyHash))
  if (!record) return undefined
  const until = Math.min(endOf(record.expiry), current ? Infinity : numberIn(record.previous_until))
  return until > now ? { record, until } : undefined
}

function endOf(expiry: JsonObject[string] | undefined): number {
  return numberIn(expiry) || Infinity
}

/** All keys of a user, the oldest first. */
export function keysOf(session: Session, userGuid: string): Promise<JsonObject[]> {
  const oldestFirst = { field: '_meta.cms', order: 'asc', missing: 'last' } as const
  return findAll(
    session,
    systemStorages.apiKeys,
    { kind: 'term', field: 'user_guid', value: userGuid },
    MAX_KEYS,
    [oldestFirst],
  )
}

/** The key, if it belongs to the user. */
export async function keyOf(
  session: Session,
  userGuid: string,
  guid: string,
): Promise<JsonObject | undefined> {
  const stored = await session.get(systemStorages.apiKeys, guid)
  const record = stored && documentOf(stored)
  return record?.user_guid === userGuid ? record : undefined
}

/** Deletes all keys of a user that is removed. */
export async function deleteKeysOf(session: Session, userGuid: string): Promise<void> {
  for (const record of await keysOf(session, userGuid)) await deleteKey(session, guidOf(record))
}

export async function deleteKey(session: Session, guid: string): Promise<void> {
  const use = await findOne(session, systemStorages.apiKeyUses, 'key_guid', guid)
  if (use) await session.delete(systemStorages.apiKeyUses, guidOf(use))
  await session.delete(systemStorages.apiKeys, guid)
}

/** What a key holds now: of its scopes those that its owner holds. `*` is everything that the owner holds. */
export function scopesOfKey(record: JsonObject, owner: ReadonlySet<string>): ReadonlySet<string> {
  const scopes = textsIn(record.scopes)
  return scopes.includes('*') ? owner : new Set(scopes.filter((scope) => holds(owner, scope)))
}

/** The first of a key's scopes that its owner does not hold. */
export function missingForOwner(scopes: readonly string[], owner: ReadonlySet<string>): string | undefined {
  return firstMissingScope(
    owner,
    scopes.filter((scope) => scope !== '*'),
  )
}

/** What may leave this room: no secret and no hash. */
export function publicKey(record: JsonObject, lastUsed: number): JsonObject {
  return {
    _meta: record._meta ?? null,
    name: textIn(record.name),
    user_guid: textIn(record.user_guid),
    hint: textIn(record.hint),
    scopes: textsIn(record.scopes),
    endpoints: textsIn(record.endpoints),
    expiry: numberIn(record.expiry),
    previous_until: numberIn(record.previous_until),
    last_used: lastUsed,
    created_by: record.created_by ?? null,
  }
}
