/**
 * Messages that change a resource (RFC 7644, 3.5.2), as Entra and Okta send them: `op` in any case, without a path an object of attributes whose names
 * may be paths themselves, and a path may have a filter: `emails[type eq "work"].value`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { attributeName, scimRefused } from './scim-filter.ts'

const MOST_OPERATIONS = 1_000
/** Attributes of one operation without a path. */
const MOST_ATTRIBUTES = 100
const LONGEST_PATH = 500

/** `emails[type eq "work"].value`: `emails`, `type eq "work"`, `value`. */
const PATH = /^([A-Za-z][\w:.$-]*)(?:\[([^\]]*)\](?:\.([A-Za-z$][\w$-]*))?)?$/

export interface ScimChange {
  readonly op: 'add' | 'replace' | 'remove'
  /** Small letters, dotted, without the name of a core schema: `name.familyname`. */
  readonly attribute: string
  /** What stands in brackets behind the attribute. */
  readonly filter?: string
  /** Behind the brackets, in small letters. */
  readonly part?: string
  /** undefined with `remove`, mostly. */
  readonly value: JsonValue | undefined
}

/** INVALID_BODY. */
export function scimChanges(body: unknown): readonly ScimChange[] {
  const { Operations: operations } = objectOf(body, 'The body')
  if (!Array.isArray(operations) || operations.length === 0)
    throw scimRefused('invalidSyntax', 'Operations must be a list with at least one operation.')
  if (operations.length > MOST_OPERATIONS)
    throw scimRefused(
      'tooMany',
      `A patch has at most ${MOST_OPERATIONS} operations; got ${operations.length}.`,
    )
  return operations.flatMap(changesOf)
}

function changesOf(operation: JsonValue): readonly ScimChange[] {
  const { op: named, path, value } = objectOf(operation, 'An operation')
  const op = typeof named === 'string' ? named.toLowerCase() : ''
  if (op !== 'add' && op !== 'replace' && op !== 'remove')
    throw scimRefused(
      'invalidSyntax',
      `op must be add, replace or remove; got ${JSON.stringify(named ?? null)}.`,
    )
  if (typeof path === 'string' && path !== '') return [{ op, ...readPath(path), value }]
  if (path !== undefined && path !== null && path !== '')
    throw scimRefused('invalidPath', 'path must be a text.')
  if (op === 'remove') throw scimRefused('noTarget', 'A removal needs a path.')
  return attributesOf(value).map(([name, part]) => ({ op, ...readPath(name), value: part }))
}

/** The attributes of a resource that was sent as a whole: INVALID_BODY for what is no object. */
export function attributesOf(value: unknown): readonly (readonly [string, JsonValue])[] {
  const entries = Object.entries(objectOf(value, 'What replaces attributes'))
  if (entries.length > MOST_ATTRIBUTES)
    throw scimRefused('tooMany', `At most ${MOST_ATTRIBUTES} attributes are changed at once.`)
  return entries.filter(([name]) => !['schemas', 'meta', 'id'].includes(name.toLowerCase()))
}

export function readPath(path: string): Pick<ScimChange, 'attribute' | 'filter' | 'part'> {
  const found = path.length > LONGEST_PATH ? null : PATH.exec(path)
  if (!found)
    throw scimRefused('invalidPath', `The path ${JSON.stringify(path.slice(0, 60))} cannot be read.`)
  const [, attribute = '', filter, part] = found
  return {
    attribute: attributeName(attribute),
    ...(filter !== undefined && { filter }),
    ...(part !== undefined && { part: part.toLowerCase() }),
  }
}

function objectOf(value: unknown, what: string): JsonObject {
  if (isJsonObject(value)) return value
  throw scimRefused('invalidSyntax', `${what} must be an object.`)
}
