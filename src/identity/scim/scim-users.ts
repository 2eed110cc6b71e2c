/** Users by SCIM: found, created, changed, deactivated and removed. They have no password and sign in with a provider. */
import type { AccessContext } from '../../access/access-context.ts'
import type { Identity } from '../../access/identity-cache.ts'
import { checkAdministratorLeft, isAdministrator } from '../../access/permitted-change.ts'
import { groupsOf } from '../../access/scopes.ts'
import { userRecord } from '../../access/user-record.ts'
import { deleteUser, insertUser, writeFields } from '../../access/users.ts'
import { folded } from '../../access/visible-text.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { matchAll, type Query, type Scalar } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { guidOf, textIn, textsIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { checkMayProvision, provision, storedRecord } from './scim-access.ts'
import { type Operator, scimFilter, textComparison } from './scim-filter.ts'
import { commonComparison, type ScimList, scimPage } from './scim-list.ts'
import { patchedUser, userFields, userResource, userVersion } from './scim-user.ts'

const { users } = systemStorages

/** Refuses a version that is not the one that the client changes: PRECONDITION_FAILED. */
export type VersionCheck = (version: string) => void

export interface ScimUsers {
  list(list: ScimList): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  create(body: unknown, by: Identity): Promise<JsonObject>
  /** What the resource leaves out is emptied. */
  replace(guid: string, body: unknown, by: Identity, check: VersionCheck): Promise<JsonObject>
  patch(guid: string, body: unknown, by: Identity, check: VersionCheck): Promise<JsonObject>
  remove(guid: string, by: Identity, check: VersionCheck): Promise<void>
}

/** `base`: the address of SCIM, for links. */
export function scimUsers(context: AccessContext, base: () => string): ScimUsers {
  const shown = async (session: Session, records: readonly JsonObject[]) => {
    const guids = [...new Set(records.flatMap(({ groups }) => textsIn(groups)))]
    const found = await groupsOf(session, guids)
    const names = new Map(found.map((group) => [guidOf(group), textIn(group.name)]))
    return records.map((record) => userResource(record, names, base()))
  }
  const shownOne = async (session: Session, record: JsonObject) => (await shown(session, [record]))[0] ?? {}
  const change = (guid: string, fields: JsonObject, by: Identity, check: VersionCheck) =>
    provision(context, by, async (session, owner) =>
      shownOne(
        session,
        await changeUser(session, owner, await storedRecord(session, users, guid), { fields, check }),
      ),
    )
  return {
    async list(list) {
      const query = list.filter === undefined ? matchAll : scimFilter(list.filter, userComparison)
      const session = context.database.session()
      const { records, about } = await scimPage(session, users, query, list)
      return { ...about, Resources: await shown(session, records) }
    },
    async get(guid) {
      const session = context.database.session()
      return shownOne(session, await storedRecord(session, users, guid))
    },
    async create(body, by) {
      const fields = userFields(body, false)
      return provision(context, by, async (session) => {
        await checkExternalIdFree(session, fields, undefined)
        return shownOne(session, await insertUser(session, fields, undefined))
      })
    },
    replace: async (guid, body, by, check) => change(guid, userFields(body, true), by, check),
    patch: async (guid, body, by, check) => change(guid, patchedUser(body), by, check),
    remove: (guid, by, check) =>
      provision(context, by, async (session, owner) => {
        const record = await storedRecord(session, users, guid)
        await checkMayProvision(session, owner, userRecord(record), false)
        check(userVersion(record))
        await deleteUser(session, guid)
      }),
  }
}

async function changeUser(
  session: Session,
  owner: Identity,
  record: JsonObject,
  { fields, check }: { readonly fields: JsonObject; readonly check: VersionCheck },
): Promise<JsonObject> {
  const user = userRecord(record)
  const changed = Object.entries(fields).filter(([name, value]) => (record[name] ?? emptyOf(name)) !== value)
  const onlyEnds = changed.every(([name, value]) => name === 'is_active' && value === false)
  await checkMayProvision(session, owner, user, onlyEnds)
  check(userVersion(record))
  const changes = Object.fromEntries(changed)
  await checkExternalIdFree(session, changes, user.guid)
  const wasAdministrator = await isAdministrator(session, user)
  const written = await writeFields(session, user, changes)
  if (wasAdministrator) await checkAdministratorLeft(session)
  return written
}

function emptyOf(name: string): '' | null {
  return name === 'external_id' ? '' : null
}

/** Of two users with one account at the provider it would be unclear who signs in. */
async function checkExternalIdFree(
  session: Session,
  fields: JsonObject,
  self: string | undefined,
): Promise<void> {
  const externalId = textIn(fields.external_id)
  if (externalId === '') return
  const owner = await findOne(session, users, 'external_id', externalId)
  if (owner && guidOf(owner) !== self)
    throw new QuoinError('CONFLICT', `Another user has the externalId ${externalId}.`)
}

/** Names and addresses are compared as at the sign-in: whatever their case is. */
function userComparison(path: string, operator: Operator, value: Scalar): Query | undefined {
  const term = (field: string, sought: Scalar): Query | undefined =>
    operator === 'eq' ? { kind: 'term', field, value: sought } : undefined
  switch (path) {
    case 'username':
      return operator === 'pr' ? matchAll : textComparison('username_key', operator, folded(String(value)))
    case 'emails':
    case 'emails.value':
      return textComparison('email_key', operator, folded(String(value)))
    case 'active':
      return term('is_active', value === true || String(value).toLowerCase() === 'true')
    case 'groups':
    case 'groups.value':
      return term('groups', String(value))
    case 'name.givenname':
      return nameComparison('firstname', operator, String(value))
    case 'name.familyname':
      return nameComparison('lastname', operator, String(value))
    default:
      return commonComparison(path, operator, value)
  }
}

/** Names are stored as they are written, and compared whatever their case is. */
function nameComparison(field: string, operator: Operator, value: string): Query | undefined {
  if (operator === 'pr') return textComparison(field, operator, value)
  const test = tests.get(operator)
  return test && { kind: 'caseless', field, test, value }
}

const tests = new Map<Operator, Extract<Query, { kind: 'caseless' }>['test']>([
  ['eq', 'equals'],
  ['co', 'contains'],
  ['sw', 'startsWith'],
  ['ew', 'endsWith'],
])
