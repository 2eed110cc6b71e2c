/**
 * Groups by SCIM. A group that SCIM creates holds no scopes until an administrator grants it some. Who is in it is written at the users, so a group
 * of a million members costs a change of one member no more than a small one; a list of members is read a page at a time.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { AccessContext } from '../../access/access-context.ts'
import { checkGroupInput, checkNameFree, removeGroup } from '../../access/group-changes.ts'
import type { Identity } from '../../access/identity-cache.ts'
import { MOST_GROUPS } from '../../access/user-input.ts'
import { userRecord } from '../../access/user-record.ts'
import { folded } from '../../access/visible-text.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll, type Query, type Scalar, search } from '../../shared/query.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { checkMayFill, checkMayProvision, provision, storedRecord } from './scim-access.ts'
import { type Operator, scimFilter, scimRefused, textComparison } from './scim-filter.ts'
import { GROUP_SCHEMA, type GroupChange, groupFields, groupVersion, patchedGroup } from './scim-group.ts'
import { commonComparison, type ScimList, scimPage } from './scim-list.ts'
import { metaOf } from './scim-user.ts'
import type { VersionCheck } from './scim-users.ts'

const { groups, users } = systemStorages

/** Changed by one request, and of a group whose members are replaced. */
const MOST_MEMBERS = 1_000
/** Members that are written before other requests have a turn of the event loop. */
const AT_ONCE = 10
const READ_AT_ONCE = 200

export interface ScimGroups {
  /** Without members. */
  list(list: ScimList): Promise<JsonObject>
  /** With the members that the list asks for, unless it is undefined. */
  get(guid: string, members: ScimList | undefined): Promise<JsonObject>
  create(body: unknown, by: Identity): Promise<JsonObject>
  replace(guid: string, body: unknown, by: Identity, check: VersionCheck): Promise<JsonObject>
  patch(guid: string, body: unknown, by: Identity, check: VersionCheck): Promise<void>
  remove(guid: string, by: Identity, check: VersionCheck): Promise<void>
}

export function scimGroups(context: AccessContext, base: () => string): ScimGroups {
  const shown = (record: JsonObject) => groupResource(record, base())
  const change = (guid: string, fields: GroupChange, by: Identity, check: VersionCheck) =>
    provision(context, by, async (session, owner) => {
      const record = await storedRecord(session, groups, guid)
      await checkMayFill(session, owner, guid)
      check(groupVersion(record))
      const written = await changeNames(session, record, fields)
      await changeMembers(session, owner, guid, fields.members)
      return shown(written)
    })
  return {
    async list(list) {
      const query = list.filter === undefined ? matchAll : scimFilter(list.filter, groupComparison)
      const { records, about } = await scimPage(context.database.session(), groups, query, list)
      return { ...about, Resources: records.map(shown) }
    },
    async get(guid, members) {
      const session = context.database.session()
      const group = shown(await storedRecord(session, groups, guid))
      return members ? { ...group, ...(await membersOf(session, guid, members, base())) } : group
    },
    async create(body, by) {
      const fields = groupFields(body)
      checkGroupInput({ name: fields.name ?? '' })
      return provision(context, by, async (session, owner) => {
        const { name = '', external_id = '' } = fields
        await checkNameFree(session, name, undefined)
        const named = { name, name_key: folded(name), description: '', scopes: [], external_id }
        const created = await session.create(
          groups,
          setFields({ ...named, is_active: true, second_factor_days: null }),
        )
        const record = documentOf(created)
        await changeMembers(session, owner, guidOf(record), fields.members)
        return shown(record)
      })
    },
    replace: async (guid, body, by, check) => change(guid, groupFields(body), by, check),
    async patch(guid, body, by, check) {
      await change(guid, patchedGroup(body), by, check)
    },
    async remove(guid, by, check) {
      const owner = await provision(context, by, async (session, identity) => {
        const record = await storedRecord(session, groups, guid)
        await checkMayFill(session, identity, guid)
        check(groupVersion(record))
        return identity
      })
      await removeGroup(context, guid, owner)
    },
  }
}

async function changeNames(
  session: Session,
  record: JsonObject,
  { name, external_id }: GroupChange,
): Promise<JsonObject> {
  const newName = name === record.name ? undefined : name
  const newId = external_id === (record.external_id ?? '') ? undefined : external_id
  if (newName === undefined && newId === undefined) return record
  if (newName !== undefined) {
    checkGroupInput({ name: newName })
    await checkNameFree(session, newName, guidOf(record))
  }
  const name_key = newName === undefined ? undefined : folded(newName)
  const written = await session.update(
    groups,
    guidOf(record),
    setFields({ name: newName, name_key, external_id: newId }),
  )
  return written.outcome === 'written' ? documentOf(written.document) : record
}

/** In the order of the message: what comes later counts. */
async function changeMembers(
  session: Session,
  owner: Identity,
  group: string,
  changes: GroupChange['members'],
): Promise<void> {
  const next = new Map<string, boolean>()
  for (const { op, users: guids } of changes) {
    if (op === 'replace' || guids === 'all') {
      next.clear()
      for (const guid of await presentMembers(session, group)) next.set(guid, false)
    }
    if (guids !== 'all') for (const guid of guids) next.set(guid, op !== 'remove')
    if (next.size > 2 * MOST_MEMBERS) throw tooMany()
  }
  let count = 0
  for (const [guid, isMember] of next) {
    await setMember(session, owner, { group, guid, isMember })
    count += 1
    if (count % AT_ONCE === 0) await turn()
  }
}

/** In pages: to read 1,001 users at once holds the event loop for 50 ms. */
async function presentMembers(session: Session, group: string): Promise<readonly string[]> {
  const members: string[] = []
  let after: string | undefined
  do {
    const page = search({
      query: memberQuery(group),
      limit: READ_AT_ONCE,
      ...(after !== undefined && { after }),
    })
    const found = await session.find(users, page)
    members.push(...documentsOf(found).map(guidOf))
    if (members.length > MOST_MEMBERS) throw tooMany()
    after = found.next()
    await turn()
  } while (after !== undefined)
  return members
}

function tooMany() {
  return scimRefused(
    'tooMany',
    `One request changes at most ${MOST_MEMBERS} members, and replaces those of a group with at most so many. Add and remove some at a time.`,
  )
}

async function setMember(
  session: Session,
  owner: Identity,
  { group, guid, isMember }: { readonly group: string; readonly guid: string; readonly isMember: boolean },
): Promise<void> {
  const stored = await session.get(users, guid)
  if (!stored) {
    // Who was removed is in no group any more.
    if (!isMember) return
    throw scimRefused('invalidValue', `There is no user ${guid}, who should be a member.`)
  }
  const user = userRecord(documentOf(stored))
  if (user.groups.includes(group) === isMember) return
  await checkMayProvision(session, owner, user, false)
  const after = isMember ? [...user.groups, group] : user.groups.filter((other) => other !== group)
  if (after.length > MOST_GROUPS)
    throw scimRefused('tooMany', `The user ${guid} would be in more than ${MOST_GROUPS} groups.`)
  await session.update(users, guid, setFields({ groups: after }))
}

function memberQuery(group: string): Query {
  return { kind: 'term', field: 'groups', value: group }
}

async function membersOf(session: Session, group: string, list: ScimList, base: string): Promise<JsonObject> {
  const { records, about } = await scimPage(session, users, memberQuery(group), list)
  const members = records.map((user): JsonValue => {
    const value = guidOf(user)
    return { value, display: textIn(user.username), $ref: `${base}/Users/${value}`, type: 'User' }
  })
  return { members, [MEMBERS_SCHEMA]: about }
}

/** Which page of its members a group shows. */
const MEMBERS_SCHEMA = 'urn:quoin:params:scim:schemas:extension:members:2.0:Group'

function groupResource(record: JsonObject, base: string): JsonObject {
  const id = guidOf(record)
  const externalId = textIn(record.external_id)
  const about = { resourceType: 'Group', location: `${base}/Groups/${id}`, version: groupVersion(record) }
  return {
    schemas: [GROUP_SCHEMA],
    id,
    ...(externalId !== '' && { externalId }),
    displayName: textIn(record.name),
    meta: metaOf(record, about),
  }
}

function groupComparison(path: string, operator: Operator, value: Scalar): Query | undefined {
  if (path !== 'displayname') return commonComparison(path, operator, value)
  if (operator === 'pr') return matchAll
  return textComparison('name_key', operator, folded(String(value)))
}
