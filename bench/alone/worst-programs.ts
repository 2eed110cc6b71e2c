/** What programs send: agents, providers of users, pushes, imports and documents of other APIs; and bodies that only a setting allows. */
import {
  at,
  type Bodies,
  both,
  FORM_TYPE,
  GUID,
  JSON_TYPE,
  list,
  ofForms,
  ofJson,
  parts,
  SIZE,
  shortNames,
  site,
  times,
  wide,
} from './worst-addresses.ts'
import type { WorstInput } from './worst-bodies.ts'

const MANY = 60_000
const numbered = (count: number, value: (at: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value(at)]))
const ofApplication = (content: object): string =>
  JSON.stringify({ application: { about: { name: 'worst', title: 'Worst' }, ...content } })

/** As much as a push may have. */
const APPLICATION = 4_000_000
const pushed: Bodies = {
  ...parts('{"application":', '}'),
  'many texts': ofApplication({ texts: { en: numbered(40_000, () => 'a text') } }),
  'many languages': ofApplication({ texts: numbered(40_000, () => ({ a: 'a text' })) }),
  'many groups': ofApplication({ groups: numbered(10_000, () => ({ scopes: ['a'] })) }),
  'many fields': ofApplication({ storages: { a: { fields: numbered(20_000, () => ({ type: 'string' })) } } }),
  'many blocks': ofApplication({
    blueprints: { a: { name: 'a', blocks: numbered(10_000, () => ({ type: 'value_default' })) } },
  }),
  'a long test': ofApplication({ tests: { a: { name: 'a', text: times('é', APPLICATION / 2) } } }),
  'many documents': ofApplication({
    seed: { a: { documents: Array.from({ length: MANY }, (_, a) => ({ a })) } },
  }),
}

const call = (args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"edit","arguments":${args}}}`
const toAgents: Bodies = {
  ...ofJson,
  ...parts('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":', '}'),
  'as many values as may be': call(JSON.stringify(numbered(4_900, () => 1))),
  'nested as deep as may be': call(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`),
  'a long text': call(JSON.stringify({ files: { 'a.json': times('é', APPLICATION / 2) } })),
  'a list of tools': '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
}

const member = (value: string) => `{"op":"add","path":"members","value":[{"value":"${value}"}]}`
const provisioned = [
  ...at(
    'SCIM, a user',
    { path: 'scim/v2/Users', method: 'POST', as: 'provisioner', isSite: true },
    JSON_TYPE,
    {
      ...ofJson,
      ...parts('{"userName":"a","emails":', '}'),
      'a long name': JSON.stringify({ userName: times('e\u0301', SIZE) }),
    },
  ),
  ...at(
    'SCIM, a group',
    { path: 'scim/v2/Groups', method: 'POST', as: 'provisioner', isSite: true },
    JSON_TYPE,
    parts('{"displayName":"a","members":', '}'),
  ),
  ...at(
    'SCIM, a change',
    { path: `scim/v2/Groups/${GUID}`, method: 'PATCH', as: 'provisioner', isSite: true, isAbsent: true },
    JSON_TYPE,
    {
      ...parts('{"Operations":', '}'),
      'many operations': `{"Operations":[${times(`${member(GUID)},`)}${member(GUID)}]}`,
      'a long path': JSON.stringify({ Operations: [{ op: 'add', path: times('members['), value: 1 }] }),
    },
  ),
  ...['userName eq "a" or ', '((((((', 'not (', 'emails[type eq "', 'userName co "\\"'].map(
    (text): WorstInput => ({
      name: `SCIM: a filter of ${text.trim()}`,
      path: `scim/v2/Users?filter=${encodeURIComponent(times(text, 12_000)).slice(0, 12_000)}`,
      ...{ method: 'GET', as: 'provisioner', isSite: true },
    }),
  ),
  {
    name: 'SCIM: a filter of the most comparisons, and the largest page',
    path: `scim/v2/Users?count=200&filter=${encodeURIComponent(
      [
        ...Array.from({ length: 45 }, (_, at) => `userName ne "someone-${at}"`),
        ...Array.from({ length: 5 }, (_, at) => `not (userName co "nothing-${at}")`),
      ].join(' and '),
    )}`,
    ...{ method: 'GET', as: 'provisioner', isSite: true },
  },
  {
    name: 'SCIM: the most members, each in an operation of its own',
    path: 'scim/v2/Groups/{group}',
    ...{ method: 'PATCH', as: 'provisioner', isSite: true },
    ...{ body: '{"Operations":{operations}}', headers: { 'content-type': JSON_TYPE } },
  },
  {
    name: 'SCIM: a group of the most members',
    path: 'scim/v2/Groups',
    ...{ method: 'POST', as: 'provisioner', isSite: true },
    body: '{"displayName":"crew {n}","members":{members}}',
    headers: { 'content-type': JSON_TYPE },
  },
] satisfies readonly WorstInput[]

const base64 = (text: string) => Buffer.from(text).toString('base64url')
/** As long as may be: 16 KiB of a form. */
const LOGOUT = 11_000
const loggedOut: Bodies = Object.fromEntries(
  Object.entries({
    'a long token': times('a', LOGOUT),
    'many dots': times('a.', LOGOUT),
    'a wide head': `${base64(wide(LOGOUT))}.e30.e30`,
    'wide claims': `${base64('{"alg":"RS256","kid":"a"}')}.${base64(wide(LOGOUT))}.e30`,
    'deep claims': `${base64('{"alg":"RS256","kid":"a"}')}.${base64(times('[', LOGOUT))}.e30`,
  }).map(([name, token]) => [name, `logout_token=${token}`]),
)

/** Each part is as long as may be, with a challenge that is none. */
const longestPasskey = JSON.stringify({
  passkey: {
    ...{ id: 'A'.repeat(1_364), rawId: 'A'.repeat(1_364), type: 'public-key' },
    response: {
      clientDataJSON: base64(JSON.stringify({ type: 'webauthn.get', challenge: 'A'.repeat(3_000) })),
      ...{ authenticatorData: 'A'.repeat(2_048), signature: 'A'.repeat(1_024) },
    },
  },
})

const NDJSON = { 'content-type': 'application/x-ndjson' }
const CSV = { 'content-type': 'text/csv' }
/** A line of an import. The largest document, 16 MiB, takes 0.1 s to be written, read and stored: its writers need a scope. */
const LINE = 2_000_000
const imported = (
  [
    ['letters', NDJSON, `{"a":"${times('x', LINE)}"}`],
    ['letters of two bytes', NDJSON, `{"a":"${times('é', LINE / 2)}"}`],
    ['escapes', NDJSON, `{"a":"${times('\\n', LINE)}"}`],
    ['quotes', NDJSON, `{"a":"${times('\\"', LINE)}"}`],
    ['blanks', NDJSON, `{"a":1${times(' ', LINE)}}`],
    ['a number', NDJSON, `{"a":${times('1', LINE)}}`],
    ['brackets', NDJSON, times('[', LINE)],
    ['texts', NDJSON, `{"a":[${times('"abcdefghijklmnopqrst",', LINE / 2)}1]}`],
    ['many lines', NDJSON, times('{"a":1}\n', 100_000)],
    ['many empty lines', NDJSON, times('\n', LINE)],
    ['many columns', CSV, `${shortNames(',')}\n1`],
    ['many cells', CSV, `a\n${times(',')}`],
    ['quotes', CSV, times('"')],
  ] as const
).flatMap(([name, headers, body]) =>
  ['', '/preview'].map(
    (end): WorstInput => ({
      name: `an import${end && ', its preview'}: ${headers === CSV ? 'CSV' : 'NDJSON'}, ${name}`,
      path: `_system/storages/{storage}/documents/import${end}`,
      ...{ method: 'POST', as: 'publisher', headers, body },
    }),
  ),
)

const openApi = (paths: object) =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'a', version: '1' }, paths })
const described: Bodies = {
  ...ofJson,
  'many paths': openApi(numbered(20_000, () => ({ get: { responses: {} } }))),
  'many parameters': openApi({
    '/a': {
      get: { parameters: Array.from({ length: 20_000 }, (_, at) => ({ name: `a${at}`, in: 'query' })) },
    },
  }),
}

/** Bytes of a body where the setting allows it. */
const LARGE = 8_700_000
const large: Bodies = {
  'many names': wide(LARGE),
  'a list': list(LARGE),
  objects: `[${times('{"name":"a name of some length"},', LARGE)}1]`,
  'a text': `"${times('é', LARGE / 2)}"`,
  escapes: `"${times('\\n', LARGE)}"`,
  blanks: `[1${times(' ', LARGE)}]`,
  'a number': times('1', LARGE),
  'a mistake': `["${times('\\n', LARGE)}" 1]`,
  'never closed': times('[', LARGE),
}
const largeForms: Bodies = {
  'plus signs': `text=${times('+', LARGE)}`,
  escapes: `text=${times('%61', LARGE)}`,
  'bad characters': `text=${times('%ff', LARGE)}`,
}

export const worstPrograms: readonly WorstInput[] = [
  ...at('/mcp', { path: 'mcp', method: 'POST', as: 'agent', isSite: true }, JSON_TYPE, toAgents),
  ...provisioned,
  ...at('logout at a provider', site('_signin/worst/logout', true), FORM_TYPE, { ...ofForms, ...loggedOut }),
  ...['auth/passkey', 'auth/passkey/setup'].flatMap((path) =>
    at(path, { path, method: 'POST' }, JSON_TYPE, {
      ...ofJson,
      ...parts('{"passkey":', '}'),
      'the longest passkey': longestPasskey,
    }),
  ),
  ...['token', 'revoke'].flatMap((path) => both(`OAuth, ${path}`, site(`_oauth/${path}`, true))),
  ...at('OAuth, consent', site('_oauth/authorize', true), FORM_TYPE, ofForms),
  ...at('the proof of a form', site('password/forgot', true), FORM_TYPE, {
    'a long proof': `email=a%40b.c&_proof=${times('a', 16_000)}`,
  }),
  ...at('compare', { path: 'blueprints/{blueprint}/compare', method: 'POST', as: 'publisher' }, JSON_TYPE, {
    ...parts('{"accepted":', '}'),
  }),
  ...['plan', 'push'].flatMap((path) =>
    at(
      `an application, ${path}`,
      { path: `_system/applications/${path}`, method: 'POST', as: 'publisher' },
      JSON_TYPE,
      pushed,
    ),
  ),
  ...['approve', 'reject'].flatMap((path) =>
    at(
      `a push, ${path}`,
      { path: `_system/pushes/${GUID}/${path}`, method: 'POST', as: 'publisher', isAbsent: true },
      JSON_TYPE,
      { ...ofJson, ...parts('{"state":', '}') },
    ),
  ),
  ...imported,
  ...at(
    'a document of a connection',
    { path: '_system/connections/{connection}/document', method: 'PUT', as: 'publisher' },
    JSON_TYPE,
    described,
  ),
  ...at(
    'a document of a connection in YAML',
    { path: '_system/connections/{connection}/document', method: 'PUT', as: 'publisher' },
    'text/plain',
    { aliases: `a: &a [1]\nb: [${times('*a,')}*a]`, 'many names': shortNames(': 1\n'), indents: times('- ') },
  ),
  ...at('settings', { path: '_system/settings/QUOIN_SITE_NAME', method: 'PUT', as: 'publisher' }, JSON_TYPE, {
    ...parts('{"value":', '}'),
  }),
  ...at('a body of 8.7 MB, an endpoint', { path: 'worst/things', method: 'POST' }, JSON_TYPE, large),
  ...at('a body of 8.7 MB, an endpoint', { path: 'worst/checked', method: 'POST' }, FORM_TYPE, largeForms),
  ...at(
    'a body of 8.7 MB, a document',
    { path: '_system/storages/{storage}/documents', method: 'POST', as: 'publisher' },
    JSON_TYPE,
    large,
  ),
]
