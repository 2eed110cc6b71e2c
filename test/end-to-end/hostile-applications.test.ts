/** Applications that are sent to do more than their sender may, or to hold a node. */
import { access, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { slowSteps, turnsDuring } from '../turns-during.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const pusherScopes = [
  ...['applications_update', 'applications_view', 'authentication_groups_view', 'storages_view'],
  ...['blueprints_view', 'blueprintactions_view', 'blueprintfields_view', 'blueprinttemplates_view'],
]
let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin()
  await quoin.addUser('pusher', pusherScopes)
})
afterAll(() => quoin?.close())
afterEach(() => vi.restoreAllMocks())

let made = 0
function application(parts: JsonObject): JsonObject {
  made += 1
  const empty = { blueprints: {}, storages: {}, groups: {}, templates: {}, seed: {}, tests: {} }
  return { about: { name: `hostile${made}${Date.now()}` }, ...empty, ...parts }
}

async function plan(input: JsonObject, as = 'admin') {
  const { status, body } = await quoin.send('POST', '/_system/applications/plan', {
    as,
    body: { application: input },
  })
  return { status, body: objectOf(body ?? null) }
}

async function push(input: JsonObject, as = 'admin') {
  const { body: planned } = await plan(input, as)
  const { status, body } = await quoin.send('POST', '/_system/applications/push', {
    as,
    body: { application: input, state: planned.state ?? '' },
  })
  return { status, body: objectOf(body ?? null) }
}

const many = (count: number, one: JsonObject): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, one]))

const fields = (count: number): JsonObject => ({ fields: many(count, { type: 'string' }) })

test.each<[string, JsonObject, string]>([
  ['storages', { storages: many(1_001, {}) }, 'The application has more than 1,000 storages. Split it.'],
  ['tests', { tests: many(1_001, {}) }, 'The application has more than 1,000 tests. Split it.'],
  [
    'fields of all storages',
    { storages: { one: fields(1_500), two: fields(501) } },
    'The storages of the application have more than 2,000 fields. Split it.',
  ],
])('an application with too many %s is refused before it is looked at', async (_, parts, message) => {
  const { status, body } = await plan(application(parts))
  expect([status, body.message]).toEqual([409, `The application cannot be released: ${message}`])
})

// PostgreSQL answers in turns of its own.
if (inject('engine') === 'sqlite')
  test('a plan lets others have their turn between two storages and two fields', async () => {
    const input = application({ storages: { many: fields(40), ...many(20, {}) } })
    slowSteps()
    let status = 0
    const turns = await turnsDuring(async () => {
      status = (await plan(input)).status
    })
    expect(status).toBe(200)
    // Each is checked once and written once.
    expect(turns).toBeGreaterThan(2 * 60)
  })

test.each<[string, JsonObject]>([
  ['outside of the folder', { blueprints: { '../../outside': { name: 'outside', blocks: {} } } }],
  ['of no letters', { tests: { '': { name: 'a', steps: [] } } }],
  ['of a property that every object has', { groups: { toString: { scopes: [] } } }],
  ['of the function that makes objects', { storages: { constructor: {} } }],
])('an object with the name %s is refused', async (_, parts) => {
  const { status, body } = await plan(application(parts))
  expect([status, body.message]).toEqual([409, expect.stringContaining('which it cannot have')])
})

test('what is no object is refused, and not left out', async () => {
  const { status, body } = await plan(application({ blueprints: { list: [] } }))
  expect([status, body.message]).toEqual([409, expect.stringContaining('"list" must be an object')])
})

test('first documents need the scope that documents need, and obey the rules of the storage', async () => {
  const name = `roles${Date.now()}`
  const rules = { create: 'false' }
  await quoin.manage('POST', '/_system/storages', { name, rules })
  const input = application({
    storages: { [name]: { rules } },
    seed: { [name]: { documents: [{ user: 'pusher', role: 'owner' }] } },
  })
  const refused = await plan(input, 'pusher')
  expect(refused.body.refused).toEqual([
    `You lack the scope storages_create, which this needs: documents of seed/${name}.ndjson: 1 created.`,
  ])
  const maker = `maker${Date.now()}`
  await quoin.addUser(maker, [...pusherScopes, 'storages_create'])
  const pushed = await push(input, maker)
  expect([pushed.status, pushed.body.problems]).toEqual([
    200,
    [expect.stringContaining(`seed/${name}.ndjson`)],
  ])
  const [storage] = objectsOf(await quoin.manage('POST', '/_system/storages/search', { filters: { name } }))
  const path = `/_system/storages/${guidOf(storage ?? null)}/documents/search`
  expect(await quoin.manage('POST', path, {})).toEqual([])
})

test('an inactive blueprint is deployed as it is by those alone who may deploy it', async () => {
  const uri = `inactive${Date.now()}`
  const blocks = {
    on: { type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] },
    reply: { type: 'reply', in: { flow: '@on.flow', value: 1 } },
  }
  const input = application({ blueprints: { one: { name: uri, blocks } } })
  expect((await push(input)).status).toBe(200)
  const [found] = objectsOf(await quoin.manage('POST', '/blueprints/search', { filters: { name: uri } }))
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${guidOf(found ?? null)}`)
  expect((await push(input, 'pusher')).status).toBe(409)
  expect((await quoin.send('GET', `/${uri}`)).status).toBe(404)
  expect((await push(input)).status).toBe(200)
  expect((await quoin.send('GET', `/${uri}`)).status).toBe(200)
})

test('a pull writes no file outside of its folder, whatever the server names', async () => {
  const content = application({ blueprints: { '../../outside': { name: 'outside', blocks: {} } } })
  const server = createServer((_, reply) => {
    reply.setHeader('content-type', 'application/json')
    reply.end(JSON.stringify(content))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  try {
    const { port } = server.address() as AddressInfo
    const folder = join(directory, 'deep', 'folder')
    const words = ['pull', 'hostile', folder, '--url', `http://127.0.0.1:${port}`]
    const { code, complained } = await quoinCommand(words, { QUOIN_TOKEN: 'a token' })
    expect([code, complained]).toEqual([1, expect.stringContaining('which it cannot have')])
    await expect(access(join(directory, 'deep', 'outside.json'))).rejects.toThrow('ENOENT')
  } finally {
    server.close()
    await rm(directory, { recursive: true, force: true })
  }
})

const inherited = ['toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf']

test('fields and blocks named as members of every object are pushed, and pushed again without a change', async () => {
  const named = (value: JsonObject) => Object.fromEntries(inherited.map((name) => [name, value]))
  const storage = `odd${Date.now()}`
  const documents = [Object.fromEntries(inherited.map((name) => [name, name]))]
  const first = application({
    blueprints: { odd: { name: storage, blocks: { first: { type: 'value_default' } } } },
    storages: { [storage]: { fields: { title: { type: 'string' } } } },
  })
  const blocks = named({ type: 'value_default', in: { value: 1 } })
  const input = {
    ...first,
    blueprints: {
      odd: { name: storage, blocks, layout: Object.fromEntries(inherited.map((one) => [one, [0, 0]])) },
    },
    storages: { [storage]: { fields: named({ type: 'string' }) } },
    seed: { [storage]: { documents } },
  }
  expect((await push(first)).status).toBe(200)
  const { status, body } = await push({ ...input, about: first.about ?? {} })
  expect([status, body.error]).toEqual([200, undefined])
  const again = await plan({ ...input, about: first.about ?? {} })
  expect([again.body.refused, again.body.steps]).toEqual([[], []])
  expect(await quoin.documents(storage)).toMatchObject(documents)
})

test('a draft with files in folders named as members of every object lists them as problems', async () => {
  const files = ['constructor/a.json', 'toString/a.json', '__proto__/a.json', 'valueOf']
  const groups = '{ "groups": { "toString": { "scopes": [] }, "__proto__": { "scopes": [] } } }'
  const changes = [
    ...files.map((path) => ({ path, text: '{}' })),
    { path: 'quoin.json', text: '{ "name": "odd" }' },
    { path: 'groups.json', text: groups },
  ]
  const made = await quoin.send('POST', '/_system/drafts', {
    as: 'admin',
    body: { application: 'odd', changes },
  })
  const { guid } = objectOf(made.body ?? null)
  const read = await quoin.send('GET', `/_system/drafts/${String(guid)}`, { as: 'admin' })
  expect(read.status, read.text).toBe(200)
  const problems = objectsOf(objectOf(read.body ?? null).problems ?? [])
  expect(problems.map(({ file }) => file)).toEqual(expect.arrayContaining(files))
  expect(problems).toContainEqual(
    expect.objectContaining({ file: 'groups.json', message: expect.stringContaining('__proto__') }),
  )
})
