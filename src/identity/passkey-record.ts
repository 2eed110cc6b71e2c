/**
 * Passkeys, as `_passkeys` holds them: `{ credential_hash, credential_id, public_key, counter, transports, user_guid, name, host, created,
 * last_used, backed_up }`. A user's record has their number, so that a request need not count them.
 */
import { hash } from 'node:crypto'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn, textsIn } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'

export const MOST_PASSKEYS = 10

export interface PasskeyRecord {
  readonly guid: string
  readonly userGuid: string
  /** In base64url, as browsers write it. */
  readonly credentialId: string
  /** COSE, in base64url. */
  readonly publicKey: string
  /** Of its last use: a copy of the passkey has a lower one. */
  readonly counter: number
  readonly transports: readonly string[]
  readonly name: string
  readonly host: string
  readonly document: JsonObject
}

export function passkeyRecord(document: JsonObject): PasskeyRecord {
  return {
    guid: guidOf(document),
    userGuid: textIn(document.user_guid),
    credentialId: textIn(document.credential_id),
    publicKey: textIn(document.public_key),
    counter: numberIn(document.counter),
    transports: textsIn(document.transports),
    name: textIn(document.name),
    host: textIn(document.host),
    document,
  }
}

/** What its user may see. */
export function publicPasskey({ document }: PasskeyRecord): JsonObject {
  return {
    _meta: document._meta ?? null,
    name: textIn(document.name),
    created: numberIn(document.created),
    last_used: numberIn(document.last_used),
    host: textIn(document.host),
    backed_up: document.backed_up === true,
  }
}

/** The oldest first. */
export async function passkeysOf(session: Session, userGuid: string): Promise<readonly PasskeyRecord[]> {
  const ofUser = { kind: 'term', field: 'user_guid', value: userGuid } as const
  const oldestFirst = [{ field: 'created', order: 'asc', missing: 'last' }] as const
  const found = await findAll(session, systemStorages.passkeys, ofUser, MOST_PASSKEYS + 1, oldestFirst)
  return found.map(passkeyRecord)
}

export async function findPasskey(
  session: Session,
  credentialId: string,
): Promise<PasskeyRecord | undefined> {
  const key = credentialHash(credentialId)
  const found = await findOne(session, systemStorages.passkeys, 'credential_hash', key)
  return found && passkeyRecord(found)
}

/** CONFLICT where a user has it already. */
export async function createPasskey(
  session: Session,
  { credentialId, publicKey, counter, transports, userGuid, name, host }: NewPasskey,
  { backedUp, now }: { readonly backedUp: boolean; readonly now: number },
): Promise<JsonObject> {
  const fields = {
    ...{ credential_hash: credentialHash(credentialId), credential_id: credentialId, public_key: publicKey },
    ...{ counter, transports: [...transports], user_guid: userGuid, name, host },
    ...{ created: now, last_used: 0, backed_up: backedUp },
  }
  const created = await session.create(systemStorages.passkeys, setFields(fields))
  return documentOf(created)
}

export type NewPasskey = Omit<PasskeyRecord, 'guid' | 'document'>

export async function deletePasskeysOf(session: Session, userGuid: string): Promise<void> {
  for (const { guid } of await passkeysOf(session, userGuid))
    await session.delete(systemStorages.passkeys, guid)
}

function credentialHash(credentialId: string): string {
  return hash('sha256', credentialId, 'hex')
}
