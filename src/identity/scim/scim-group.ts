/** What a message of SCIM says about a group (RFC 7643, 4.2): its names, and who comes in or goes. */
import { isGuid } from '../../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { scimRefused } from './scim-filter.ts'
import { attributesOf, readPath, type ScimChange, scimChanges } from './scim-patch.ts'
import { checkedExternalId, versionOf } from './scim-user.ts'

export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group'

/** Named in one message. */
const MOST_MEMBERS = 1_000
const BY_VALUE = /^\s*value\s+eq\s+"([^"\\]*)"\s*$/i

interface MemberChange {
  readonly op: ScimChange['op']
  /** Guids. `all`: whatever members there are. */
  readonly users: readonly string[] | 'all'
}

export interface GroupChange {
  readonly name?: string
  readonly external_id?: string
  readonly members: readonly MemberChange[]
}

export function patchedGroup(body: unknown): GroupChange {
  return changeOf(scimChanges(body))
}

/** A whole resource: its members take the place of those that are there. */
export function groupFields(body: unknown): GroupChange & { readonly name: string } {
  const sent = attributesOf(body).map(
    ([name, value]): ScimChange => ({ op: 'replace', ...readPath(name), value }),
  )
  const { name, external_id = '', members } = changeOf(sent)
  if (name === undefined) throw scimRefused('invalidValue', 'displayName is required.')
  return { name, external_id, members: members.length > 0 ? members : [{ op: 'replace', users: [] }] }
}

function changeOf(changes: readonly ScimChange[]): GroupChange {
  const members: MemberChange[] = []
  let [name, external]: (string | undefined)[] = []
  let count = 0
  for (const change of changes) {
    const { op, attribute, value } = change
    if (attribute === 'displayname') name = nameOf(value)
    else if (attribute === 'externalid') external = op === 'remove' ? '' : checkedExternalId(value ?? '')
    else if (attribute === 'members') {
      const users = usersOf(change)
      count += users === 'all' ? 0 : users.length
      if (count > MOST_MEMBERS)
        throw scimRefused('tooMany', `One request names at most ${MOST_MEMBERS} members. Send several.`)
      members.push({ op, users })
    }
  }
  return {
    ...(name !== undefined && { name }),
    ...(external !== undefined && { external_id: external }),
    members,
  }
}

function nameOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value
  throw scimRefused('invalidValue', 'displayName must be a text.')
}

function usersOf({ op, filter, value }: ScimChange): readonly string[] | 'all' {
  if (filter !== undefined) {
    const guid = BY_VALUE.exec(filter)?.[1]
    if (guid === undefined || op !== 'remove')
      throw scimRefused('invalidPath', 'Members are removed by members[value eq "…"].')
    return [guid]
  }
  if (value === undefined || value === null) {
    if (op === 'remove') return 'all'
    throw scimRefused('invalidValue', 'members must be a list of { "value": guid of a user }.')
  }
  return [value].flat().map(guidIn)
}

function guidIn(member: JsonValue): string {
  const guid = isJsonObject(member) ? textIn(member.value) : textIn(member)
  if (!isGuid(guid))
    throw scimRefused(
      'invalidValue',
      `A member is { "value": guid of a user }; got ${JSON.stringify(member).slice(0, 80)}.`,
    )
  return guid
}

/** The entity tag of a group. Members are not part of it: their number has no limit. */
export function groupVersion({ name = '', external_id = '' }: JsonObject): string {
  return versionOf([name, external_id])
}
