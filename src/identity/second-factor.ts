/**
 * The second factor of a user: an authenticator app with ten recovery codes, in the user's record. `totp_secret` is sealed with the
 * key of secrets, recovery codes are hashed. Every function here runs in a transaction that has written the user first, so
 * that two nodes cannot take one code twice.
 *
 * Wrong codes are counted on the user, whatever their address: ten lock the factor for `lockoutSeconds`, each further ten for twice as
 * long, at most a day. Only a right code counts from 0 again. So who knows the password guesses about ten codes a day, of which each
 * is right with a chance of 3 in 1,000,000.
 */
import type { AccessContext } from '../access/access-context.ts'
import { refuseWhileLocked } from '../access/lockout.ts'
import { activeGroupsOf, administratorGroups, scopesIn } from '../access/scopes.ts'
import type { UserRecord } from '../access/user-record.ts'
import { seal, sealedBy, unseal } from '../records/secrets/secrets.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { type Mutation, setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn, textsIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { newRecoveryCodes, recoveryCodeHash, type Totp, typedCode } from './one-time-code.ts'

const CODES_BEFORE_LOCK = 10
const LONGEST_LOCK = 86_400
const DAY = 86_400
/** For which a provider counts as trusted with the factor until that is looked up again. */
const TRUSTED_SECONDS = 60

/** Fields of a user's record that the factor has. Without it there are none. */
const factorFields = [
  'totp_secret',
  'totp_since',
  'totp_used',
  'totp_step',
  'passkeys',
  'recovery_codes',
  'factor_failures',
  'factor_locked_until',
] as const

/** An app or a passkey. */
export function hasSecondFactor(user: JsonObject): boolean {
  return hasApp(user) || passkeyCount(user) > 0
}

export function hasApp(user: JsonObject): boolean {
  return textIn(user.totp_secret) !== ''
}

export function passkeyCount(user: JsonObject): number {
  return numberIn(user.passkeys)
}

/**
 * Days until the user has to have a factor; undefined where nothing requires one. What a group with `*` requires holds for all who hold `*`,
 * whatever they have it from: a scope of one's own is no way around it.
 */
async function graceDays(
  session: Session,
  { customScopes }: UserRecord,
  groups: readonly JsonObject[],
): Promise<number | undefined> {
  const isAdministrator = customScopes.includes('*') || scopesIn(groups).includes('*')
  const requiring = isAdministrator ? [...groups, ...(await administratorGroups(session))] : groups
  const days = requiring.flatMap(({ second_factor_days: found }) =>
    typeof found === 'number' ? [found] : [],
  )
  return days.length === 0 ? undefined : Math.min(...days)
}

/**
 * Unix seconds from which a session of the user is over, because a factor is required and there is none, or that has to be looked up again;
 * Infinity for never. The next sign-in sets one up. `provider`: guid of where the session comes from, or empty; `groups`: active ones.
 */
export async function sessionEnd(
  context: AccessContext,
  session: Session,
  user: UserRecord,
  { groups, provider, now }: { groups: readonly JsonObject[]; provider: string; now: number },
): Promise<number> {
  if (hasSecondFactor(user.document)) return Number.POSITIVE_INFINITY
  if (provider !== '' && context.providers.withGuid(provider)?.trusts_factor) return now + TRUSTED_SECONDS
  const days = await graceDays(session, user, groups)
  if (days === undefined) return Number.POSITIVE_INFINITY
  const began = numberIn(user.document.factor_required_since)
  if (began === 0 && days > 0) await beginGrace(context, user.guid, now)
  return (began || now) + days * DAY
}

/** For who was signed in when the group began to require it: there may be no sign-in that begins it for weeks. */
async function beginGrace({ database }: AccessContext, guid: string, now: number): Promise<void> {
  try {
    await transact(database, async (session) => {
      const stored = await session.get(systemStorages.users, guid)
      if (!stored || numberIn(documentOf(stored).factor_required_since) > 0) return
      await session.update(systemStorages.users, guid, setFields({ factor_required_since: now }))
    })
  } catch (error) {
    // As of a token that is used: reading still works, and the next request tries again.
    if (error instanceof QuoinError && (error.code === 'STORAGE_FULL' || error.code === 'UNAVAILABLE')) return
    throw error
  }
}

/** What a sign-in with the right password still needs. `due`: Unix seconds from which a factor is required; 0 for never. */
export async function neededFactor(
  session: Session,
  user: UserRecord,
  now: number,
): Promise<{ readonly needs: 'code' | 'setup' | undefined; readonly due: number }> {
  const { document } = user
  if (hasSecondFactor(document)) return { needs: 'code', due: 0 }
  const days = await graceDays(session, user, await activeGroupsOf(session, user))
  const began = numberIn(document.factor_required_since)
  if (days === undefined) {
    if (began > 0) await session.update(systemStorages.users, guidOf(document), [noGrace])
    return { needs: undefined, due: 0 }
  }
  // The grace time begins with the first sign-in or request for which a factor is required, and once: not again for who removes a factor.
  const since = began || now
  if (since === now)
    await session.update(systemStorages.users, guidOf(document), setFields({ factor_required_since: now }))
  const due = since + days * DAY
  return { needs: due <= now ? 'setup' : undefined, due }
}

/** Why there can be no app, and what the operator does; undefined where there can. */
export function missingKey({ settings: { secretKeys } }: AccessContext): string | undefined {
  if (secretKeys?.current) return undefined
  return `An authenticator app needs a key for secrets. ${secretKeys?.missing ?? 'None is set.'}`
}

/** A new secret for an app, sealed. CONFLICT without a key that seals. */
export function newSecret(context: AccessContext, totp: Totp, { guid, username }: UserRecord) {
  const key = context.settings.secretKeys?.current
  if (!key) throw new QuoinError('CONFLICT', missingKey(context) ?? '')
  const secret = totp.newSecret(context.random)
  const uri = totp.uriOf(secret, { issuer: context.settings.siteName || 'Quoin', username })
  return { secret, uri, sealed: seal(key, sealedAs(guid), secret, context.random) }
}

/** What an app is told of a secret that is being set up. */
export function setupOf(
  context: AccessContext,
  totp: Totp,
  { guid, username }: Pick<UserRecord, 'guid' | 'username'>,
  sealed: string,
) {
  const secret = opened(context, guid, sealed)
  return { secret, uri: totp.uriOf(secret, { issuer: context.settings.siteName || 'Quoin', username }) }
}

/** Whether a code is one of an app whose secret is not stored yet; its step if it is. */
export function stepOfNew(
  context: AccessContext,
  totp: Totp,
  guid: string,
  sealed: string,
  code: string,
  now: number,
) {
  return totp.stepOf(opened(context, guid, sealed), typedCode(code), now)
}

/** Stores a factor whose code was right. Gives its recovery codes. */
export async function storeFactor(
  { random }: AccessContext,
  session: Session,
  guid: string,
  { sealed, step, now }: { sealed: string; step: number; now: number },
): Promise<readonly string[]> {
  const codes = newRecoveryCodes(random)
  const factor = {
    ...{ factor_failures: 0, factor_locked_until: 0 },
    ...{ totp_secret: sealed, totp_since: now, totp_used: now, totp_step: step },
    recovery_codes: codes.map((code) => recoveryCodeHash(guid, code)),
  }
  await session.update(systemStorages.users, guid, setFields(factor))
  return codes
}

/** Ten new recovery codes in place of those before. */
export async function storeRecoveryCodes(
  { random }: AccessContext,
  session: Session,
  guid: string,
): Promise<readonly string[]> {
  const codes = newRecoveryCodes(random)
  const recovery_codes = codes.map((code) => recoveryCodeHash(guid, code))
  await session.update(systemStorages.users, guid, setFields({ recovery_codes }))
  return codes
}

const noGrace: Mutation = { op: 'remove', field: 'factor_required_since' }

/** What goes with all factors of a user, who removes the last one. */
export function ownRemovals(): Mutation[] {
  return factorFields.map((field) => ({ op: 'remove', field }))
}

/** The same where an administrator takes them away: a time to set up a new one begins. */
export function removals(): Mutation[] {
  return [...ownRemovals(), noGrace]
}

/** What goes with the app of a user. Recovery codes stay for the passkeys. */
export function appRemovals(user: JsonObject): Mutation[] {
  if (passkeyCount(user) === 0) return ownRemovals()
  return ['totp_secret', 'totp_since', 'totp_used', 'totp_step'].map((field) => ({ op: 'remove', field }))
}

/**
 * Whether a code of the user is right; what follows is written. TOO_MANY_LOGIN_ATTEMPTS while the factor is locked: then
 * nothing is judged. A wrong code has to be committed before it is refused.
 */
export async function judgeCode(
  context: AccessContext,
  totp: Totp,
  session: Session,
  user: JsonObject,
  code: string,
  now: number,
): Promise<'app' | 'recovery' | 'wrong'> {
  refuseWhileLocked(numberIn(user.factor_locked_until), now)
  const guid = guidOf(user)
  const typed = typedCode(code)
  const write = (mutations: readonly Mutation[]) => session.update(systemStorages.users, guid, mutations)
  const right = { factor_failures: 0, factor_locked_until: 0, totp_used: now }
  if (hasApp(user) && /^\d{6}$/.test(typed)) {
    const sealed = textIn(user.totp_secret)
    const secret = opened(context, guid, sealed)
    const step = totp.stepOf(secret, typed, now)
    if (step !== undefined && step > numberIn(user.totp_step)) {
      await write(
        setFields({ ...right, totp_step: step, totp_secret: sealedNow(context, guid, secret, sealed) }),
      )
      return 'app'
    }
  }
  const stored = textsIn(user.recovery_codes)
  const left = stored.filter((one) => one !== recoveryCodeHash(guid, typed))
  if (left.length < stored.length) {
    await write(setFields({ ...right, recovery_codes: left }))
    return 'recovery'
  }
  const failures = numberIn(user.factor_failures) + 1
  const { lockoutSeconds } = context.settings
  const times = Math.floor(failures / CODES_BEFORE_LOCK)
  const seconds = Math.min(LONGEST_LOCK, lockoutSeconds * 2 ** Math.min(times - 1, 20))
  const locked = failures % CODES_BEFORE_LOCK === 0 ? { factor_locked_until: now + seconds } : {}
  await write(setFields({ factor_failures: failures, ...locked }))
  return 'wrong'
}

function sealedAs(guid: string): string {
  return `totp ${guid}`
}

function opened({ settings }: AccessContext, guid: string, sealed: string): string {
  const key = settings.secretKeys?.all.get(sealedBy(sealed) ?? '')
  const secret = key && unseal(key, sealedAs(guid), sealed)
  if (secret !== undefined) return secret
  throw new QuoinError(
    'UNAVAILABLE',
    'The key that sealed this second factor is missing. Use a recovery code, or ask an administrator to reset the factor.',
  )
}

/** Sealed with the present key, so that a former one can be taken away. */
function sealedNow(
  { settings, random }: AccessContext,
  guid: string,
  secret: string,
  sealed: string,
): string {
  const key = settings.secretKeys?.current
  return key && key.id !== sealedBy(sealed) ? seal(key, sealedAs(guid), secret, random) : sealed
}
