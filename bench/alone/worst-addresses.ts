/** Kinds of addresses, by those who reach them, and the bodies that take the longest to read there: a megabyte each. */
import { draftScopes } from '../../src/shared/management-scopes.ts'
import type { WorstInput } from './worst-bodies.ts'

export const SIZE = 1_040_000
export const GUID = '00000000-0000-7000-8000-000000000000'

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

export const times = (text: string, size = SIZE) => text.repeat(Math.floor((size - 100) / text.length))

/** `0&1&2&…`: the most names that fit. */
export function shortNames(between: string, size = SIZE): string {
  const names: string[] = []
  for (let at = 0, length = 0; ; at++) {
    const name = at.toString(36)
    length += name.length + between.length
    if (length > size) return names.join(between)
    names.push(name)
  }
}

export const wide = (size = SIZE) => `{"${shortNames('":1,"', size - 20)}":1}`
export const list = (size = SIZE) => `[${times('1,', size)}1]`
export const ofForms: Readonly<Record<string, string>> = {
  'many names': shortNames('&').slice(0, SIZE),
  'plus signs': shortNames(`=${'+'.repeat(80)}&`),
  'bad characters': shortNames(`=${'%ff'.repeat(20)}&`),
}
export const ofJson: Readonly<Record<string, string>> = {
  'many names': wide(),
  'a list': list(),
  'a text': `"${times('é', SIZE / 2)}"`,
  'never closed': times('['),
}

export type Bodies = Readonly<Record<string, string>>
type Address = Pick<WorstInput, 'path' | 'method' | 'as' | 'isSite' | 'isAbsent'>

export function at(name: string, address: Address, type: string, bodies: Bodies): WorstInput[] {
  return Object.entries(bodies).map(([body, text]) => ({
    ...address,
    name: `${name}: ${type === FORM_TYPE ? 'a form' : 'JSON'}, ${body}`,
    body: text,
    headers: { 'content-type': type },
  }))
}

export const both = (name: string, address: Address) => [
  ...at(name, address, FORM_TYPE, ofForms),
  ...at(name, address, JSON_TYPE, ofJson),
]
export const site = (path: string, isAbsent?: true): Address => ({
  path,
  method: 'POST',
  isSite: true,
  ...(isAbsent && { isAbsent }),
})

/** JSON with one long part at the place that its schema bounds. */
export const parts = (open: string, close: string): Bodies => ({
  'many names': `${open}${wide()}${close}`,
  'a list': `${open}${list()}${close}`,
  'many names, as long as may be': `${open}${wide(62_000)}${close}`,
  'a list, as long as may be': `${open}${list(62_000)}${close}`,
})

const chains = (pins: number) =>
  JSON.stringify({
    edits: Array.from({ length: 100 }, (_, block) => ({
      guid: `01900000-0000-7000-8000-${String(block).padStart(12, '0')}`,
      update_hash: null,
      content: {
        ...{ type: 'value_default', title: '', description: '', position: { x: 0, y: 0 } },
        ...{ custom_out_pins: [], fields: {}, scopes: [], name: `b${block}` },
        in_pins: Array.from({ length: pins }, () => ({
          id: 'value',
          expression: `body${'.a'.repeat(4_900)}`,
        })),
      },
    })),
  })

/** `{storage}` and `{blueprint}` stand for guids. */
export const worstAddresses: readonly WorstInput[] = [
  ...both('an unknown address', site('nothing-is-here', true)),
  ...both('an unknown endpoint', { path: 'nothing/is-here', method: 'POST', isAbsent: true }),
  ...both('a hook', { path: `_hooks/${GUID}?token=a`, method: 'POST', isAbsent: true }),
  ...['login', 'password/forgot', `_approvals/${GUID}?token=a`].flatMap((path) =>
    at(`/${path}`, site(path, true), FORM_TYPE, ofForms),
  ),
  ...at('users/me', { path: 'users/me', method: 'PUT', as: 'user' }, JSON_TYPE, ofJson),
  ...at(
    'keys',
    { path: 'users/me/keys', method: 'POST', as: 'user' },
    JSON_TYPE,
    parts('{"endpoints":', '}'),
  ),
  ...['_system/storages/{storage}/documents/search', 'users/search', '_system/waits/search'].flatMap(
    (path) => [
      ...at(path, { path, method: 'POST', as: 'viewer' }, JSON_TYPE, parts('{"filters":', '}')),
      ...at(
        `${path}, not`,
        { path, method: 'POST', as: 'viewer' },
        JSON_TYPE,
        parts('{"filters":{"a":{"not":', '}}}'),
      ),
    ],
  ),
  ...at('who may', { path: 'users/explain', method: 'POST', as: 'publisher', isAbsent: true }, JSON_TYPE, {
    ...parts('{"scope":', '}'),
    'a scope, of the last page': `{"scope":"users_view","offset":1000}`,
    'a scope of no one': `{"scope":"${times('a', 1_900)}"}`,
    'an endpoint': '{"endpoint":"GET /api/v1/worst/ping"}',
    'an address of many parts': `{"endpoint":"GET /api/v1${times('/a', 1_900)}"}`,
    'a storage': '{"storage":"worst"}',
    'a name in many names': `{"storage":"worst","contains":"${times('é', 150)}"}`,
  }),
  ...at('edits', { path: 'blueprints/{blueprint}/edits', method: 'POST', as: 'builder' }, JSON_TYPE, {
    ...parts('{"edits":', '}'),
    'long chains': chains(1),
  }),
  ...at(
    'a block',
    { path: 'blueprintactions', method: 'POST', as: 'builder' },
    JSON_TYPE,
    parts('{"fields":', '}'),
  ),
  ...at(
    'a document of management',
    { path: '_system/storages/{storage}/documents', method: 'POST', as: 'builder' },
    JSON_TYPE,
    { ...ofJson, ...parts('{"a":', '}') },
  ),
]

/** Scopes of those who send them. */
export const worstSenders: Readonly<
  Record<Exclude<NonNullable<WorstInput['as']>, 'agent' | 'provisioner'>, readonly string[]>
> = {
  user: [],
  viewer: ['storages_view', 'users_view', 'waits_view'],
  builder: [
    ...['blueprints_view', 'blueprints_update', 'storages_view', 'storages_create'],
    ...['blueprintactions_view', 'blueprintactions_create', 'blueprintactions_update'],
  ],
  publisher: ['*'],
}

/** The same of API keys, which belong to the publisher. */
export const worstKeys: Readonly<Record<'agent' | 'provisioner', readonly string[]>> = {
  agent: draftScopes,
  provisioner: ['scim_view', 'scim_create', 'scim_update'],
}
