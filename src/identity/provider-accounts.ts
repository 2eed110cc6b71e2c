/**
 * A sign-in by what a provider says of a user. The account at the provider has a user already; or the provider has verified the address of a
 * user who has confirmed it here too, and both are linked; or a user is created, where the provider may do that.
 *
 * An address alone links nothing: an attacker could have signed up here with the address of another person before that person came
 * (`confirmed_email`), or could have typed it at a provider that verifies none.
 */
import { hash } from 'node:crypto'
import {
  type AccessContext,
  noteUserEvent,
  type Sender,
  takeTurn,
  unixSeconds,
} from '../access/access-context.ts'
import { deleteExpired } from '../access/identify.ts'
import type { Identity } from '../access/identity-cache.ts'
import { checkAdministratorLeft, isAdministrator } from '../access/permitted-change.ts'
import { groupsOf } from '../access/scopes.ts'
import { refuseForProvider, type SignedIn, startSession } from '../access/sign-in.ts'
import { tokensOf } from '../access/tokens.ts'
import { userInput } from '../access/user-input.ts'
import { type UserRecord, userRecord } from '../access/user-record.ts'
import { changeUser, insertUser } from '../access/users.ts'
import { folded } from '../access/visible-text.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject, JsonValue } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Origin, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transactAgain } from '../storage/transact.ts'
import { challengeFor, deleteChallenges, type SignInChallenge } from './challenge.ts'
import { mailFactorChange } from './change-self.ts'
import {
  type AccountKey,
  accountsOf,
  createAccount,
  hasOtherAccount,
  noteUse,
  userOfAccount,
} from './provider-account.ts'
import { neededFactor, passkeyCount } from './second-factor.ts'
import { groupNames, type SignInProvider } from './sign-in-providers.ts'

const LONGEST_USERNAME = 64
/** Of clocks, between this node and a provider. */
const SKEW_SECONDS = 60

/** What a provider says of who has signed in there, checked. */
export interface ProviderUser extends AccountKey {
  readonly provider: SignInProvider
  /** Only an address that the provider has verified. */
  readonly verifiedEmail: string | undefined
  readonly claims: JsonObject
  /** The session at the provider; empty where it names none. */
  readonly sid: string
  /** Unix seconds at which the user signed in there; 0 where the provider does not say. */
  readonly authenticated: number
}

/** Why a sign-in with a provider is refused. Pages have a text for each. */
export type ProviderRefusal =
  | 'failed'
  | 'denied'
  | 'expired'
  | 'unknown'
  | 'domain'
  | 'taken'
  | 'linked'
  | 'inactive'

export function providerRefused(reason: ProviderRefusal, message: string, cause?: unknown): QuoinError {
  return new QuoinError('INVALID_CREDENTIALS', message, { details: { reason }, cause })
}

export interface ProviderAccounts {
  /** INVALID_CREDENTIALS with a reason; INSUFFICIENT_PERMISSIONS where the domain requires another provider. A challenge where the second factor of the user is asked for. */
  signIn(user: ProviderUser, sender: Sender): Promise<SignedIn | SignInChallenge>
  /** Ends sessions that the provider ended, of before `issuedAt` (Unix seconds). Gives how many. */
  endSessions(provider: SignInProvider, ended: EndedSession): Promise<number>
  /** The accounts that sign in a user. NOT_FOUND for an unknown user. */
  list(userGuid: string): Promise<readonly JsonObject[]>
  /**
   * The account no longer signs in the user, and sessions that its provider began end, but for the caller's own. NOT_FOUND,
   * INSUFFICIENT_PERMISSIONS, CONFLICT for the caller's only way to sign in.
   */
  end(userGuid: string, guid: string, by: Identity): Promise<void>
}

export interface EndedSession {
  readonly issuer: string
  /** Empty: any user of the session. */
  readonly subject: string
  /** Empty: all sessions of the user. */
  readonly sid: string
  readonly issuedAt: number
}

/** `during`: keeps the room open while the work is under way. */
export function providerAccounts(
  context: AccessContext,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): ProviderAccounts {
  return {
    signIn: (user, sender) => during(() => signInWith(context, user, sender)),
    endSessions: (provider, ended) => during(() => endSessions(context, provider, ended)),
    list: (userGuid) => during(() => list(context, userGuid)),
    end: (userGuid, guid, by) => during(() => endAccount(context, userGuid, guid, by)),
  }
}

/** As of a password: an administrator must be able to make room on a full disk. In the audit log the author is `system`. */
const ORIGIN: Origin = { reserve: true }

async function signInWith(
  context: AccessContext,
  external: ProviderUser,
  sender: Sender,
): Promise<SignedIn | SignInChallenge> {
  const { database } = context
  const { provider, sid, authenticated } = external
  const now = unixSeconds(context.clock)
  await deleteExpired(database, systemStorages.signInChallenges, 'expiry', now)
  await deleteExpired(database, systemStorages.tokens, 'expiry', now)
  return transactAgain(
    database,
    async (session) => {
      // Every such sign-in takes the turn: it may create users and change groups. 100 of them a second are possible then.
      await takeTurn(session, context.turnGuid)
      const { guid, isNew, isLinked } = await userFor(session, external, sender, now)
      const written = await session.update(systemStorages.users, guid, setFields({ last_activity: now }))
      if (written.outcome !== 'written') throw providerRefused('unknown', 'The user was removed.')
      const found = userRecord(documentOf(written.document))
      if (!found.isActive) throw providerRefused('inactive', 'This user is not active.')
      const user = await withGroups(context, session, external, found, isNew)
      await refuseForProvider(context, session, user, provider.guid)
      if (isLinked) await mailOf(context, session, user, 'account-linked', provider.title)
      const from = { provider: provider.guid, sid }
      const { needs, due } = provider.trusts_factor
        ? { needs: undefined, due: 0 }
        : await neededFactor(session, user, now)
      if (needs) return challengeFor(context, session, user, { needs, sender, now, from })
      // Who was signed in there already has confirmed nothing now.
      const as = authenticated > 0 ? { from, confirmed: Math.min(authenticated, now) } : { from }
      const signedIn = await startSession(context, session, user, sender, now, as)
      return due > 0 ? { ...signedIn, second_factor_due: due } : signedIn
    },
    ORIGIN,
  )
}

interface FoundUser {
  readonly guid: string
  readonly isNew: boolean
  /** To a user who was there before: another person may have done it. */
  readonly isLinked: boolean
}

/** The user of an account, who may be created for it. The turn is taken. */
async function userFor(
  session: Session,
  external: ProviderUser,
  sender: Sender,
  now: number,
): Promise<FoundUser> {
  const known = await userOfAccount(session, external)
  if (known !== undefined) {
    await noteUse(session, external, now)
    return { guid: known, isNew: false, isLinked: false }
  }
  const email = external.verifiedEmail
  const found = (await provisionedUser(session, external)) ?? (await ownerOf(session, external))
  const guid = found ?? (await newUser(session, external, sender))
  await createAccount(session, external, { userGuid: guid, email: email ?? '', now })
  return { guid, isNew: found === undefined, isLinked: found !== undefined }
}

/** The user who has the verified address. A company gives the address of one who has left to the next: whom an account of the provider signs in already, no other one does. */
async function ownerOf(session: Session, external: ProviderUser): Promise<string | undefined> {
  const { verifiedEmail: email, provider } = external
  const owner = email && (await findOne(session, systemStorages.users, 'email_key', folded(email)))
  if (!owner) return undefined
  if (!isConfirmed(owner))
    throw providerRefused(
      'taken',
      'There is an account with this address whose owner has not confirmed it. Ask for a new password by mail: following its link confirms the address.',
    )
  if (await hasOtherAccount(session, guidOf(owner), external))
    throw providerRefused(
      'linked',
      `The user with this address signs in with another account of ${provider.title}. It has to be ended first.`,
    )
  return guidOf(owner)
}

/** The user whom SCIM has created for this account, where the provider has a claim that says so. */
async function provisionedUser(
  session: Session,
  { provider, claims }: ProviderUser,
): Promise<string | undefined> {
  const { external_id_claim: claim = '' } = provider
  const externalId = claim !== '' && Object.hasOwn(claims, claim) ? textIn(claims[claim]) : ''
  if (externalId === '') return undefined
  const user = await findOne(session, systemStorages.users, 'external_id', externalId)
  return user && guidOf(user)
}

/** Whether no other person can have the account of this address: a link that was sent there was used, or it has no password yet. */
function isConfirmed({ email_key, confirmed_email, password_hash }: JsonObject): boolean {
  return confirmed_email === email_key || textIn(password_hash) === ''
}

async function newUser(session: Session, external: ProviderUser, sender: Sender): Promise<string> {
  const { provider, claims, issuer, subject, verifiedEmail: email } = external
  if (!provider.create_users)
    throw providerRefused('unknown', `No user has this account of ${provider.title}.`)
  const domain = email === undefined ? '' : domainOf(folded(email))
  if (provider.domains.length > 0 && !provider.domains.includes(domain))
    throw providerRefused('domain', `${provider.title} creates users of ${provider.domains.join(', ')} only.`)
  const named = email !== undefined && email.length <= LONGEST_USERNAME ? email : undefined
  const username = named ?? `user-${hash('sha256', JSON.stringify([issuer, subject]), 'hex').slice(0, 12)}`
  const fields = {
    username,
    ...(email !== undefined && { email, confirmed_email: folded(email) }),
    ...fitting('firstname', claims.given_name ?? claims.name),
    ...fitting('lastname', claims.family_name),
    ...fitting('language', claims.locale),
  }
  try {
    const user = userRecord(await insertUser(session, fields, undefined))
    await noteUserEvent(session, 'signed_up', user, sender)
    return user.guid
  } catch (error) {
    if (error instanceof QuoinError && error.code === 'CONFLICT')
      throw providerRefused('taken', `Another user has the name ${username}.`, error)
    throw error
  }
}

/** Of what a provider says, what a user may have. */
function fitting(field: string, value: JsonValue | undefined): JsonObject {
  try {
    return value === undefined ? {} : userInput({ [field]: value }).fields
  } catch (error) {
    if (error instanceof QuoinError) return {}
    throw error
  }
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}

/** The user behind the change of groups that the provider decides about. The last administrator stays one. */
async function withGroups(
  { clock }: AccessContext,
  session: Session,
  { provider, claims }: ProviderUser,
  user: UserRecord,
  isNew: boolean,
): Promise<UserRecord> {
  const { groups: decided, groups_expression: expression } = provider
  if (decided.length === 0 || (expression === '' && !isNew)) return user
  const present = await groupsOf(session, decided)
  const names = expression === '' ? undefined : new Set(groupNames(provider, claims, clock()).map(folded))
  const chosen = present.filter(({ name_key }) => names?.has(textIn(name_key)) ?? true).map(guidOf)
  const next = [...user.groups.filter((guid) => !decided.includes(guid)), ...chosen]
  if (next.toSorted().join() === user.groups.toSorted().join()) return user
  const wasAdministrator = await isAdministrator(session, user)
  const written = await session.update(systemStorages.users, user.guid, setFields({ groups: next }))
  try {
    if (wasAdministrator) await checkAdministratorLeft(session)
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'CONFLICT') throw error
    await session.update(systemStorages.users, user.guid, setFields({ groups: [...user.groups] }))
    return user
  }
  return written.outcome === 'written' ? userRecord(documentOf(written.document)) : user
}

async function list(
  { database, providers }: AccessContext,
  userGuid: string,
): Promise<readonly JsonObject[]> {
  const session = database.session()
  if (!(await session.get(systemStorages.users, userGuid)))
    throw new QuoinError('NOT_FOUND', `There is no user ${userGuid}.`)
  return (await accountsOf(session, userGuid)).map((account) => {
    const provider = providers.withGuid(textIn(account.provider))
    return {
      ...{ _meta: account._meta ?? null, provider: provider?.name ?? '', title: provider?.title ?? '' },
      ...{ issuer: textIn(account.issuer), subject: textIn(account.subject), email: textIn(account.email) },
      last_used: numberIn(account.last_used),
    }
  })
}

async function endAccount(
  context: AccessContext,
  userGuid: string,
  guid: string,
  by: Identity,
): Promise<void> {
  await changeUser(context, userGuid, by, async (session, user) => {
    const accounts = await accountsOf(session, userGuid)
    const account = accounts.find((one) => guidOf(one) === guid)
    if (!account) throw new QuoinError('NOT_FOUND', `This user has no account ${guid}.`)
    const isLast =
      accounts.length === 1 && user.passwordHash === undefined && passkeyCount(user.document) === 0
    if (isLast && by.guid === userGuid)
      throw new QuoinError(
        'CONFLICT',
        'You sign in with nothing else. Set a password or add a passkey first.',
      )
    await session.delete(systemStorages.providerAccounts, guid)
    const isEnded = (one: { readonly provider: string }) => one.provider === textIn(account.provider)
    await deleteChallenges(session, 'user_guid', userGuid, isEnded)
    const tokens = (await tokensOf(session, userGuid)).filter(
      (token) => guidOf(token) !== by.tokenGuid && isEnded({ provider: textIn(token.provider) }),
    )
    await endTokens(session, tokens, by.username)
    const title = context.providers.withGuid(textIn(account.provider))?.title ?? textIn(account.issuer)
    await mailOf(context, session, user, 'account-ended', title)
    return user.document
  })
}

/** In place of a user's name the mail has the title of the provider. */
function mailOf(
  context: AccessContext,
  session: Session,
  user: UserRecord,
  kind: 'account-linked' | 'account-ended',
  title: string,
): Promise<void> {
  return mailFactorChange(context, session, user, {
    kind,
    by: { username: title },
    title: `${kind} ${title}`,
  })
}

/** In order of their expiry, as all deletions of tokens. */
async function endTokens(session: Session, tokens: readonly JsonObject[], endedBy: string): Promise<void> {
  const inOrder = tokens.toSorted((one, other) => numberIn(one.expiry) - numberIn(other.expiry))
  for (const token of inOrder) {
    await session.update(systemStorages.tokens, guidOf(token), setFields({ ended_by: endedBy }))
    await session.delete(systemStorages.tokens, guidOf(token))
  }
}

/** Sessions of later stay, so a message that is sent again ends no new one. */
async function endSessions(
  { database }: AccessContext,
  provider: SignInProvider,
  { issuer, subject, sid, issuedAt }: EndedSession,
): Promise<number> {
  return transactAgain(
    database,
    async (session) => {
      const owner = subject === '' ? undefined : await userOfAccount(session, { provider, issuer, subject })
      if (subject !== '' && owner === undefined) return 0
      const bySid = { kind: 'term', field: 'provider_sid', value: sid } as const
      const tokens =
        owner === undefined
          ? await findAll(session, systemStorages.tokens, bySid, 1_000)
          : await tokensOf(session, owner)
      const isEnded = (one: { provider: string; sid: string; began: number }) =>
        one.provider === provider.guid &&
        (sid === '' || one.sid === sid) &&
        one.began <= issuedAt + SKEW_SECONDS
      const ended = tokens.filter(({ provider, provider_sid: sid, created }) =>
        isEnded({ provider: textIn(provider), sid: textIn(sid), began: numberIn(created) }),
      )
      // A sign-in that waits for its code would begin a session of the one that has ended.
      await (owner === undefined
        ? deleteChallenges(session, 'provider_sid', sid, isEnded)
        : deleteChallenges(session, 'user_guid', owner, isEnded))
      await endTokens(session, ended, `sign-in provider ${provider.name}`)
      return ended.length
    },
    ORIGIN,
  )
}
