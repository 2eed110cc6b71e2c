/** Making, changing, removing and unlocking users. Every change takes the turn first: see `access-context.ts`. */

import { deletePasskeysOf } from '../identity/passkey-record.ts'
import { deleteAccountsOf } from '../identity/provider-account.ts'
import { removals } from '../identity/second-factor.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import type { JsonObject, JsonValue } from '../shared/json.ts'
import { type Mutation, setFields } from '../shared/mutation.ts'
import type { Session } from '../storage/database.ts'
import { documentOf } from '../storage/database.ts'
import { guidOf, textIn, textsIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type AccessContext, takeTurn } from './access-context.ts'
import { forgetFailures } from './failed-sign-ins.ts'
import type { Identity } from './identity-cache.ts'
import { requirePerson } from './keys/allowed-endpoints.ts'
import { deleteKeysOf } from './keys/key-record.ts'
import { deleteLinksOf } from './links/link-record.ts'
import { storedHashProblem } from './password-hash.ts'
import { checkAdministratorLeft, checkGrants, checkMayChange, isAdministrator } from './permitted-change.ts'
import { type Grants, noGrants, scopesOf } from './scopes.ts'
import { deleteTokensOf } from './tokens.ts'
import { checkPassword, userInput } from './user-input.ts'
import type { UserRecord } from './user-record.ts'
import { publicUser, userRecord } from './user-record.ts'
import { folded } from './visible-text.ts'

const unlocked: readonly Mutation[] = [
  { op: 'set', field: 'login_attempts', value: 0 },
  { op: 'set', field: 'locked_until', value: 0 },
]

/** Of a user who has a password. */
const noInvitation: readonly Mutation[] = [
  { op: 'remove', field: 'invited_until' },
  { op: 'remove', field: 'invitation' },
]

/** What a user who sets a password by a link gets with it. */
export function newPassword(passwordHash: string): readonly Mutation[] {
  return [{ op: 'set', field: 'password_hash', value: passwordHash }, ...unlocked, ...noInvitation]
}

const defaults: JsonObject = {
  email: null,
  firstname: '',
  lastname: '',
  timezone: 'UTC',
  language: 'en',
  settings: [],
  custom_scopes: [],
  groups: [],
  is_active: true,
  login_attempts: 0,
  locked_until: 0,
  last_activity: 0,
}

export async function createUser(
  context: AccessContext,
  input: JsonObject,
  by: Identity,
): Promise<JsonObject> {
  requirePerson(by)
  const { password_hash: imported, ...others } = input
  if (imported !== undefined) {
    const problem = typeof imported === 'string' ? storedHashProblem(imported) : 'must be a text'
    if (problem) throw invalidField('password_hash', `password_hash ${problem}.`)
    const { fields, password } = userInput(others, ['username'])
    if (password !== undefined)
      throw invalidField('password', 'password is not set together with password_hash. Send one of them.')
    return createUserWith(context, fields, textIn(imported), by)
  }
  const { fields, password } = userInput(input, [
    'username',
    ...(input.is_service === true ? [] : ['password']),
  ])
  if (fields.is_service === true) {
    checkService(fields, password)
    return createUserWith(context, fields, undefined, by)
  }
  await checkPassword(password ?? '', textIn(fields.username))
  return createUserWith(context, fields, await context.passwords.hash(password ?? ''), by)
}

/** Fields are checked. `more`: what else the transaction does with the new user; gives the user after it. */
export async function createUserWith(
  context: AccessContext,
  fields: JsonObject,
  passwordHash: string | undefined,
  by: Identity,
  more: (session: Session, user: JsonObject) => Promise<JsonObject> = async (_session, user) => user,
): Promise<JsonObject> {
  requirePerson(by)
  return transact(
    context.database,
    async (session) => {
      await takeTurn(session, context.turnGuid)
      await checkGrants(session, by, grantsOf(fields), noGrants)
      return publicUser(await more(session, await insertUser(session, fields, passwordHash)))
    },
    { user: { guid: by.guid, username: by.username } },
  )
}

/** Stores a new user and gives the record. The turn is taken and the fields are checked. */
export async function insertUser(session: Session, fields: JsonObject, passwordHash: string | undefined) {
  if (fields.is_service === true) checkService(fields, passwordHash)
  await checkNamesFree(session, fields, undefined)
  const record = {
    ...defaults,
    ...fields,
    ...(passwordHash !== undefined && { password_hash: passwordHash }),
  }
  return documentOf(await session.create(systemStorages.users, mutationsFor(record)))
}

/** INVALID_BODY for what would let a person sign in as a service account, or send it mail. */
function checkService({ email = null }: JsonObject, password: string | undefined): void {
  if (password !== undefined)
    throw invalidField('password', 'A service account has no password: programs use its API keys.')
  if (email !== null) throw invalidField('email', 'A service account has no e-mail address: it gets no mail.')
}

/**
 * Changes what is given. A new password or `is_active: false` signs the user out everywhere. A user's own password is
 * refused unless the current one was asked for (`knowsPassword`): a person at an unlocked screen must not take over the
 * account, whatever the path.
 */
export async function updateUser(
  context: AccessContext,
  guid: string,
  changes: JsonObject,
  by: Identity,
  knowsPassword: boolean,
): Promise<JsonObject> {
  requirePerson(by)
  const { fields, password } = userInput(changes)
  if (password !== undefined) await checkPassword(password, textIn(fields.username))
  const passwordHash = password === undefined ? undefined : await context.passwords.hash(password)
  return changeUser(context, guid, by, async (session, user) => {
    if (fields.is_service !== undefined && fields.is_service !== user.isService)
      throw invalidField('is_service', 'is_service is chosen when a user is created. Create another user.')
    if (password !== undefined) {
      if (by.guid === user.guid && !knowsPassword)
        throw invalidField('current_password', 'current_password is needed to change your own password.')
      await checkPassword(password, textIn(fields.username) || user.username)
    }
    const newAddress = fields.email !== undefined && fields.email !== (user.document.email ?? null)
    // A link to a new password would be sent there.
    if (newAddress && by.guid === user.guid && !knowsPassword)
      throw invalidField('current_password', 'current_password is needed to change your own e-mail address.')
    await checkGrants(session, by, grantsOf(fields, user), user)
    return writeFields(session, user, fields, passwordHash)
  })
}

/** Stores fields that are checked, and ends what ends with them: links, sessions. The turn is taken. CONFLICT for a name that is taken. */
export async function writeFields(
  session: Session,
  { guid, document, isService }: UserRecord,
  { is_service: _, ...fields }: JsonObject,
  passwordHash?: string,
): Promise<JsonObject> {
  if (isService) checkService(fields, passwordHash)
  await checkNamesFree(session, fields, guid)
  const mutations = mutationsFor(fields)
  if (passwordHash !== undefined) mutations.push(...newPassword(passwordHash))
  if (mutations.length === 0) return document
  const updated = await write(session, guid, mutations)
  const newAddress = fields.email !== undefined && fields.email !== (document.email ?? null)
  if (newAddress || passwordHash !== undefined || fields.is_active === false)
    await deleteLinksOf(session, guid)
  if (passwordHash !== undefined) await forgetFailures(session, { user: guid })
  if (passwordHash !== undefined || fields.is_active === false) await deleteTokensOf(session, guid)
  return updated
}

/** Soft delete; tokens, API keys, password, passkeys and second factor are deleted permanently. */
export async function removeUser(context: AccessContext, guid: string, by: Identity): Promise<JsonObject> {
  return changeUser(context, guid, by, (session) => deleteUser(session, guid))
}

/** The turn is taken. */
export async function deleteUser(session: Session, guid: string): Promise<JsonObject> {
  await write(session, guid, [{ op: 'remove', field: 'password_hash' }, ...removals()])
  await deleteTokensOf(session, guid)
  await deleteLinksOf(session, guid)
  await deleteKeysOf(session, guid)
  await deleteAccountsOf(session, guid)
  await deletePasskeysOf(session, guid)
  const removed = await session.setRemoved(systemStorages.users, guid, true)
  if (removed.outcome !== 'written') throw noSuchUser(guid)
  return documentOf(removed.document)
}

/** Unlocks the user, for every network. */
export async function resetLoginAttempts(
  context: AccessContext,
  guid: string,
  by: Identity,
): Promise<JsonObject> {
  return changeUser(context, guid, by, async (session) => {
    const user = await write(session, guid, unlocked)
    await forgetFailures(session, { user: guid })
    return user
  })
}

/** Which groups a user is to be in. Guids. */
export interface GroupChoice {
  /** The groups that are looked at: the user stays in all others. */
  readonly among: readonly string[]
  /** Of these. */
  readonly groups: readonly string[]
}

/** Reads and writes in one transaction. NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT for the last administrator. */
export function setGroups(
  context: AccessContext,
  guid: string,
  { among, groups }: GroupChoice,
  by: Identity,
): Promise<JsonObject> {
  return changeUser(context, guid, by, async (session, user) => {
    const others = user.groups.filter((group) => !among.includes(group))
    const next = [...others, ...groups]
    await checkGrants(session, by, { customScopes: user.customScopes, groups: next }, user)
    const written = await session.update(systemStorages.users, guid, setFields({ groups: next }))
    return written.outcome === 'written' ? documentOf(written.document) : user.document
  })
}

export async function getUser(context: AccessContext, guid: string): Promise<JsonObject | undefined> {
  const stored = await context.database.session().get(systemStorages.users, guid)
  return stored && publicUser(documentOf(stored))
}

export async function activeUser(
  context: AccessContext,
  guid: string,
): Promise<Pick<Identity, 'user' | 'scopes'> | undefined> {
  const session = context.database.session()
  const stored = await session.get(systemStorages.users, guid)
  const user = stored && userRecord(documentOf(stored))
  if (!user?.isActive) return undefined
  return { user: publicUser(user.document), scopes: await scopesOf(session, user) }
}

export async function scopesOfUser(
  context: AccessContext,
  guid: string,
): Promise<ReadonlySet<string> | undefined> {
  const session = context.database.session()
  const stored = await session.get(systemStorages.users, guid)
  return stored && scopesOf(session, userRecord(documentOf(stored)))
}

/** NOT_FOUND, INSUFFICIENT_PERMISSIONS, or CONFLICT if no administrator is left; nothing is changed then. */
export async function changeUser(
  context: AccessContext,
  guid: string,
  by: Identity,
  work: (session: Session, user: UserRecord) => Promise<JsonObject>,
): Promise<JsonObject> {
  requirePerson(by)
  return transact(
    context.database,
    async (session) => {
      await takeTurn(session, context.turnGuid)
      const stored = await session.get(systemStorages.users, guid)
      if (!stored) throw noSuchUser(guid)
      const user = userRecord(documentOf(stored))
      await checkMayChange(session, by, user)
      const wasAdministrator = await isAdministrator(session, user)
      const changed = await work(session, user)
      if (wasAdministrator) await checkAdministratorLeft(session)
      return publicUser(changed)
    },
    { user: { guid: by.guid, username: by.username } },
  )
}

async function write(session: Session, guid: string, mutations: readonly Mutation[]): Promise<JsonObject> {
  const written = await session.update(systemStorages.users, guid, mutations)
  if (written.outcome !== 'written') throw noSuchUser(guid)
  return documentOf(written.document)
}

/**
 * CONFLICT if another user signs in with the name or address. A name may not be another's address either: its owner
 * would be asked for the wrong password.
 */
async function checkNamesFree(session: Session, fields: JsonObject, self: string | undefined): Promise<void> {
  for (const field of ['username', 'email']) {
    const value = fields[field]
    if (typeof value !== 'string') continue
    for (const key of ['username_key', 'email_key']) {
      const owner = await findOne(session, systemStorages.users, key, folded(value))
      if (owner && guidOf(owner) !== self)
        throw new QuoinError('CONFLICT', `The ${field} ${value} is taken by another user. Choose another.`)
    }
  }
}

/** Each field as it is, and the keys by which names are compared. */
function mutationsFor(fields: JsonObject): Mutation[] {
  const keys: Record<string, JsonValue> = {}
  if (typeof fields.username === 'string') keys.username_key = folded(fields.username)
  if (fields.email !== undefined)
    keys.email_key = typeof fields.email === 'string' ? folded(fields.email) : null
  return Object.entries({ ...fields, ...keys }).map(([field, value]) => ({ op: 'set', field, value }))
}

/** The scopes and groups of the fields; where they say nothing, those of before. */
function grantsOf(fields: JsonObject, before: Grants = noGrants): Grants {
  return {
    customScopes: fields.custom_scopes === undefined ? before.customScopes : textsIn(fields.custom_scopes),
    groups: fields.groups === undefined ? before.groups : textsIn(fields.groups),
  }
}

function noSuchUser(guid: string): QuoinError {
  return new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
}
