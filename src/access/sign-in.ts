/**
 * Sign-in. One attempt goes through these steps; each can end it.
 *
 * 1. Refused early: the address has no failures left, or the user (or the unknown name) is locked for the place from which
 *    the attempt comes (`lockout.ts`). Costs three reads.
 * 2. The password is checked, against nothing if there is no such user: the same work either way.
 * 3. Judged, in one transaction that writes the user's record first. Wrong: counted on the user (or name), for the place,
 *    and on the address; of a name the same statements write a user who is not there. Right: the record is looked at again, since it may have been locked, deactivated or given another
 *    password meanwhile; then the token is stored, the oldest goes if they are too many, the address is known from then
 *    on, and the count goes back to 0. A user with a second factor gets a challenge in place of the token
 *    (`identity/finish-sign-in.ts`), and the count stays.
 *
 * Wrong password, unknown user and inactive user answer the same, in the same time, and count the same.
 */

import { challengeFor, secondFactorRequired } from '../identity/challenge.ts'
import { neededFactor } from '../identity/second-factor.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import { type JsonObject, jsonProblem } from '../shared/json.ts'
import { type Mutation, setFields } from '../shared/mutation.ts'
import type { Origin, Session } from '../storage/database.ts'
import { documentOf } from '../storage/database.ts'
import { numberIn, textIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type AccessContext, noteUserEvent, type Sender, unixSeconds } from './access-context.ts'
import { countFailure, failedPlaces, forgetPlace } from './failed-sign-ins.ts'
import { deleteExpired } from './identify.ts'
import { signInPlace, withAddress } from './known-addresses.ts'
import { type LockoutLimits, lockedUntil, refuseWhileLocked } from './lockout.ts'
import { isAdministrator } from './permitted-change.ts'
import { retryContested } from './retry-on-conflict.ts'
import { createToken, deleteOldestTokens, type SessionOrigin } from './tokens.ts'
import { MAX_EMAIL, MAX_PASSWORD } from './user-input.ts'
import type { UserRecord } from './user-record.ts'
import { userRecord } from './user-record.ts'
import { folded } from './visible-text.ts'

export interface SignInInput {
  /** User name or e-mail address, in any case. */
  readonly username: string
  readonly password: string
  readonly ip: string
  /** The header `user-agent`, for the user log. */
  readonly agent?: string | undefined
}

/** The reply of `POST /auth/signin`. */
export interface SignedIn {
  readonly access_token: string
  /** Unix seconds. */
  readonly expiry: number
  /** Seconds that use extends the token to. */
  readonly expiry_renew: number
  readonly verified: boolean
  /** Unix seconds from which a sign-in needs a second factor that the user does not have yet. */
  readonly second_factor_due?: number
  /** `{ _meta: { guid }, username, email, firstname, lastname, language }` */
  readonly user: JsonObject
  readonly ip: string
}

/** Only an administrator who can sign in can make room on a full disk. */
const RESERVE: Origin = { reserve: true }

type User = UserRecord & { readonly passwordHash: string }

/** What happens in the transaction of a right password. */
type Admitted<T> = (session: Session, user: UserRecord, now: number) => Promise<T>

/**
 * INVALID_CREDENTIALS, TOO_MANY_LOGIN_ATTEMPTS, INVALID_BODY for what is too long, UNAVAILABLE under heavy load.
 * SECOND_FACTOR_REQUIRED where the password is right: its details have the challenge that a code ends.
 */
export async function signIn(context: AccessContext, input: SignInInput): Promise<SignedIn> {
  await deleteExpired(context.database, systemStorages.signInChallenges, 'expiry', unixSeconds(context.clock))
  const result = await withPassword(context, input, async (session, user, now) => {
    await refuseForProvider(context, session, user)
    const { needs, due } = await neededFactor(session, user, now)
    // Failures stay counted: without the code, nothing has succeeded.
    if (needs) return challengeFor(context, session, user, { needs, sender: input, now })
    const signedIn = await startSession(context, session, user, input, now)
    return due > 0 ? { ...signedIn, second_factor_due: due } : signedIn
  })
  if ('challenge' in result) throw secondFactorRequired(result)
  return result
}

/**
 * Users of a domain that has to sign in with a provider. Administrators can always sign in by password or passkey, also when the provider
 * is down. `from`: the provider with which the user has signed in, which has to be one that the domain requires: an account elsewhere
 * outlives what its user was in the company.
 */
export async function refuseForProvider(
  { providers }: AccessContext,
  session: Session,
  user: UserRecord,
  from?: string,
): Promise<void> {
  const address = textIn(user.document.email_key)
  const domain = address.slice(address.lastIndexOf('@') + 1)
  const required = providers.active().filter(({ required_domains }) => required_domains.includes(domain))
  const [provider] = required
  if (!provider || required.some(({ guid }) => guid === from)) return
  if (from === undefined && (await isAdministrator(session, user))) return
  throw new QuoinError('INSUFFICIENT_PERMISSIONS', `Users of ${domain} sign in with ${provider.title}.`, {
    details: { provider: provider.name, title: provider.title },
  })
}

/** The same attempt without a session: it counts, locks and refuses as a sign-in does. */
export async function checkPasswordOf(context: AccessContext, input: SignInInput): Promise<void> {
  await withPassword(context, input, async (session, user, now) => {
    await forgetFailuresOf(session, user, input.ip, now)
    return true
  })
}

async function withPassword<T>(context: AccessContext, input: SignInInput, then: Admitted<T>): Promise<T> {
  if (input.username.length > MAX_EMAIL)
    throw invalidField('username', `username is longer than ${MAX_EMAIL} characters.`)
  // No engine can look up what it cannot store.
  const problem = jsonProblem(input.username)
  if (problem) throw invalidField('username', `username ${problem}.`)
  if (input.password.length > MAX_PASSWORD)
    throw invalidField('password', `password is longer than ${MAX_PASSWORD} characters.`)
  const nameKey = folded(input.username.trim())
  const decided = await context.addresses.enter(
    context.database.session(),
    input.ip,
    unixSeconds(context.clock),
  )
  try {
    // Again only if the password was changed, or its hash renewed, while it was being checked.
    for (let tries = 0; tries < 3; tries++) {
      const result = await attempt(context, nameKey, input, then)
      if (result !== undefined) return result
    }
  } finally {
    decided()
  }
  throw new QuoinError('UNAVAILABLE', 'The user is being changed right now. Sign in again.', {
    retryAfter: 1,
  })
}

async function attempt<T>(
  context: AccessContext,
  nameKey: string,
  input: SignInInput,
  then: Admitted<T>,
): Promise<T | undefined> {
  const { database, passwords } = context
  const session = database.session()
  const user = await findUser(session, nameKey)
  const place = signInPlace(input.ip, user?.knownAddresses ?? [])
  const failed = await failedPlaces(session, user ? { user: user.guid } : { nameKey })
  refuseWhileLocked(lockedUntil(failed, place), unixSeconds(context.clock))
  const right = await passwords.verify(input.password, user?.passwordHash)
  if (!right || !isComplete(user) || !user.isActive) return refuse(context, nameKey, user, input)
  const renewed = passwords.isCurrent(user.passwordHash) ? undefined : await passwords.hash(input.password)
  return admit(context, user, renewed, input, then)
}

function isComplete(user: UserRecord | undefined): user is User {
  return user?.passwordHash !== undefined
}

/** A user name has precedence over an equal e-mail address of another user. Both are looked for, or the second would tell of the first. */
async function findUser(session: Session, nameKey: string): Promise<UserRecord | undefined> {
  const byName = findOne(session, systemStorages.users, 'username_key', nameKey)
  const byAddress = findOne(session, systemStorages.users, 'email_key', nameKey)
  const [named, addressed] = await Promise.all([byName, byAddress])
  const found = named ?? addressed
  return found && userRecord(found)
}

async function refuse(
  context: AccessContext,
  nameKey: string,
  user: UserRecord | undefined,
  { ip, agent }: SignInInput,
): Promise<never> {
  const { database, settings, addresses } = context
  const now = unixSeconds(context.clock)
  await deleteExpired(database, systemStorages.failedSignIns, 'until', now)
  await deleteExpired(database, systemStorages.signInAddresses, 'until', now)
  const count = async (session: Session) => {
    await countAttempt(session, { user, nameKey, ip, now }, settings)
    await addresses.countFailure(session, ip, now)
    await noteUserEvent(session, 'sign_in_failed', user, { ip, agent })
  }
  await retryContested(database, count, RESERVE)
  throw new QuoinError('INVALID_CREDENTIALS', 'The user name or the password is wrong.')
}

/** No user has it: what is written for a name that no user has finds nothing, after the same work. */
const NO_USER = '00000000-0000-7000-8000-000000000000'

interface FailedAttempt {
  readonly user: UserRecord | undefined
  readonly nameKey: string
  readonly ip: string
  readonly now: number
}

/** On the user, or on the name if the user is gone. `login_attempts` and `locked_until` are what managers see; nothing is judged by them. */
async function countAttempt(
  session: Session,
  { user, nameKey, ip, now }: FailedAttempt,
  limits: LockoutLimits,
): Promise<void> {
  const guid = user?.guid ?? NO_USER
  const written = await session.update(systemStorages.users, guid, [
    { op: 'increment', field: 'login_attempts', amount: 1 },
  ])
  const counted = written.outcome === 'written' ? userRecord(documentOf(written.document)) : undefined
  const place = signInPlace(ip, counted?.knownAddresses ?? [])
  const locked = await countFailure(session, counted ? { user: guid } : { nameKey }, place, now, limits)
  const shown = numberIn(counted?.document.locked_until)
  const lapsed = shown > 0 && shown <= now
  const attempts = lapsed ? 1 : numberIn(counted?.document.login_attempts)
  const shownNow = lapsed ? locked : Math.max(locked, shown)
  await session.update(
    systemStorages.users,
    guid,
    setFields({ login_attempts: attempts, locked_until: shownNow }),
  )
}

/** Undefined if the password that was checked is no longer the user's. */
async function admit<T>(
  context: AccessContext,
  user: User,
  renewedHash: string | undefined,
  { ip }: SignInInput,
  then: Admitted<T>,
): Promise<T | undefined> {
  const { database, addresses } = context
  const now = unixSeconds(context.clock)
  await deleteExpired(database, systemStorages.tokens, 'expiry', now)
  const work = async (session: Session) => {
    const seen: Mutation = { op: 'set', field: 'last_activity', value: now }
    const written = await session.update(systemStorages.users, user.guid, [seen])
    const newest = written.outcome === 'written' ? documentOf(written.document) : {}
    if (newest.password_hash !== user.passwordHash || newest.is_active !== true) {
      await session.transaction.rollback()
      return undefined
    }
    const place = signInPlace(ip, userRecord(newest).knownAddresses)
    refuseWhileLocked(lockedUntil(await failedPlaces(session, { user: user.guid }), place), now)
    await addresses.check(session, ip, now)
    if (renewedHash === undefined) return then(session, userRecord(newest), now)
    const renewal: Mutation = { op: 'set', field: 'password_hash', value: renewedHash }
    await session.update(systemStorages.users, user.guid, [renewal])
    return then(session, userRecord({ ...newest, password_hash: renewedHash }), now)
  }
  return transact(database, work, RESERVE)
}

/** Signs the user in, in the caller's transaction, which has written the user. `confirmed`: as of `createToken`. */
export async function startSession(
  { settings, random }: AccessContext,
  session: Session,
  user: UserRecord,
  { ip, agent }: Sender,
  now: number,
  { from, confirmed }: { readonly from?: SessionOrigin | undefined; readonly confirmed?: number } = {},
): Promise<SignedIn> {
  // No way of signing in leads here: the last wall, should one ever do.
  if (user.isService)
    throw new QuoinError('INVALID_CREDENTIALS', 'A service account does not sign in: use its API keys.')
  const expiry = now + settings.tokenSeconds
  await forgetFailuresOf(session, user, ip, now)
  const addressesNow = withAddress(user.knownAddresses, ip)
  if (addressesNow !== user.knownAddresses)
    await session.update(systemStorages.users, user.guid, [
      { op: 'set', field: 'known_addresses', value: addressesNow },
    ])
  await noteUserEvent(session, 'sign_in', user, { ip, agent })
  await deleteOldestTokens(session, user.guid)
  const token = { userGuid: user.guid, ip, agent: agent ?? '', created: now, expiry, from, confirmed }
  const { username, email, firstname, lastname, language } = user.document
  return {
    access_token: await createToken(session, random, token),
    expiry,
    expiry_renew: settings.tokenSeconds,
    verified: true,
    user: {
      _meta: { guid: user.guid },
      username: username ?? '',
      email: email ?? null,
      firstname: firstname ?? '',
      lastname: lastname ?? '',
      language: language ?? '',
    },
    ip,
  }
}

/** Failures are counted from 0 again. Another network may still be locked, which managers see until it is over. */
async function forgetFailuresOf(
  session: Session,
  { guid, document, knownAddresses }: UserRecord,
  ip: string,
  now: number,
): Promise<void> {
  await forgetPlace(session, { user: guid }, signInPlace(ip, knownAddresses))
  const changes: Mutation[] = []
  if (numberIn(document.login_attempts) > 0) changes.push({ op: 'set', field: 'login_attempts', value: 0 })
  const locked = numberIn(document.locked_until)
  if (locked > 0 && locked <= now) changes.push({ op: 'set', field: 'locked_until', value: 0 })
  if (changes.length > 0) await session.update(systemStorages.users, guid, changes)
}
