import type { JsonObject } from '../shared/json.ts'
import { documentOf } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { ownStorages } from '../storage/own-storages.ts'
import type { AccessContext } from './access-context.ts'
import { unixSeconds } from './access-context.ts'
import { accessTokenHash } from './access-token.ts'
import { extendToken } from './extend-token.ts'
import { scopesOf } from './groups.ts'
import type { Identity } from './identity.ts'
import { apiKeyHash } from './keys/api-key-text.ts'
import { identifyKey } from './keys/identify-key.ts'
import { publicUser, userRecord } from './user-record.ts'

const MAX_EXTENSION_INTERVAL = 3600

/** What {@link identify} would give, if that is known without reading. */
export function knownIdentity({ identities, clock }: AccessContext, token: string): Identity | undefined {
  const tokenHash = accessTokenHash(token) ?? apiKeyHash(token)
  return tokenHash === undefined ? undefined : identities.get(tokenHash, unixSeconds(clock))
}

/**
 * Who a token or an API key belongs to; undefined if it is unknown or expired, or its user is inactive or removed. One indexed read
 * each for token, user and groups (none without groups).
 */
export async function identify(context: AccessContext, token: string): Promise<Identity | undefined> {
  const tokenHash = accessTokenHash(token)
  if (tokenHash === undefined) {
    const keyHash = apiKeyHash(token)
    return keyHash === undefined ? undefined : identifyKey(context, keyHash)
  }
  const now = unixSeconds(context.clock)
  const keep = context.identities.looking(tokenHash)
  const session = context.database.session()
  const record = await findOne(session, ownStorages.tokens, 'token_hash', tokenHash)
  if (!record || numberIn(record.expiry) <= now) return undefined
  const stored = await session.get(ownStorages.users, textIn(record.user_guid))
  const user = stored && userRecord(documentOf(stored))
  if (!user?.isActive) return undefined
  const scopes = await scopesOf(session, user)
  const due = dueAt(context, record)
  if (due <= now && !(await extendToken(context, record, user.guid, now))) return undefined
  const identity: Identity = {
    guid: user.guid,
    username: user.username,
    scopes,
    user: publicUser(user.document),
    tokenGuid: guidOf(record),
    confirmed: numberIn(record.confirmed) || numberIn(record.created),
  }
  keep(identity, Math.min(due, numberIn(record.expiry)))
  return identity
}

/**
 * From when (Unix seconds) the token's next use is written down: once an hour; where tokens live less than two, at half of
 * their life, or use would not keep them alive.
 */
function dueAt({ settings }: AccessContext, token: JsonObject): number {
  const lastWritten = numberIn(token.expiry) - settings.tokenSeconds
  return lastWritten + Math.min(MAX_EXTENSION_INTERVAL, Math.ceil(settings.tokenSeconds / 2))
}
