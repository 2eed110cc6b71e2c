import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Mutation } from '../shared/mutation.ts'
import { guidOf, numberIn, textIn, updateHashOf } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { documentOf } from '../storage/storage.ts'
import { transact } from '../storage/transact.ts'
import type { AccessContext } from './access-context.ts'
import { unixSeconds } from './access-context.ts'
import { accessTokenHash } from './access-token.ts'
import { scopesOf } from './groups.ts'
import type { Identity } from './identity.ts'
import { TOKENS } from './tokens.ts'
import { publicUser, USERS, userRecord } from './user-record.ts'

const MAX_EXTENSION_INTERVAL = 3600

/** What {@link identify} would give, if that is known without reading. */
export function knownIdentity({ identities, clock }: AccessContext, token: string): Identity | undefined {
  const tokenHash = accessTokenHash(token)
  return tokenHash === undefined ? undefined : identities.get(tokenHash, unixSeconds(clock))
}

/**
 * Who a token belongs to; undefined if it is unknown or expired, or its user is inactive or removed. One indexed read
 * each for token, user and groups (none without groups).
 */
export async function identify(context: AccessContext, token: string): Promise<Identity | undefined> {
  const tokenHash = accessTokenHash(token)
  if (tokenHash === undefined) return undefined
  const now = unixSeconds(context.clock)
  const keep = context.identities.looking(tokenHash)
  const session = context.storage.session()
  const record = await findOne(session, TOKENS, 'token_hash', tokenHash)
  if (!record || numberIn(record.expiry) <= now) return undefined
  const stored = await session.get(USERS, textIn(record.user_guid))
  const user = stored && userRecord(documentOf(stored))
  if (!user?.isActive) return undefined
  const scopes = await scopesOf(session, user)
  const due = dueAt(context, record)
  if (due <= now && !(await extend(context, record, user.guid, now))) return undefined
  const identity: Identity = {
    guid: user.guid,
    username: user.username,
    scopes,
    user: publicUser(user.document),
    tokenGuid: guidOf(record),
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

/**
 * Gives the token its full lifetime again and notes that the user was here. The update hash keeps requests that come
 * together from writing twice, and a token that was signed out from coming back. False if it is gone.
 */
async function extend(context: AccessContext, token: JsonObject, userGuid: string, now: number) {
  const expiry: Mutation = { op: 'set', field: 'expiry', value: now + context.settings.tokenSeconds }
  const seen: Mutation = { op: 'set', field: 'last_activity', value: now }
  const updateHash = updateHashOf(token)
  try {
    return await transact(context.storage, async (session) => {
      // The user first, as everywhere: two transactions that take both never wait for each other crosswise.
      await session.update(USERS, userGuid, [seen])
      const extended = await session.update(TOKENS, guidOf(token), [expiry], { updateHash })
      if (extended.outcome !== 'written') await session.rollback()
      return extended.outcome !== 'not_found'
    })
  } catch (error) {
    // A full disk or a busy writer is no reason to turn away who can be told: reading still works.
    if (error instanceof QuoinError && (error.code === 'STORAGE_FULL' || error.code === 'UNAVAILABLE'))
      return true
    throw error
  }
}
