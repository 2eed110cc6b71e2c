/**
 * Making, changing and removing authentication groups. Every change takes the turn first (see `access-context.ts`) and
 * follows the rules of `permitted-change.ts`: users cannot grant a group a scope that they do not hold, or change a group
 * that has one, and the last administrator stays one.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { invalidField, QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, jsonProblem } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { type Search, search as searchFor } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import type { Session } from '../storage/database.ts'
import { documentOf } from '../storage/database.ts'
import { guidOf, textIn, textsIn } from '../storage/document-fields.ts'
import { documentsOf, findAll, findOne, findPage } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type AccessContext, takeTurn } from './access-context.ts'
import type { Identity } from './identity-cache.ts'
import { requirePerson } from './keys/allowed-endpoints.ts'
import { checkAdministratorLeft } from './permitted-change.ts'
import { firstMissingScope, scopeNameProblem } from './scopes.ts'
import { folded, hasInvisible } from './visible-text.ts'

export interface GroupInput {
  readonly name?: string
  readonly description?: string
  readonly scopes?: readonly string[]
  readonly is_active?: boolean
  /** Days from the first sign-in until its users need a second factor; null for never. */
  readonly second_factor_days?: number | null
}

const MAX_SCOPES = 1000

export async function searchGroups(context: AccessContext, search: Search): Promise<RecordPage> {
  const page = await findPage(context.database.session(), systemStorages.groups, search)
  return { ...page, records: page.records.map(publicGroup) }
}

export async function getGroup(context: AccessContext, guid: string): Promise<JsonObject | undefined> {
  const stored = await context.database.session().get(systemStorages.groups, guid)
  return stored && publicGroup(documentOf(stored))
}

/** INVALID_BODY, CONFLICT (name taken), INSUFFICIENT_PERMISSIONS (scope not held). */
export async function createGroup(
  context: AccessContext,
  input: GroupInput & { readonly name: string },
  by: Identity,
): Promise<JsonObject> {
  requirePerson(by)
  checkGroupInput(input)
  const { name, description = '', scopes = [], is_active = true, second_factor_days = null } = input
  return change(context, by, async (session) => {
    await takeTurn(session, context.turnGuid)
    checkHeld(by, scopes, 'grant')
    await checkNameFree(session, name, undefined)
    const fields = { name, name_key: folded(name), description, scopes, is_active, second_factor_days }
    return publicGroup(documentOf(await session.create(systemStorages.groups, setFields(fields))))
  })
}

/** Changes the given fields, for every user of the group at once. As {@link createGroup}; NOT_FOUND. */
export async function updateGroup(
  context: AccessContext,
  guid: string,
  changes: GroupInput,
  by: Identity,
): Promise<JsonObject> {
  requirePerson(by)
  checkGroupInput(changes)
  return change(context, by, async (session) => {
    await takeTurn(session, context.turnGuid)
    const before = await changeable(session, guid, by)
    const { name, description, scopes, is_active, second_factor_days } = changes
    checkHeld(by, scopes ?? [], 'grant')
    if (name !== undefined) await checkNameFree(session, name, guid)
    const name_key = name === undefined ? undefined : folded(name)
    const mutations = setFields({ name, name_key, description, scopes, is_active, second_factor_days })
    const written = await session.update(systemStorages.groups, guid, mutations)
    if (written.outcome !== 'written') throw noSuchGroup(guid)
    await checkStillAdministered(session, before)
    return publicGroup(documentOf(written.document))
  })
}

/** Soft delete: no user holds a scope through it any more. Then it is taken out of its users' lists, of many users by {@link emptyRemovedGroups}. */
export async function removeGroup(context: AccessContext, guid: string, by: Identity): Promise<void> {
  const user = { guid: by.guid, username: by.username }
  const note = await change(context, by, async (session) => {
    await takeTurn(session, context.turnGuid)
    const before = await changeable(session, guid, by)
    const removed = await session.setRemoved(systemStorages.groups, guid, true)
    if (removed.outcome !== 'written') throw noSuchGroup(guid)
    await checkStillAdministered(session, before)
    const fields = { name: `removed ${guid}`, removed_group: guid, user }
    return documentOf(await session.create(systemStorages.accessTurns, setFields(fields)))
  })
  let left = PAGES_OF_A_REMOVAL
  await leaveUsers(context, note, () => left-- <= 0)
}

const USERS_AT_ONCE = 200
/** That a removal waits for; the others follow within minutes. A client would wait ten minutes for a million users, and most end the request before. */
const PAGES_OF_A_REMOVAL = 5
/** Users that are written before other requests have a turn of the event loop. */
const USERS_OF_A_TURN = 10
/** Of removed groups, in one look. */
const MOST_GROUPS = 100

/** Goes on with the users that removals have left, also those that a node had no time for before it ended. */
export async function emptyRemovedGroups(context: AccessContext, isClosed: () => boolean): Promise<void> {
  const query = { kind: 'exists', field: 'removed_group' } as const
  for (const note of await findAll(
    context.database.session(),
    systemStorages.accessTurns,
    query,
    MOST_GROUPS,
  ))
    await leaveUsers(context, note, isClosed)
}

/** Page by page, so that each user is looked at once, in one transaction each, so that a large group does not keep the writer. */
async function leaveUsers(context: AccessContext, note: JsonObject, isOver: () => boolean): Promise<void> {
  const { database, turnGuid } = context
  const user = isJsonObject(note.user) ? note.user : {}
  const by = { user: { guid: textIn(user.guid), username: textIn(user.username) } }
  const guid = textIn(note.removed_group)
  const query = { kind: 'term', field: 'groups', value: guid } as const
  let after: string | undefined
  do {
    if (isOver()) return
    const page = searchFor({ query, limit: USERS_AT_ONCE, ...(after !== undefined && { after }) })
    const found = await database.session().find(systemStorages.users, page)
    after = found.next()
    const users = documentsOf(found).map(guidOf)
    if (users.length > 0) await transact(database, (session) => leave(session, turnGuid, guid, users), by)
  } while (after !== undefined)
  await transact(database, (session) => session.delete(systemStorages.accessTurns, guidOf(note)))
}

async function leave(
  session: Session,
  turnGuid: string,
  group: string,
  users: readonly string[],
): Promise<void> {
  await takeTurn(session, turnGuid)
  for (const [at, user] of users.entries()) {
    const stored = await session.get(systemStorages.users, user)
    const groups = stored ? textsIn(documentOf(stored).groups) : []
    const others = groups.filter((other) => other !== group)
    if (others.length < groups.length)
      await session.update(systemStorages.users, user, setFields({ groups: others }))
    if (at % USERS_OF_A_TURN === USERS_OF_A_TURN - 1) await turn()
  }
}

/** Every transaction that changes groups, so that none of them is open to API keys. */
async function change<T>(
  { database }: AccessContext,
  by: Identity,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  requirePerson(by)
  return transact(database, work, { user: { guid: by.guid, username: by.username } })
}

/** The group, if it is there and `by` holds everything that is in it. */
async function changeable(session: Session, guid: string, by: Identity): Promise<JsonObject> {
  const stored = await session.get(systemStorages.groups, guid)
  if (!stored) throw noSuchGroup(guid)
  const group = documentOf(stored)
  checkHeld(by, textsIn(group.scopes), 'change a group with')
  return group
}

function checkHeld(by: Identity, scopes: readonly string[], doing: string): void {
  const missing = firstMissingScope(by.scopes, scopes)
  if (missing !== undefined)
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      `You cannot ${doing} the scope ${missing}, because you do not hold it.`,
    )
}

async function checkStillAdministered(session: Session, before: JsonObject): Promise<void> {
  if (before.is_active === true && textsIn(before.scopes).includes('*')) await checkAdministratorLeft(session)
}

export async function checkNameFree(session: Session, name: string, self: string | undefined): Promise<void> {
  const owner = await findOne(session, systemStorages.groups, 'name_key', folded(name))
  if (owner && guidOf(owner) !== self)
    throw new QuoinError('CONFLICT', `There is a group named ${textIn(owner.name)}. Choose another name.`)
}

export function checkGroupInput({ name, description, scopes = [] }: GroupInput): void {
  if (name !== undefined && (name.trim() !== name || name === '' || [...name].length > 100))
    throw invalidField('name', 'name must have 1 to 100 characters, and no space at its ends.')
  if (name !== undefined && hasInvisible(name))
    throw invalidField('name', 'name must not contain invisible or control characters.')
  const problem = jsonProblem(description ?? '')
  if (problem) throw invalidField('description', `description ${problem}.`)
  if (scopes.length > MAX_SCOPES)
    throw invalidField('scopes', `scopes must have at most ${MAX_SCOPES} entries.`)
  for (const scope of scopes) {
    const wrong = scopeNameProblem(scope)
    if (wrong) throw invalidField('scopes', `The scope ${JSON.stringify(scope)} ${wrong}.`)
  }
}

function publicGroup(group: JsonObject): JsonObject {
  const { _meta = null, name = '', description = '', scopes = [], is_active = true } = group
  return { _meta, name, description, scopes, is_active, second_factor_days: group.second_factor_days ?? null }
}

function noSuchGroup(guid: string): QuoinError {
  return new QuoinError('NOT_FOUND', `There is no authentication group ${guid}.`)
}
