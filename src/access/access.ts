/**
 * Who may come in: users, passwords, tokens, lockouts and scopes, over some storages: `_users`, `_tokens`, `_groups`
 * (`{ name, scopes, is_active }`) and the counters of failed sign-ins. Nothing that leaves this room holds a password hash
 * or a token hash.
 *
 * Transactions that write several records take them in one order: the turn, the user, its failures (or the unknown
 * name's), the address, tokens. So no two of them can wait for each other crosswise.
 */
import { type AgentGrants, agentGrants } from '../identity/agent-grants.ts'
import { type Factors, factors } from '../identity/factors.ts'
import { type Handovers, handovers } from '../identity/handovers.ts'
import { type Passkeys, passkeys } from '../identity/passkeys.ts'
import { type ProviderAccounts, providerAccounts } from '../identity/provider-accounts.ts'
import type { Provisioning } from '../identity/scim/provisioning.ts'
import { openSignInProviders, type SignInProviders } from '../identity/sign-in-providers.ts'
import type { SigningSecret } from '../records/secrets/signing-secret.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Random } from '../shared/guid.ts'
import type { JsonObject } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { Search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import { type Database, documentOf } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import type { Needs } from '../storage/document-index.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import {
  type AccessContext,
  type AccessSettings,
  ensureUserLogs,
  type LoggedRequest,
  noteUserEvent,
  openTurn,
  requestLog,
  type Sender,
  searchUserLogs,
  unixSeconds,
} from './access-context.ts'
import { addressLimit } from './address-limit.ts'
import { ensureBuiltInGroups } from './ensure-groups.ts'
import { ensureAdministrator, type FirstAdministrator } from './first-administrator.ts'
import {
  createGroup,
  emptyRemovedGroups,
  type GroupInput,
  getGroup,
  removeGroup,
  searchGroups,
  updateGroup,
} from './group-changes.ts'
import { accessTokenHash, identify, knownIdentity } from './identify.ts'
import { type Identity, identityCache } from './identity-cache.ts'
import { type ApiKeys, apiKeys } from './keys/api-keys.ts'
import { keyUses } from './keys/key-uses.ts'
import { type AccountLinks, accountLinks } from './links/account-links.ts'
import { passwordHasher } from './password-hash.ts'
import { countUnprotected } from './permitted-change.ts'
import { type Sessions, sessions } from './sessions.ts'
import { checkPasswordOf, type SignedIn, type SignInInput, signIn } from './sign-in.ts'
import { userRecord } from './user-record.ts'
import { searchUsers } from './user-search.ts'
import {
  activeUser,
  createUser,
  type GroupChoice,
  getUser,
  removeUser,
  resetLoginAttempts,
  scopesOfUser,
  setGroups,
  updateUser,
} from './users.ts'

/** What was asked of the caller before. */
export interface Asked {
  readonly currentPassword: true
}

/** `provider`: the guid of the sign-in provider that the session came from; empty for none. */
export interface EndedSignIn {
  readonly provider: string
}

export interface Access {
  /** INVALID_CREDENTIALS, TOO_MANY_LOGIN_ATTEMPTS (with `retryAfter`), INVALID_BODY, UNAVAILABLE under heavy load. */
  signIn(input: SignInInput): Promise<SignedIn>
  /** The token is dead at once. Gives the provider that it came from. INVALID_ACCESS_TOKEN for one that is unknown or expired. */
  signOut(token: string, sender?: Sender): Promise<EndedSignIn>
  /** Who a token or an API key belongs to; undefined if it is unknown or expired, or its user is inactive or removed. */
  identify(token: string): MaybePromise<Identity | undefined>
  /** Fields: `user-input.ts`. INVALID_BODY, CONFLICT (name taken), INSUFFICIENT_PERMISSIONS (scope not held). */
  createUser(input: JsonObject, by: Identity): Promise<JsonObject>
  /**
   * As `createUser`, with only the fields that change. INVALID_BODY also for one's own password, unless the current one was
   * asked for. NOT_FOUND, CONFLICT also for the last administrator.
   */
  updateUser(guid: string, changes: JsonObject, by: Identity, asked?: Asked): Promise<JsonObject>
  setGroups(guid: string, choice: GroupChoice, by: Identity): Promise<JsonObject>
  /** Gives what was removed. NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT for the last administrator. */
  removeUser(guid: string, by: Identity): Promise<JsonObject>
  /** Unlocks. NOT_FOUND, INSUFFICIENT_PERMISSIONS. */
  resetLoginAttempts(guid: string, by: Identity): Promise<JsonObject>
  getUser(guid: string): Promise<JsonObject | undefined>
  /** An active user without secrets, with what the user holds at present; undefined for others. */
  activeUser(guid: string): Promise<Pick<Identity, 'user' | 'scopes'> | undefined>
  /** What a user holds, directly and through active groups; undefined if there is no such user. */
  scopesOfUser(guid: string): Promise<ReadonlySet<string> | undefined>
  searchUsers(search: Search): Promise<RecordPage>
  /** INVALID_CREDENTIALS, TOO_MANY_LOGIN_ATTEMPTS, as `signIn`, without a session. Needs no second factor. */
  checkPassword(input: SignInInput): Promise<void>
  /** Second factors, and confirmations of sessions. */
  readonly factors: Factors
  readonly passkeys: Passkeys
  /** What users sign in with besides a password, and their accounts there. */
  readonly providers: SignInProviders
  readonly providerAccounts: ProviderAccounts
  /** Sessions of pages that the studio or a program takes over. */
  readonly handovers: Handovers
  /** Secrets of users for programs that call in. */
  readonly keys: ApiKeys
  /** SCIM: its code is loaded with the first call. */
  readonly provision: <T>(work: (services: Provisioning) => Promise<T>) => Promise<T>
  /** Where users are signed in. */
  readonly sessions: Sessions
  /** What users have allowed agents by OAuth. */
  readonly agents: AgentGrants
  /** New passwords, invitations and sign-up by links in mails. */
  readonly links: AccountLinks
  /** Authentication groups: see `group-changes.ts`. */
  searchGroups(search: Search): Promise<RecordPage>
  getGroup(guid: string): Promise<JsonObject | undefined>
  /** INVALID_BODY, CONFLICT (name taken), INSUFFICIENT_PERMISSIONS (scope not held). */
  createGroup(input: GroupInput & { readonly name: string }, by: Identity): Promise<JsonObject>
  /** As `createGroup`; NOT_FOUND, CONFLICT also for the last administrators. */
  updateGroup(guid: string, changes: GroupInput, by: Identity): Promise<JsonObject>
  removeGroup(guid: string, by: Identity): Promise<void>
  /** Takes removed groups out of the lists of users that were too many for the removal; ends early once `isClosed`. */
  emptyRemovedGroups(isClosed: () => boolean): Promise<void>
  /** The same changes over another database, for work that is one transaction with other work. */
  groupsIn(database: Database): Pick<Access, 'createGroup' | 'updateGroup' | 'removeGroup'>
  /** Notes a request of a signed-in user. Never waits and never throws. */
  logRequest(request: LoggedRequest): void
  /** Requests that were logged are there first. */
  searchUserLogs(search: Search): Promise<RecordPage>
  /** Makes the groups that a cluster begins with, once. `protect`: administrators need a second factor. */
  ensureGroups(protect?: boolean): Promise<void>
  /** How many administrators sign in by a password alone. */
  countUnprotected(): Promise<number>
  /** Makes `admin` if there is no user at all. Gives the password only when it made one up. */
  ensureAdministrator(password: string | undefined): Promise<FirstAdministrator | undefined>
  /** Takes nothing more and waits for what is under way. The storage stays open. */
  close(): Promise<void>
}

const storages: Readonly<Record<string, Needs>> = {
  [systemStorages.users]: {
    indexes: [
      { fields: ['username_key'], unique: true },
      { fields: ['email_key'], unique: true },
      { fields: ['external_id'] },
    ],
  },
  [systemStorages.tokens]: {
    indexes: [
      { fields: ['token_hash'], unique: true },
      { fields: ['user_guid'] },
      { fields: ['expiry'] },
      { fields: ['provider_sid'] },
    ],
  },
  [systemStorages.passkeys]: {
    indexes: [{ fields: ['credential_hash'], unique: true }, { fields: ['user_guid'] }, { fields: ['host'] }],
  },
  [systemStorages.providerAccounts]: {
    indexes: [{ fields: ['key'], unique: true }, { fields: ['user_guid'] }],
  },
  [systemStorages.apiKeys]: {
    indexes: [
      { fields: ['key_hash'], unique: true },
      { fields: ['previous_hash'] },
      { fields: ['user_guid'] },
    ],
  },
  [systemStorages.accountLinks]: {
    indexes: [
      { fields: ['link_hash'], unique: true },
      { fields: ['user_guid'] },
      { fields: ['email_key'] },
      { fields: ['_meta.expiry'] },
    ],
  },
  [systemStorages.accountRequests]: { indexes: [{ fields: ['key'], unique: true }, { fields: ['until'] }] },
  [systemStorages.agentGrants]: {
    indexes: [
      { fields: ['name_hash'], unique: true },
      { fields: ['once_hash'], unique: true },
      { fields: ['access_hash'] },
      { fields: ['user_guid'] },
      { fields: ['expiry'] },
    ],
  },
  [systemStorages.apiKeyUses]: { indexes: [{ fields: ['key_guid'], unique: true }] },
  [systemStorages.groups]: { indexes: [{ fields: ['name_key'], unique: true }] },
  [systemStorages.signInChallenges]: {
    indexes: [
      { fields: ['challenge_hash'], unique: true },
      { fields: ['user_guid'] },
      { fields: ['expiry'] },
    ],
  },
  [systemStorages.signInAddresses]: { indexes: [{ fields: ['key'], unique: true }, { fields: ['until'] }] },
  [systemStorages.failedSignIns]: { indexes: [{ fields: ['key'], unique: true }, { fields: ['until'] }] },
}

interface AccessOptions {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly settings: AccessSettings
  readonly secret: SigningSecret
}

async function openContext(options: AccessOptions): Promise<AccessContext> {
  const { database, random, settings } = options
  return {
    ...options,
    passwords: passwordHasher(random, settings.passwordCost),
    addresses: addressLimit(settings.addressAttempts),
    identities: identityCache(database.capabilities.changes, [
      systemStorages.tokens,
      systemStorages.users,
      systemStorages.groups,
      systemStorages.apiKeys,
      systemStorages.agentGrants,
    ]),
    keyUses: keyUses(database),
    providers: await openSignInProviders(database),
    extensions: new Map(),
    turnGuid: await openTurn(database),
  }
}

/** Takes work until it is closed, and then waits for what is under way. */
function workUntilClosed() {
  const underWay = new Set<Promise<unknown>>()
  let closed = false
  return {
    isClosed: () => closed,
    async during<T>(work: () => Promise<T>): Promise<T> {
      if (closed)
        throw new QuoinError('UNAVAILABLE', 'Quoin is stopping. Try another node.', { retryAfter: 1 })
      const done = work()
      underWay.add(done)
      try {
        return await done
      } finally {
        underWay.delete(done)
      }
    },
    async close(): Promise<void> {
      closed = true
      await Promise.allSettled(underWay)
    },
  }
}

export async function openAccess(options: AccessOptions): Promise<Access> {
  for (const [name, needs] of Object.entries(storages)) await options.database.ensure(name, needs)
  const context = await openContext(options)
  await ensureUserLogs(options.database)
  const requests = requestLog(options.database)
  const work = workUntilClosed()
  const { during } = work

  return {
    signIn: (input) => during(() => signIn(context, input)),
    signOut: (token, sender) => during(() => signOut(context, token, sender)),
    identify: (token) => {
      const known = work.isClosed() ? undefined : knownIdentity(context, token)
      return known ?? during(() => identify(context, token))
    },
    createUser: (input, by) => during(() => createUser(context, input, by)),
    updateUser: (guid, changes, by, asked) =>
      during(() => updateUser(context, guid, changes, by, asked?.currentPassword === true)),
    setGroups: (guid, choice, by) => during(() => setGroups(context, guid, choice, by)),
    removeUser: (guid, by) => during(() => removeUser(context, guid, by)),
    resetLoginAttempts: (guid, by) => during(() => resetLoginAttempts(context, guid, by)),
    getUser: (guid) => during(() => getUser(context, guid)),
    activeUser: (guid) => during(() => activeUser(context, guid)),
    scopesOfUser: (guid) => during(() => scopesOfUser(context, guid)),
    searchUsers: (search) => during(() => searchUsers(context, search)),
    checkPassword: (input) => during(() => checkPasswordOf(context, input)),
    ...credentials(context, during),
    searchGroups: (search) => during(() => searchGroups(context, search)),
    getGroup: (guid) => during(() => getGroup(context, guid)),
    ...groupChanges(context, during),
    emptyRemovedGroups: (isClosed) =>
      during(() => emptyRemovedGroups(context, () => work.isClosed() || isClosed())),
    groupsIn: (database) => groupChanges({ ...context, database }, during),
    logRequest: (request) => requests.write(request),
    searchUserLogs: (search) =>
      during(async () => {
        await requests.flush()
        return searchUserLogs(options.database, search)
      }),
    ensureGroups: (protect = false) => during(() => ensureBuiltInGroups(context, protect)),
    countUnprotected: () => during(() => countUnprotected(context.database.session())),
    ensureAdministrator: (password) => during(() => ensureAdministrator(context, password)),
    async close() {
      await work.close()
      context.identities.close()
      context.providers.close()
      await requests.close()
    },
  }
}

/** What users sign in with, and where they are signed in. */
function credentials(
  context: AccessContext,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): Pick<
  Access,
  | 'agents'
  | 'factors'
  | 'passkeys'
  | 'providers'
  | 'providerAccounts'
  | 'handovers'
  | 'keys'
  | 'provision'
  | 'sessions'
  | 'links'
> {
  return {
    factors: factors(context, during),
    passkeys: passkeys(context, during),
    providers: context.providers,
    providerAccounts: providerAccounts(context, during),
    handovers: handovers(context, during),
    keys: apiKeys(context, during),
    provision: (work) =>
      during(async () => {
        const { provisioning } = await import('../identity/scim/provisioning.ts')
        return work(provisioning(context))
      }),
    sessions: sessions(context, during),
    agents: agentGrants(context, during),
    links: accountLinks(context, during),
  }
}

function groupChanges(
  context: AccessContext,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): Pick<Access, 'createGroup' | 'updateGroup' | 'removeGroup'> {
  return {
    createGroup: (input, by) => during(() => createGroup(context, input, by)),
    updateGroup: (guid, changes, by) => during(() => updateGroup(context, guid, changes, by)),
    removeGroup: (guid, by) => during(() => removeGroup(context, guid, by)),
  }
}

/**
 * The token is dead when this resolves, on every node: it is no longer in the database. Without `sender` the user log has
 * the address that signed in.
 */
async function signOut(context: AccessContext, token: string, sender?: Sender): Promise<EndedSignIn> {
  const tokenHash = accessTokenHash(token)
  const now = unixSeconds(context.clock)
  const found = await transact(context.database, async (session) => {
    const record = tokenHash && (await findOne(session, systemStorages.tokens, 'token_hash', tokenHash))
    if (!record || numberIn(record.expiry) <= now) return undefined
    if ((await session.delete(systemStorages.tokens, guidOf(record))).outcome !== 'written') return undefined
    const stored = await session.get(systemStorages.users, textIn(record.user_guid))
    const user = stored && userRecord(documentOf(stored))
    await noteUserEvent(session, 'sign_out', user, sender ?? { ip: textIn(record.ip) })
    return { provider: textIn(record.provider) }
  })
  if (!found) throw new QuoinError('INVALID_ACCESS_TOKEN', 'The access token is unknown or expired. Sign in.')
  return found
}
