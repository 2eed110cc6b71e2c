/** Requests of the management API with a guid in each place where one can stand, from the schemas of the routes. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { objectOf } from './harness.ts'
import type { Contents } from './space-contents.ts'

export interface Endpoint {
  readonly method: string
  readonly path: string
  /** Names of parameters. */
  readonly inPath: readonly string[]
  readonly inQuery: readonly string[]
  readonly body: JsonObject | undefined
  /** Of a body that is no JSON. */
  readonly type: string | undefined
}

export interface Row {
  readonly name: string
  readonly method: string
  /** Whether it changes something of the space that asks, whatever the guid is of. */
  readonly changes?: true
  /** What the guid must be of to be found; undefined where any text may stand. */
  readonly kind: string | undefined
  /** The request of a space with these contents, but for one guid. */
  readonly sent: (
    own: Contents,
    guid: string,
  ) => { readonly path: string; readonly body?: JsonValue; readonly type?: string }
}

/** All but those that end the sessions which ask, streams without an end, and what is not one's own space's. */
export function endpointsOf(openApi: JsonValue | undefined): Endpoint[] {
  return Object.entries(objectOf(objectOf(openApi).paths)).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).flatMap(([method, operation]) => {
      if (/signout|logout|users\/me\/sessions$|\/static\/|\/stream$/.test(path)) return []
      const { requestBody, parameters } = objectOf(operation)
      const content = isJsonObject(requestBody) ? objectOf(requestBody.content) : {}
      const json = content['application/json']
      const all = Array.isArray(parameters) ? parameters.filter(isJsonObject) : []
      const named = (place: string) =>
        all.filter((one) => one.in === place && isText(one.schema)).map(({ name }) => String(name))
      const body = isJsonObject(json) ? objectOf(json.schema) : undefined
      const type = json === undefined ? Object.keys(content).find((one) => one === 'text/csv') : undefined
      const places = { inPath: named('path'), inQuery: named('query') }
      return [{ method: method.toUpperCase(), path, ...places, body, type }]
    }),
  )
}

function isText(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return false
  const { type, anyOf } = schema
  return (type === undefined && anyOf === undefined) ||
    type === 'string' ||
    (Array.isArray(anyOf) && anyOf.some(isText))
    ? schema.enum === undefined
    : false
}

/** By the beginning of a path, the longest first. */
const kinds: readonly (readonly [string, string])[] = [
  ['/users/', 'user'],
  ['/blueprints/', 'blueprint'],
  ['/blueprintactions/', 'block'],
  ['/blueprintfields/', 'field'],
  ['/blueprinttemplates/', 'template'],
  ['/_system/blueprintvalidation/', 'rule'],
  ['/runs/', 'run'],
  ['/_system/signin-providers/', 'provider'],
  ['/_system/authentication-groups/', 'group'],
  ['/_system/alerts/', 'alert'],
  ['/_system/pushes/', 'push'],
  ['/_system/drafts/', 'draft'],
  ['/_system/environment/', 'environment'],
  ['/_system/secrets/', 'secret'],
  ['/_system/connections/', 'connection'],
  ['/_system/operations/', 'operation'],
  ['/_system/storages/', 'storage'],
  ['/_system/assets/', 'asset'],
  ['/_system/waits/', 'wait'],
  ['/_hooks/', 'wait'],
  ['/queue/', 'job'],
]
const named = ['document', 'view', 'import', 'passkey']
/** Parameters of paths that take no guid, and what stands there. */
const plain: Readonly<Record<string, string>> = {
  ...{ name: 'marked', number: '1', identifier: 'reply', updatehash: 'none', path: 'x' },
}

/** Of a parameter of a path. Throws for one that is not known: what is it of? */
function kindOf(path: string, name: string): string | undefined {
  if (name in plain) return undefined
  if (named.includes(name)) return name
  if (['key', 'session', 'agent', 'account'].includes(name))
    return path.includes('/me/') ? `own ${name}` : name
  const kind = name === 'guid' ? kinds.find(([start]) => short(path).startsWith(start))?.[1] : undefined
  if (kind === undefined) throw new Error(`${path}: of what is the guid ${name}?`)
  return kind
}

const short = (path: string) => path.replace(/^\/api\/v1/, '')

const guidIn = (own: Contents, kind: string) => {
  const guid = own.get(kind)
  if (guid === undefined) throw new Error(`There is no ${kind}.`)
  return guid
}

/** `other`: what stands in place of one parameter. */
function pathOf(endpoint: Endpoint, own: Contents, other: Readonly<Record<string, string>> = {}) {
  const { path } = endpoint
  const kindAt = (name: string) => kindsOfRows[`${nameOf(endpoint)}, ${name}`] ?? kindOf(path, name)
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const kind = kindAt(name)
    return other[name] ?? (kind === undefined ? (plain[name] ?? '') : guidIn(own, kind))
  })
}

/** Where not each of its kind is found. */
const kindsOfRows: Readonly<Record<string, string>> = {
  'GET /_system/applications, blueprint': 'released blueprint',
  'GET /blueprints/{guid}/drafts, guid': 'released blueprint',
  'POST /_system/storages/{guid}/documents/{document}/restore, document': 'removed document',
  'DELETE /_system/storages/{guid}/documents/{document}, document': 'other document',
}

type Body = (own: Contents, guid: string) => JsonValue

/** Bodies that are valid, where {} is not. */
const bodies: Readonly<Record<string, Body>> = {
  'PUT /users/me/passkeys/{passkey}': () => ({ name: 'a' }),
  'POST /users/{guid}/keys': (_own, guid) => ({ name: `key ${guid}`, scopes: [] }),
  'POST /_system/pushes/{guid}/approve': () => ({ state: 'x' }),
  'POST /_system/drafts/{guid}/try': () => ({ steps: [{ nothing: 1 }] }),
  'POST /_system/drafts/{guid}/push': () => ({ state: 'x' }),
  'POST /blueprints/{guid}/preview': (own) => ({ page: own.get('block page') ?? '' }),
  'POST /blueprints/{guid}/edits': (own) => edit(own.get('block') ?? ''),
  'POST /_system/drafts': (_own, guid) => ({
    application: `a-${guid}`,
    changes: [{ path: 'a.json', text: '' }],
  }),
  'PUT /blueprints/{guid}/tracing': () => ({ on: true }),
  'POST /blueprints/{guid}/run': () => ({ trigger: 'GET marked' }),
  'POST /_system/storages/{guid}/views': () => ({ name: 'a', address: 'b' }),
  'POST /_system/storages/{guid}/documents/update-many': (own) => ({
    set: { text: 'b' },
    guids: [own.get('document') ?? ''],
  }),
  'POST /_system/storages/{guid}/documents/put-back': (own) => ({
    restore: [own.get('removed document') ?? ''],
  }),
  'POST /_system/storages/{guid}/documents/remove-many': (own) => ({
    guids: [own.get('removed document') ?? ''],
  }),
  'POST /_system/storages/{guid}/documents/restore-many': (own) => ({
    guids: [own.get('removed document') ?? ''],
  }),
  'POST /_system/connections/{guid}/try': () => ({ path: '/' }),
  'POST /_system/connections/{guid}/document/fetch': () => ({ url: 'http://127.0.0.1:1/' }),
  'PUT /_system/blueprintvalidation/{guid}/{updatehash}': () => ({ message: 'a' }),
}

/** Guids in bodies and queries that are found in their own space: the rest of the request is valid. */
const found: readonly (readonly [string, string, Body])[] = [
  [
    'POST /users',
    'group',
    (_own, group) => ({ username: `of ${group}`, password: 'a good password', groups: [group] }),
  ],
  ['PUT /users/{guid}', 'group', (_own, group) => ({ groups: [group] })],
  ['POST /blueprints/explain', 'user', (_own, user) => ({ method: 'GET', path: 'guarded', user })],
  ['POST /blueprints/{guid}/preview', 'block page', (_own, page) => ({ page })],
  [
    'POST /blueprintactions',
    'blueprint',
    (_own, blueprint) => ({ type: 'reply', blueprint_guid: blueprint }),
  ],
  ['POST /blueprints/{guid}/edits', 'block', (_own, guid) => edit(guid)],
  [
    'POST /blueprintfields',
    'blueprint',
    (_own, blueprint) => ({ name: 'a', type: 'string', blueprint_guid: blueprint }),
  ],
  ['POST /blueprints/{guid}/run', 'block', (_own, trigger) => ({ trigger })],
  ['POST /blueprints/{guid}/run', 'run', (_own, from_run) => ({ trigger: 'GET marked', from_run })],
  [
    'POST /blueprints/{guid}/run',
    'run',
    (own, run) => ({
      trigger: 'GET marked',
      state: 'saved',
      pinned: [{ block: own.get('block get') ?? '', run }],
    }),
  ],
  [
    'POST /runs/{guid}/replay',
    'run',
    (own, run) => ({ pinned: [{ block: own.get('block get') ?? '', run }] }),
  ],
  [
    'POST /_system/secrets/sign',
    'blueprint',
    (own, blueprint) => signed(blueprint, own.get('block check') ?? ''),
  ],
  ['POST /_system/secrets/sign', 'block check', (own, block) => signed(own.get('blueprint') ?? '', block)],
  ['POST /_system/waits/move', 'blueprint', (_own, blueprint) => ({ blueprint, dry_run: true })],
  [
    'POST /_system/waits/move',
    'approval',
    (own, wait) => ({ blueprint: own.get('blueprint') ?? '', waits: [wait], dry_run: true }),
  ],
  ['POST /_system/storages/{guid}/documents', 'document', (_own, about) => ({ text: 'a', about })],
  ['PUT /_system/storages/{guid}/documents/{document}', 'document', (_own, about) => ({ about })],
  ['POST /_system/storages/{guid}/documents/search', 'document', (_own, about) => ({ filters: { about } })],
  [
    'POST /_system/storages/{guid}/documents/update-many',
    'document',
    (_own, guid) => ({ set: { text: 'b' }, guids: [guid] }),
  ],
  [
    'POST /_system/storages/{guid}/documents/update-many',
    'document',
    (_own, about) => ({ set: { text: 'b' }, filters: { about } }),
  ],
  [
    'POST /_system/storages/{guid}/documents/remove-many',
    'spare document',
    (_own, guid) => ({ guids: [guid] }),
  ],
  [
    'POST /_system/storages/{guid}/documents/restore-many',
    'removed with others',
    (_own, guid) => ({ guids: [guid] }),
  ],
  [
    'POST /_system/storages/{guid}/documents/put-back',
    'document',
    (_own, guid) => ({ changes: [{ guid, from: { text: 'b' }, to: { text: 'c' } }] }),
  ],
  [
    'POST /_system/storages/{guid}/documents/put-back',
    'removed to be put back',
    (_own, guid) => ({ restore: [guid] }),
  ],
]

const edit = (guid: string) => ({ edits: [{ guid, update_hash: 'x', content: null }] })
const signed = (blueprint: string, block: string) => ({
  blueprint,
  block,
  method: 'POST',
  path: '/api/v1/hook',
  body: 'a',
})

/**
 * Two that are alike get other replies: of words that are in the log because they were asked for, while documents follow a
 * new name, and where the user has one of the two as name.
 */
const unlike = [/logs\S* query$/, /^PUT \/blueprintfields\S* name$/, /^PUT \/users\S* password$/]

/** Parameters of queries that name something by its guid. */
const asked: Readonly<Record<string, string>> = { blueprint: 'blueprint', trigger: 'block' }

export function rowsOf(endpoints: readonly Endpoint[]): Row[] {
  return endpoints.flatMap((endpoint) => [
    ...pathRows(endpoint),
    ...queryRows(endpoint),
    ...foundRows(endpoint),
    ...searchRows(endpoint),
    ...leafRows(endpoint),
  ])
}

/** Of a body of which one field at least must be there. */
const changeable = ['description', 'title', 'firstname', 'name']

const nameOf = ({ method, path }: Endpoint) => `${method} ${short(path)}`

function bodyOf(
  endpoint: Endpoint,
  own: Contents,
  guid: string,
): { readonly body?: JsonValue; readonly type?: string } {
  const { body, type } = endpoint
  if (type !== undefined) return { body: 'text\nbrought', type }
  return body ? { body: bodyIn(endpoint, own, guid) } : {}
}

function bodyIn(endpoint: Endpoint, own: Contents, guid: string): JsonValue {
  const known = bodies[nameOf(endpoint)]?.(own, guid)
  if (known !== undefined) return known
  const { minProperties, properties } = endpoint.body ?? {}
  const field = changeable.find((name) => isJsonObject(properties) && name in properties)
  return minProperties === undefined || field === undefined ? {} : { [field]: 'changed' }
}

function pathRows(endpoint: Endpoint): Row[] {
  const { method, path, inPath } = endpoint
  return inPath.map((name) => ({
    ...{
      name: `${nameOf(endpoint)}, ${name} in the path`,
      method,
      kind: kindsOfRows[`${nameOf(endpoint)}, ${name}`] ?? kindOf(path, name),
    },
    sent: (own, guid) => ({ path: pathOf(endpoint, own, { [name]: guid }), ...bodyOf(endpoint, own, guid) }),
  }))
}

function queryRows(endpoint: Endpoint): Row[] {
  const names = endpoint.inQuery.filter(
    (name) => !unlike.some((one) => one.test(`${nameOf(endpoint)} ${name}`)),
  )
  return names.map((name) => ({
    ...{
      name: `${nameOf(endpoint)}, ${name} in the query`,
      method: endpoint.method,
      kind: kindsOfRows[`${nameOf(endpoint)}, ${name}`] ?? asked[name],
    },
    sent: (own, guid) => ({
      path: `${pathOf(endpoint, own)}?${name}=${guid}`,
      ...bodyOf(endpoint, own, guid),
    }),
  }))
}

function foundRows(endpoint: Endpoint): Row[] {
  const name = nameOf(endpoint)
  return found.flatMap(([of, kind, body]) =>
    of === name
      ? [
          {
            ...{ name: `${name}, a ${kind} in the body`, method: endpoint.method, kind },
            sent: (own: Contents, guid: string) => ({ path: pathOf(endpoint, own), body: body(own, guid) }),
          },
        ]
      : [],
  )
}

/** What a list is of has the guid. */
function searchRows(endpoint: Endpoint): Row[] {
  if (!endpoint.path.endsWith('/search') || endpoint.method !== 'POST') return []
  const [, kind] = kinds.find(([start]) => short(endpoint.path) === `${start}search`) ?? []
  const isOfDocuments = endpoint.path.endsWith('/documents/search')
  return [
    {
      ...{ name: `${nameOf(endpoint)}, a filter`, method: 'POST', kind: isOfDocuments ? 'document' : kind },
      sent: (own, guid) => ({ path: pathOf(endpoint, own), body: { filters: { '_meta.guid': guid } } }),
    },
  ]
}

/** Each text of a body in turn. */
function leafRows(endpoint: Endpoint): Row[] {
  if (!endpoint.body || /\/auth\/|\/users\/me$/.test(endpoint.path)) return []
  const isShown = (leaf: Leaf) => !unlike.some((one) => one.test(`${nameOf(endpoint)} ${leaf.join('.')}`))
  return leavesOf(endpoint.body)
    .filter(isShown)
    .map((leaf) => ({
      ...{
        name: `${nameOf(endpoint)}, ${leaf.join('.')} in the body`,
        method: endpoint.method,
        kind: undefined,
      },
      ...{ changes: true as const },
      sent: (own, guid) => ({
        path: pathOf(endpoint, own),
        body: withLeaf(bodyIn(endpoint, own, guid), leaf, guid, endpoint.body),
      }),
    }))
}

type Leaf = readonly (string | 0)[]

function leavesOf(schema: JsonValue | undefined, at: Leaf = []): Leaf[] {
  if (!isJsonObject(schema) || at.length > 6) return []
  const { properties, items, anyOf, oneOf } = schema
  const choices = [anyOf, oneOf].flatMap((one) => (Array.isArray(one) ? one : []))
  const inside = [
    ...choices.flatMap((one) => leavesOf(one, at)),
    ...(isJsonObject(properties)
      ? Object.entries(properties).flatMap(([name, one]) => leavesOf(one, [...at, name]))
      : []),
    ...leavesOf(items, [...at, 0]),
  ]
  const all =
    at.length > 0 && choices.length === 0 && isText(schema) && schema.const === undefined
      ? [at, ...inside]
      : inside
  return [...new Map(all.map((leaf) => [leaf.join('.'), leaf])).values()]
}

/** What else its objects need is filled in. */
function withLeaf(
  body: JsonValue,
  [step, ...rest]: Leaf,
  guid: string,
  schema: JsonValue | undefined,
): JsonValue {
  if (step === undefined) return guid
  const { properties, items } = choiceOf(schema, step)
  if (step === 0) return [withLeaf(Array.isArray(body) ? (body[0] ?? {}) : {}, rest, guid, items)]
  const known = isJsonObject(body) ? body : {}
  const inside = isJsonObject(properties) ? properties[step] : undefined
  return {
    ...needed(choiceOf(schema, step)),
    ...known,
    [step]: withLeaf(known[step] ?? {}, rest, guid, inside),
  }
}

function choiceOf(schema: JsonValue | undefined, step: string | 0): JsonObject {
  if (!isJsonObject(schema)) return {}
  const { anyOf, oneOf } = schema
  const choices = [anyOf, oneOf].flatMap((one) => (Array.isArray(one) ? one.filter(isJsonObject) : []))
  const fits = (one: JsonObject) =>
    step === 0 ? one.items !== undefined : isJsonObject(one.properties) && step in one.properties
  return fits(schema) ? schema : (choices.find(fits) ?? {})
}

function needed({ required, properties }: JsonObject): JsonObject {
  const names = Array.isArray(required) ? required.map(String) : []
  const all = isJsonObject(properties) ? properties : {}
  return Object.fromEntries(names.map((name) => [name, simplest(all[name])]))
}

/** A value that the schema allows. */
function simplest(schema: JsonValue | undefined, depth = 0): JsonValue {
  if (!isJsonObject(schema)) return {}
  const {
    type,
    properties,
    items,
    anyOf,
    oneOf,
    const: fixed,
    enum: choices,
    minimum,
    minItems,
    pattern,
  } = schema
  if (fixed !== undefined) return fixed
  if (Array.isArray(choices)) return choices[0] ?? null
  const [first] = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : []
  if (first !== undefined) return simplest(first, depth + 1)
  if (type === 'array') return minItems === undefined || depth > 5 ? [] : [simplest(items, depth + 1)]
  if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? minimum : 1
  if (type === 'boolean') return false
  if (type === 'null') return null
  if (type === 'object' || isJsonObject(properties)) return needed(schema)
  return String(pattern).startsWith('^https') ? 'https://example.com' : 'marked'
}
