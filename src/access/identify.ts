import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { agentTokenHash, identifyAgent } from '../identity/agent-grants.ts'
import { sessionEnd } from '../identity/second-factor.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Random } from '../shared/guid.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Mutation } from '../shared/mutation.ts'
import { type Database, documentOf } from '../storage/database.ts'
import { guidOf, numberIn, textIn, updateHashOf } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type AccessContext, type TokenExtension, unixSeconds } from './access-context.ts'
import type { Identity } from './identity-cache.ts'
import { apiKeyHash, identifyKey } from './keys/api-key-text.ts'
import { activeGroupsOf, scopesIn } from './scopes.ts'
import { publicUser, userRecord } from './user-record.ts'

// Gives a token that is used its full lifetime again.

/** Far longer than a write takes. Who asks is known by then, and where writes hang, reads should not. */
const PATIENCE_MS = 1_000

/** False if the token is gone. */
async function extendToken(
  context: AccessContext,
  token: JsonObject,
  userGuid: string,
  now: number,
): Promise<boolean> {
  const guid = guidOf(token)
  const extension =
    context.extensions.get(guid) ?? begin(context, guid, extend(context, token, userGuid, now))
  if (extension.isLate) return true
  return Promise.race([
    extension.done,
    wait(PATIENCE_MS, undefined, { ref: false }).then(() => late(extension)),
  ])
}

function begin({ extensions }: AccessContext, guid: string, done: Promise<boolean>): TokenExtension {
  const extension = { done, isLate: false }
  extensions.set(guid, extension)
  done.catch(() => undefined).finally(() => extensions.delete(guid))
  return extension
}

function late(extension: TokenExtension): true {
  extension.isLate = true
  return true
}

/**
 * Also notes that the user was here. The update hash keeps requests that come together from writing twice, and a token that
 * was signed out from coming back.
 */
async function extend(
  context: AccessContext,
  token: JsonObject,
  userGuid: string,
  now: number,
): Promise<boolean> {
  const expiry: Mutation = { op: 'set', field: 'expiry', value: now + context.settings.tokenSeconds }
  const seen: Mutation = { op: 'set', field: 'last_activity', value: now }
  const updateHash = updateHashOf(token)
  try {
    return await transact(context.database, async (session) => {
      // The user first, as everywhere: two transactions that take both never wait for each other crosswise.
      await session.update(systemStorages.users, userGuid, [seen])
      const extended = await session.update(systemStorages.tokens, guidOf(token), [expiry], { updateHash })
      if (extended.outcome !== 'written') await session.transaction.rollback()
      return extended.outcome !== 'not_found'
    })
  } catch (error) {
    // A full disk or a busy writer is no reason to turn away who can be told: reading still works.
    if (error instanceof QuoinError && (error.code === 'STORAGE_FULL' || error.code === 'UNAVAILABLE'))
      return true
    throw error
  }
}

const MAX_EXTENSION_INTERVAL = 3600

/** What {@link identify} would give, if that is known without reading. */
export function knownIdentity({ identities, clock }: AccessContext, token: string): Identity | undefined {
  const tokenHash = accessTokenHash(token) ?? apiKeyHash(token) ?? agentTokenHash(token)
  return tokenHash === undefined ? undefined : identities.get(tokenHash, unixSeconds(clock))
}

/**
 * Who a token or an API key belongs to; undefined if it is unknown or expired, its user is inactive or removed, or a session's user lacks a
 * second factor that is required by now. One indexed read each for token, user and groups (none without groups).
 */
export async function identify(context: AccessContext, token: string): Promise<Identity | undefined> {
  const tokenHash = accessTokenHash(token)
  if (tokenHash === undefined) {
    const keyHash = apiKeyHash(token)
    if (keyHash !== undefined) return identifyKey(context, keyHash)
    const agentHash = agentTokenHash(token)
    return agentHash === undefined ? undefined : identifyAgent(context, agentHash)
  }
  const now = unixSeconds(context.clock)
  const keep = context.identities.looking(tokenHash)
  const session = context.database.session()
  const record = await findOne(session, systemStorages.tokens, 'token_hash', tokenHash)
  if (!record || numberIn(record.expiry) <= now) return undefined
  const stored = await session.get(systemStorages.users, textIn(record.user_guid))
  const user = stored && userRecord(documentOf(stored))
  if (!user?.isActive) return undefined
  const groups = await activeGroupsOf(session, user)
  const scopes = new Set([...user.customScopes, ...scopesIn(groups)])
  const ends = await sessionEnd(context, session, user, { groups, provider: textIn(record.provider), now })
  if (ends <= now) return undefined
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
  keep(identity, Math.min(due, numberIn(record.expiry), ends))
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
 * Access tokens: `q1_` and 256 random bits in base64url. The prefix lets secret scanners find a leaked one. Only the
 * SHA-256 is stored; with 256 random bits a slow hash would add nothing.
 */
const TOKEN = /^q1_[A-Za-z0-9_-]{43}$/

export function newAccessToken(random: Random): string {
  const bytes = Buffer.alloc(32)
  random(bytes)
  return `q1_${bytes.toString('base64url')}`
}

/** What a token is stored and found under; undefined for a text that cannot be a token, which is then not looked up. */
export function accessTokenHash(token: string): string | undefined {
  return TOKEN.test(token) ? hash('sha256', token, 'hex') : undefined
}

/**
 * Deletes up to 50 records whose time (`field`, Unix seconds) is over. Called by each sign-in for the storages that
 * sign-ins fill: these then shrink faster than they grow, without a timer. In order of their time, so that two nodes
 * that delete at once do not wait for each other crosswise.
 */
export async function deleteExpired(
  database: Database,
  name: string,
  field: string,
  now: number,
): Promise<void> {
  const isOver = { kind: 'range', field, bounds: { lte: now } } as const
  const oldestFirst = { field, order: 'asc', missing: 'last' } as const
  const over = await findAll(database.session(), name, isOver, 50, [oldestFirst])
  if (over.length === 0) return
  await transact(database, async (session) => {
    for (const record of over) {
      const deleted = await session.delete(name, guidOf(record))
      // It was restarted since it was found: leave it to the next sign-in.
      if (deleted.outcome === 'written' && numberIn(documentOf(deleted.document)[field]) > now)
        return session.transaction.rollback()
    }
    return undefined
  })
}
