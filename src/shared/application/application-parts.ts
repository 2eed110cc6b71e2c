/**
 * What a blueprint needs beside its blocks, as parts of its file:
 *
 *   "groups": [{ "name": "Sales", "scopes": ["crm_read"] }],
 *   "storages": [{ "name": "goods", "history": true }],
 *   "fields": [{ "storage": "goods", "name": "sku", "type": "string", "unique": true }],
 *   "templates": [{ "name": "CRM", "content": { "layout": "side" } }]
 *
 * A part is the body that makes the record through the API, without what is at its default, and with the content of a template as
 * JSON instead of as a text. Parts have no guids: a field is known by its storage and name, the others by their name. `was` of a field is its
 * former name: where a field has that name and none the new one, it is renamed, and stored values go along. `fill` and `convert` say what
 * stored documents get when an application with the field is pushed.
 */
import { fieldTypes } from '../fields/field-type.ts'
import { wordFor } from '../fields/type-words.ts'
import { isJsonObject, type JsonObject, type JsonValue, memberOf, sameJson } from '../json.ts'

export const partKinds = ['groups', 'storages', 'fields', 'templates'] as const
export type PartKind = (typeof partKinds)[number]
export type ApplicationParts = Readonly<Record<PartKind, readonly JsonObject[]>>

/** Of one kind in a file. */
export const MOST_PARTS = 1_000

/** Where the API has them. */
export const partPaths: Readonly<Record<PartKind, string>> = {
  groups: '/_system/authentication-groups',
  storages: '/_system/storages',
  fields: '/blueprintfields',
  templates: '/blueprinttemplates',
}

/** What a record has when it was made without it. */
const defaults: Readonly<Record<PartKind, JsonObject>> = {
  groups: { description: '', scopes: [] },
  storages: { description: '', history: false, closed: false, constraints: [] },
  fields: {
    ...{ description: '', required: false, default_value: null, validation_rules: {}, metadata: {} },
    ...{ label: '', help: '', ignore_case: false, ignore_accents: false },
  },
  templates: { description: '', content: '', css: '', js: '' },
}

/** Written by the cluster, or of one cluster only. */
const own = [
  ...['_meta', 'key', 'name_key', 'created_by', 'modified_by', 'last_modified_by', 'blueprint_guid'],
  ...['problems', 'permissions', 'is_active', 'former_names', 'migration', 'settling', 'used_by'],
]

/** A record of the API as a part. */
export function partOf(kind: PartKind, record: JsonObject): JsonObject {
  const known = defaults[kind]
  const input = Object.entries(record).filter(
    ([key, value]) => !own.includes(key) && value !== null && !sameJson(value, memberOf(known, key) ?? null),
  )
  const part = Object.fromEntries(input)
  return kind === 'templates' ? { ...part, ...contentOf(part) } : part
}

/** The body that makes it. */
export function bodyOfPart({ was: _was, fill: _fill, convert: _convert, ...part }: JsonObject): JsonObject {
  const { content } = part
  return isJsonObject(content) ? { ...part, content: JSON.stringify(content) } : part
}

/** What changes a record from one part to another; undefined when they are the same. Groups only get scopes and lose none. */
export function changeOfPart(kind: PartKind, from: JsonObject, to: JsonObject): JsonObject | undefined {
  const [before, after] = [bodyOfPart(from), bodyOfPart(requestedPart(kind, from, to))]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changes = [...names].flatMap((name): [string, JsonValue][] => {
    const value = memberOf(after, name) ?? memberOf(defaults[kind], name) ?? null
    return sameJson(value, memberOf(before, name) ?? memberOf(defaults[kind], name) ?? null)
      ? []
      : [[name, value]]
  })
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

/** What changes a record back that such changes were made to. */
export function formerOf(kind: PartKind, record: JsonObject, changes: JsonObject): JsonObject {
  const former = bodyOfPart(partOf(kind, record))
  const names = Object.keys(changes)
  return Object.fromEntries(
    names.map((name) => [name, memberOf(former, name) ?? memberOf(defaults[kind], name) ?? null]),
  )
}

/** In words, for people. */
export function nameOfPart(kind: PartKind, { storage, name }: JsonObject): string {
  if (kind === 'groups') return `the group ${String(name)}`
  if (kind === 'templates') return `the template ${String(name)}`
  if (kind === 'storages') return `the storage ${String(name)}`
  return typeof storage === 'string' ? `the field ${String(name)} of ${storage}` : `the field ${String(name)}`
}

/** What is there once it is made: the cluster adds what a file may leave out. */
function requestedPart(kind: PartKind, from: JsonObject, to: JsonObject): JsonObject {
  if (kind === 'groups') return withScopesOf(from, to)
  if (kind !== 'fields') return to
  const type = wordFor(to.type, fieldTypes)
  return { ...(type === 'autonumber' && { unique: true }), ...to, ...(type !== undefined && { type }) }
}

function withScopesOf(from: JsonObject, to: JsonObject): JsonObject {
  const [before, after] = [from.scopes, to.scopes].map((scopes) => (Array.isArray(scopes) ? scopes : []))
  return { ...to, scopes: [...new Set([...(before ?? []), ...(after ?? [])])] }
}

/** A template's content is a text in the API. One that is no JSON stays a text. */
function contentOf({ content }: JsonObject): { readonly content?: JsonValue } {
  if (typeof content !== 'string') return {}
  try {
    const read: JsonValue = JSON.parse(content)
    return isJsonObject(read) ? { content: read } : {}
  } catch {
    return {}
  }
}
