/** Users as SCIM sees them (RFC 7643, 4.1). What Quoin does not keep (title, manager, phone numbers, a password) is ignored. */
import { hash } from 'node:crypto'
import { userInput } from '../../access/user-input.ts'
import { hasInvisible } from '../../access/visible-text.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { guidOf, numberIn, objectsIn, textIn, textsIn } from '../../storage/document-fields.ts'
import { scimRefused } from './scim-filter.ts'
import { attributesOf, readPath, type ScimChange, scimChanges } from './scim-patch.ts'

const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
const LONGEST_EXTERNAL_ID = 200

/** Fields of a record of ours, by the attribute in small letters. `name` and `emails` are taken apart first. */
const fieldOf: Readonly<Record<string, string>> = {
  username: 'username',
  externalid: 'external_id',
  active: 'is_active',
  'name.givenname': 'firstname',
  'name.familyname': 'lastname',
  preferredlanguage: 'language',
  locale: 'language',
  timezone: 'timezone',
  emails: 'email',
  'emails.value': 'email',
}

/** What a field is without a value. A user always has a name and is active or not. */
const emptied: Readonly<Record<string, JsonValue>> = {
  external_id: '',
  firstname: '',
  lastname: '',
  email: null,
  language: 'en',
  timezone: 'UTC',
}

/** The fields that a patch changes, checked. */
export function patchedUser(body: unknown): JsonObject {
  const fields: Record<string, JsonValue> = {}
  for (const change of scimChanges(body)) apply(fields, change)
  return checked(fields)
}

/** The fields of a whole resource, checked. With `all` those that it leaves out are emptied. */
export function userFields(body: unknown, all: boolean): JsonObject {
  const sent: Record<string, JsonValue> = {}
  for (const [name, value] of attributesOf(body)) apply(sent, { op: 'replace', ...readPath(name), value })
  if (!Object.hasOwn(sent, 'username')) throw scimRefused('invalidValue', 'userName is required.')
  return checked(all ? { ...emptied, ...sent } : sent)
}

function apply(fields: Record<string, JsonValue>, change: ScimChange): void {
  const { op, attribute, filter, part, value } = change
  if (attribute === 'name' && op !== 'remove') {
    if (!isJsonObject(value)) throw scimRefused('invalidValue', 'name must be an object.')
    for (const [name, inner] of Object.entries(value).slice(0, 20))
      apply(fields, { op, attribute: `name.${name.toLowerCase()}`, value: inner })
    return
  }
  if (attribute === 'name') for (const field of ['firstname', 'lastname']) fields[field] = ''
  const field = Object.hasOwn(fieldOf, attribute) ? fieldOf[attribute] : undefined
  if (field === undefined) return
  if (field === 'email') {
    applyMail(fields, { op, filter, part, value })
    return
  }
  if (op === 'remove' || value === null || value === undefined) {
    const empty = emptied[field]
    if (empty === undefined) throw scimRefused('invalidValue', `${attribute} cannot be removed.`)
    fields[field] = empty
    return
  }
  fields[field] = field === 'is_active' ? truthOf(value) : value
}

/** Quoin keeps one address: the primary one, else that of work, else the first. */
function applyMail(
  fields: Record<string, JsonValue>,
  {
    op,
    filter,
    part,
    value,
  }: Pick<ScimChange, 'op' | 'value'> & {
    readonly filter: string | undefined
    readonly part: string | undefined
  },
): void {
  const isOther =
    filter !== undefined && !/^\s*(?:type\s+eq\s+"work"|primary\s+eq\s+"?true"?)\s*$/i.test(filter)
  if (isOther || (part !== undefined && part !== 'value')) return
  if (op === 'remove' || value === null || value === undefined) {
    fields.email = null
    return
  }
  if (typeof value === 'string') {
    fields.email = value
    return
  }
  const mails = isJsonObject(value) ? [value] : objectsIn(value)
  const chosen =
    mails.find(({ primary }) => primary === true || primary === 'true' || primary === 'True') ??
    mails.find(({ type }) => textIn(type).toLowerCase() === 'work') ??
    mails[0]
  if (!chosen && Array.isArray(value) && value.length > 0)
    throw scimRefused('invalidValue', 'emails must be a list of objects.')
  // One more address beside the one that is there.
  if (op === 'add' && chosen && textIn(chosen.type).toLowerCase() === 'home') return
  fields.email = textIn(chosen?.value) || null
}

/** Entra sends the texts True and False. */
function truthOf(value: JsonValue): boolean {
  const word = typeof value === 'string' ? value.toLowerCase() : value
  if (word === true || word === 'true') return true
  if (word === false || word === 'false') return false
  throw scimRefused('invalidValue', 'active must be true or false.')
}

function checked({ external_id, ...others }: Record<string, JsonValue>): JsonObject {
  // A language or time zone that we do not know is no reason to refuse a user.
  for (const field of ['language', 'timezone'])
    if (Object.hasOwn(others, field) && !fits(field, others[field] ?? null)) delete others[field]
  const { fields } = userInput(others)
  return external_id === undefined ? fields : { ...fields, external_id: checkedExternalId(external_id) }
}

function fits(field: string, value: JsonValue): boolean {
  try {
    userInput({ [field]: value })
    return true
  } catch (error) {
    if (error instanceof QuoinError) return false
    throw error
  }
}

export function checkedExternalId(value: JsonValue): string {
  if (typeof value !== 'string' || value.length > LONGEST_EXTERNAL_ID || hasInvisible(value))
    throw scimRefused(
      'invalidValue',
      `externalId must be a text of at most ${LONGEST_EXTERNAL_ID} characters without invisible ones.`,
    )
  return value
}

/** The entity tag of a user: changes with what SCIM shows of it, and not with each sign-in. */
export function userVersion(record: JsonObject): string {
  const { username = '', external_id = '', email = null, firstname = '', lastname = '' } = record
  const { language = '', timezone = '', is_active = true } = record
  const shown = [username, external_id, email, firstname, lastname, language, timezone, is_active]
  return versionOf([...shown, textsIn(record.groups).toSorted()])
}

export function versionOf(shown: readonly JsonValue[]): string {
  return `W/"${hash('sha256', JSON.stringify(shown), 'hex').slice(0, 20)}"`
}

/** `groups`: the names of those that are there, by guid. */
export function userResource(
  record: JsonObject,
  groups: ReadonlyMap<string, string>,
  base: string,
): JsonObject {
  const id = guidOf(record)
  const [givenName, familyName] = [textIn(record.firstname), textIn(record.lastname)]
  const formatted = `${givenName} ${familyName}`.trim()
  const email = textIn(record.email)
  const externalId = textIn(record.external_id)
  return {
    schemas: [USER_SCHEMA],
    id,
    ...(externalId !== '' && { externalId }),
    userName: textIn(record.username),
    name: { givenName, familyName, formatted },
    displayName: formatted || textIn(record.username),
    emails: email === '' ? [] : [{ value: email, type: 'work', primary: true }],
    preferredLanguage: textIn(record.language),
    timezone: textIn(record.timezone),
    active: record.is_active === true,
    groups: textsIn(record.groups).flatMap((value) => {
      const display = groups.get(value)
      return display === undefined
        ? []
        : [{ value, display, $ref: `${base}/Groups/${value}`, type: 'direct' }]
    }),
    meta: metaOf(record, {
      resourceType: 'User',
      location: `${base}/Users/${id}`,
      version: userVersion(record),
    }),
  }
}

export function metaOf(record: JsonObject, more: JsonObject): JsonObject {
  const meta = isJsonObject(record._meta) ? record._meta : {}
  return { ...more, created: timeOf(meta.cms), lastModified: timeOf(meta.ums) }
}

/** Milliseconds. */
function timeOf(value: JsonValue | undefined): string {
  return new Date(numberIn(value)).toISOString()
}
