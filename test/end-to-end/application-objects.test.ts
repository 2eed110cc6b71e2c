import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { applicationsOfSuite, type Folder } from './application-fixture.ts'
import { guidOf, objectsOf } from './harness.ts'

const cluster = applicationsOfSuite()
const { folderOf, filesIn, run } = cluster

let made = 0
/** A name that no test had, also where one is tried twice. */
const fresh = () => `objects${Date.now().toString(36)}${made++}`

const push = (folder: string, as = 'admin') => run(['push', folder, '--yes'], as)

/** One of each kind, with names of its own. */
const shop = (name: string, more: Folder = {}): Folder => ({
  'quoin.json': { name },
  [`storages/${name}.json`]: { fields: { title: { type: 'string' } } },
  'connections.json': {
    connections: {
      [`${name}_pay`]: { base_url: 'https://pay.example/v1', headers: { accept: 'text/plain' } },
    },
  },
  'alerts.json': {
    alerts: { [`${name}_late`]: { figure: 'queue_age', threshold: 60, mail: ['ann@example.org'] } },
  },
  'views.json': { views: { [`${name} open`]: { storage: name, address: 'state=open' } } },
  'queues.json': { queues: { [name]: { concurrency: 2 } } },
  ...more,
})

const connectionsOf = async (name: string) =>
  objectsOf(
    await cluster.quoin.manage('POST', '/_system/connections/search', { filters: { name: `${name}_pay` } }),
  )
const alertsOf = async (name: string) =>
  objectsOf(
    await cluster.quoin.manage('POST', '/_system/alerts/search', { filters: { name: `${name}_late` } }),
  )
const queueOf = async (name: string) =>
  objectsOf(await cluster.quoin.manage('GET', '/queues')).find((one) => one.name === name)
async function viewsOf(name: string): Promise<JsonObject[]> {
  const [storage] = objectsOf(
    await cluster.quoin.manage('POST', '/_system/storages/search', { filters: { name } }),
  )
  return storage
    ? objectsOf(await cluster.quoin.manage('GET', `/_system/storages/${guidOf(storage)}/views`))
    : []
}
const numberOf = async (name: string) => [
  ...[(await connectionsOf(name)).length, (await alertsOf(name)).length, (await viewsOf(name)).length],
  (await queueOf(name))?.concurrency ?? null,
]

const petsApi = (type: string): JsonObject => ({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        parameters: [{ name: 'part', in: 'query', schema: { type } }],
        responses: { 200: { description: 'All' } },
      },
    },
  },
})
const ofPets = { 'connections.json': { connections: { a: { base_url: 'https://c.example' } } } }
const many = [...'abcdefghijklmnopqrstu']
/** As a person writes it: it stays so. */
const written = (type: string) => `\n${JSON.stringify(petsApi(type), null, 4)}\n\n`

describe('refused', () => {
  const signedIn = { base_url: 'https://pay.example', auth: { kind: 'bearer', secret: 'pay_key' } }
  test.each([
    [
      'a view of a storage that is not there',
      { 'views.json': { views: { a: { storage: 'other', address: '' } } } },
      'views.json:1:26: The application has no storages/other.json',
    ],
    [
      'a connection with a password',
      { 'connections.json': { connections: { a: { base_url: 'https://a:b@c.example' } } } },
      'connections.json:1:33: base_url must not hold a user name',
    ],
    [
      'a secret in a connection',
      { 'connections.json': { connections: { a: { base_url: 'https://c.example', password: 'b' } } } },
      'connections.json:1:64: password is unknown here',
    ],
    [
      'an alert without a threshold',
      { 'alerts.json': { alerts: { a: { figure: 'queue_age' } } } },
      'alerts.json:1:16: threshold is missing',
    ],
    [
      'an alert for no address',
      { 'alerts.json': { alerts: { a: { figure: 'queue_age', threshold: 1, mail: ['ann'] } } } },
      'mail must hold addresses',
    ],
    [
      'a queue of no jobs',
      { 'queues.json': { queues: { a: { concurrency: 0 } } } },
      'queues.json:1:31: concurrency must be >= 1',
    ],
    [
      'a queue with a name that none has',
      { 'queues.json': { queues: { 'A b': {} } } },
      'The name of a queue must be',
    ],
    [
      'a document of no connection',
      { 'connections/a.openapi.json': petsApi('string') },
      'connections/a.openapi.json:1:1: connections.json has no connection "a"',
    ],
    [
      'a document inside of a connection',
      { 'connections.json': { connections: { a: { base_url: 'https://c.example', document: '{}' } } } },
      'connections.json:1:21: document is a file of its own: connections/a.openapi.json',
    ],
    [
      'a document that is none',
      { ...ofPets, 'connections/a.openapi.json': { swagger: '2.0' } },
      'connections/a.openapi.json:1:1: The document is of Swagger 2.0',
    ],
    [
      'a document in YAML',
      { ...ofPets, 'connections/a.openapi.json': 'openapi: 3.0.0' },
      'connections/a.openapi.json:1:1: The file must be JSON',
    ],
    [
      'a document without a character',
      { ...ofPets, 'connections/a.openapi.json': '' },
      'connections/a.openapi.json:1:1: is empty',
    ],
    [
      'a document of 2 MiB and a byte',
      { ...ofPets, 'connections/a.openapi.json': ' '.repeat(2 * 1024 * 1024 + 1) },
      'connections/a.openapi.json:1:1: The OpenAPI document has more than 2,097,152 bytes',
    ],
    [
      'more than 20 documents',
      {
        'connections.json': {
          connections: Object.fromEntries(many.map((name) => [name, { base_url: 'https://c.example' }])),
        },
        ...Object.fromEntries(many.map((name) => [`connections/${name}.openapi.json`, '{}'])),
      },
      'connections/u.openapi.json:1:1: The application has more than 20 OpenAPI documents',
    ],
    [
      'a document of a connection with capital letters',
      {
        'connections.json': { connections: { A: { base_url: 'https://c.example' } } },
        'connections/A.openapi.json': petsApi('string'),
      },
      'connections/A.openapi.json:1:1: the name must be lower-case letters',
    ],
    ['another part of a file', { 'queues.json': { queue: {} } }, 'its one part is "queues"'],
  ] as const)('%s', async (_what, files, says) => {
    const checked = await quoinCommand(
      ['check', await folderOf({ 'quoin.json': { name: 'wrong' }, ...files })],
      {},
    )
    expect([checked.code, checked.complained + checked.printed]).toEqual([1, expect.stringContaining(says)])
  })

  test.each([
    ['connections.json', 'connections_create'],
    ['alerts.json', 'alerts_create'],
    ['views.json', 'storages_update'],
    ['queues.json', 'queue_update'],
  ])('%s without the scope %s', async (file, scope) => {
    const name = fresh()
    const files = shop(name)
    await push(
      await folderOf({
        'quoin.json': { name },
        [`storages/${name}.json`]: files[`storages/${name}.json`] ?? {},
      }),
    )
    const folder = await folderOf({
      ...{ 'quoin.json': { name }, [`storages/${name}.json`]: files[`storages/${name}.json`] ?? {} },
      [file]: files[file] ?? {},
    })
    const all = ['blueprints', 'blueprintactions', 'blueprintfields', 'blueprinttemplates', 'storages']
    const views = [...all, 'authentication_groups', 'applications'].map((one) => `${one}_view`)
    await cluster.quoin.addUser(name, ['applications_update', ...views])
    const { code, printed } = await push(folder, name)
    expect([code, printed]).toEqual([1, expect.stringContaining(`You lack the scope ${scope}`)])
    expect(await numberOf(name)).toEqual([0, 0, 0, null])
  })

  test('a secret that the caller may not send, and files that the caller may not see', async () => {
    const name = fresh()
    const resources = ['blueprints', 'blueprintactions', 'blueprintfields', 'blueprinttemplates', 'storages']
    const views = [...resources, 'authentication_groups', 'applications'].map((one) => `${one}_view`)
    await cluster.quoin.addUser(name, ['applications_update', 'connections_create', ...views])
    const connections = { 'connections.json': { connections: { [`${name}_pay`]: signedIn } } }
    const folder = await folderOf({ 'quoin.json': { name }, ...connections })
    const { code, printed } = await push(folder, name)
    expect([code, printed]).toEqual([1, expect.stringContaining('The scope secrets_update is missing')])
    expect((await push(folder)).printed).toContain('There is no secret pay_key')
    const pulled = await run(['pull', name, join(cluster.directory, name)], name)
    expect([pulled.code, pulled.complained]).toEqual([
      1,
      expect.stringContaining('connections_view is missing'),
    ])
  })

  test('an object of another application', async () => {
    const [name, other] = [fresh(), fresh()]
    await push(await folderOf(shop(name)))
    const taken = {
      'connections.json': shop(name)['connections.json'] ?? {},
      'queues.json': shop(name)['queues.json'] ?? {},
    }
    const { code, printed } = await push(await folderOf({ 'quoin.json': { name: other }, ...taken }))
    expect([code, printed]).toEqual([
      1,
      expect.stringContaining(
        `connections.json: ${name}_pay: ${name}_pay belongs to the application ${name}`,
      ),
    ])
    expect(printed).toContain(`queues.json: ${name}: ${name} belongs to the application ${name}`)
  })
})

test('a push makes them, a pull gives the same bytes, and what is changed is drift until it is pushed or rolled back', async () => {
  const name = fresh()
  const folder = await folderOf(shop(name))
  const pushed = await push(folder)
  expect([pushed.code, pushed.complained]).toEqual([0, ''])
  for (const line of [
    `connections.json: ${name}_pay`,
    `alerts.json: ${name}_late`,
    `views.json: ${name} open`,
    `queues.json: ${name}`,
  ])
    expect(pushed.printed).toContain(`  created ${line}\n`)
  expect(await numberOf(name)).toEqual([1, 1, 1, 2])
  expect((await viewsOf(name))[0]).toMatchObject({ shared: true, address: 'state=open' })

  const [first, second] = [join(cluster.directory, `${name}-1`), join(cluster.directory, `${name}-2`)]
  await run(['pull', name, first])
  expect((await push(first)).printed).toContain('nothing to change')
  await run(['pull', name, second])
  const files = await filesIn(first)
  expect(await filesIn(second)).toEqual(files)
  expect(files['queues.json']).toBe(
    `{\n  "$schema": "http://127.0.0.1:8080/api/v1/schemas/queues.json",\n  "queues": {\n    "${name}": { "concurrency": 2 }\n  }\n}\n`,
  )
  expect((await cluster.quoin.send('GET', '/schemas/queues.json')).status).toBe(200)

  const [connection] = await connectionsOf(name)
  await cluster.quoin.manage('PUT', `/_system/connections/${guidOf(connection ?? {})}`, {
    base_url: 'https://new.example',
  })
  await cluster.quoin.manage('PUT', `/queues/${name}`, { concurrency: 5, paused: true })
  const drift = await run(['drift', folder])
  expect([drift.code, drift.printed]).toEqual([
    1,
    [
      `changed connections.json: ${name}_pay: setting base_url changed`,
      '  setting base_url: “https://pay.example/v1” → “https://new.example”',
      `changed queues.json: ${name}: setting concurrency changed`,
      '  setting concurrency: 2 → 5',
    ].join('\n'),
  ])
  expect((await push(folder)).code).toBe(0)
  expect((await connectionsOf(name))[0]?.base_url).toBe('https://pay.example/v1')
  // Whether it is paused is for people who operate it.
  expect(await queueOf(name)).toMatchObject({ concurrency: 2, paused: true })

  const without = await folderOf({
    'quoin.json': { name },
    [`storages/${name}.json`]: shop(name)[`storages/${name}.json`] ?? {},
  })
  expect((await push(without)).printed).toContain(`  removed connections.json: ${name}_pay\n`)
  expect(await numberOf(name)).toEqual([0, 0, 0, null])
  expect((await run(['rollback', name, '--yes'])).code).toBe(0)
  expect(await numberOf(name)).toEqual([1, 1, 1, 2])
  expect((await run(['uninstall', name, '--yes'])).code).toBe(0)
  expect(await numberOf(name)).toEqual([0, 0, 0, null])
})

test('a connection counts for flows as soon as the push is answered, and no longer when it is removed', async () => {
  const name = fresh()
  const needing = await folderOf({ 'quoin.json': { name: fresh(), needs: { connections: [`${name}_pay`] } } })
  const missing = `missing: There is no connection ${name}_pay`
  // By what the node keeps in memory, which is what flows use.
  expect((await run(['plan', needing])).printed).toContain(missing)
  await push(await folderOf(shop(name)))
  expect((await run(['plan', needing])).printed).not.toContain(missing)
  await run(['uninstall', name, '--yes'])
  expect((await run(['plan', needing])).printed).toContain(missing)
})

test('views of one storage that changes, and an object that no application owns, go along', async () => {
  const name = fresh()
  await cluster.quoin.manage('POST', '/_system/connections', {
    name: `${name}_pay`,
    base_url: 'https://old.example',
  })
  const { printed } = await push(await folderOf(shop(name)))
  expect(printed).toContain(`adopted connections.json: ${name}_pay`)
  expect((await connectionsOf(name)).map((one) => one.base_url)).toEqual(['https://pay.example/v1'])
  const moved = await folderOf({
    ...shop(name),
    [`storages/${name}_more.json`]: {},
    'views.json': { views: { [`${name} open`]: { storage: `${name}_more`, address: 'state=open' } } },
  })
  expect((await push(moved)).code).toBe(0)
  expect([(await viewsOf(name)).length, (await viewsOf(`${name}_more`)).length]).toEqual([0, 1])
})

describe('OpenAPI documents of connections', () => {
  const operationsOf = async (name: string) =>
    objectsOf(
      await cluster.quoin.manage('POST', '/_system/operations/search', {
        filters: { connection: `${name}_pay` },
      }),
    )
  const fileOf = (name: string) => `connections/${name}_pay.openapi.json`
  const withApi = (name: string, type = 'string') => shop(name, { [fileOf(name)]: written(type) })

  test('only who may change a connection gives it one, and only who may see it pulls it', async () => {
    const name = fresh()
    const resources = ['blueprints', 'blueprintactions', 'blueprintfields', 'blueprinttemplates', 'storages']
    const views = [...resources, 'authentication_groups', 'applications'].map((one) => `${one}_view`)
    await cluster.quoin.addUser(name, ['applications_update', 'connections_create', ...views])
    const own = { 'quoin.json': { name }, 'connections.json': shop(name)['connections.json'] ?? {} }
    const folder = await folderOf({ ...own, [fileOf(name)]: written('string') })
    expect((await push(folder, name)).printed).toContain('You lack the scope connections_update')
    expect(await connectionsOf(name)).toEqual([])
    expect((await push(await folderOf(own), name)).code).toBe(0)
    expect((await push(folder, name)).printed).toContain('You lack the scope connections_update')
    expect(await operationsOf(name)).toEqual([])
  })

  test('are stored by a push, pulled byte for byte, and are drift, a rollback and an uninstall', async () => {
    const name = fresh()
    const folder = await folderOf(withApi(name))
    const first = await push(folder)
    expect([first.code, first.complained + first.printed]).toEqual([0, expect.stringContaining('created')])
    const [before] = await operationsOf(name)
    expect(before).toMatchObject({ operation: 'listPets', path: '/pets' })
    const pulled = join(cluster.directory, `${name}-pulled`)
    await run(['pull', name, pulled])
    const files = await filesIn(pulled)
    expect(files[fileOf(name)]).toBe(written('string'))
    expect(files['connections.json']).not.toContain('openapi')
    expect((await push(pulled)).printed).toContain('nothing to change')

    const [connection] = await connectionsOf(name)
    const document = `/_system/connections/${guidOf(connection ?? {})}/document`
    await cluster.quoin.manage('PUT', document, petsApi('integer'))
    expect((await operationsOf(name))[0]?.hash).not.toBe(before?.hash)
    const changed = `connections.json: ${name}_pay: setting document changed`
    expect((await run(['drift', folder])).printed).toMatch(`changed ${changed}\n  setting document: `)
    expect((await push(folder)).printed).toContain(changed)
    expect((await operationsOf(name))[0]?.hash).toBe(before?.hash)

    // A folder without the file takes it from the connection, which stays.
    const removed = `connections.json: ${name}_pay: setting document removed`
    expect((await push(await folderOf(shop(name)))).printed).toContain(removed)
    expect([(await operationsOf(name)).length, (await connectionsOf(name)).length]).toEqual([0, 1])
    expect((await run(['rollback', name, '--yes'])).code).toBe(0)
    expect((await operationsOf(name))[0]?.hash).toBe(before?.hash)
    await run(['pull', name, pulled])
    expect((await filesIn(pulled))[fileOf(name)]).toBe(written('string'))
    expect((await run(['uninstall', name, '--yes'])).code).toBe(0)
    expect(await operationsOf(name)).toEqual([])
  })

  test('that are larger than a folder may have stay as they are', async () => {
    const name = fresh()
    await push(await folderOf(shop(name)))
    const [connection] = await connectionsOf(name)
    const description = ' '.repeat(2 * 1024 * 1024)
    const document = { ...petsApi('string'), info: { title: 'Pets', version: '1', description } }
    await cluster.quoin.manage('PUT', `/_system/connections/${guidOf(connection ?? {})}/document`, document)
    expect((await run(['drift', await folderOf(shop(name))])).code).toBe(0)
    const pulled = join(cluster.directory, `${name}-pulled`)
    await run(['pull', name, pulled])
    expect(await filesIn(pulled)).not.toHaveProperty([fileOf(name)])
    expect((await push(pulled)).printed).toContain('nothing to change')
    expect((await operationsOf(name)).length).toBe(1)
  })

  test('are compared with blocks by check, without a server', async () => {
    const name = fresh()
    await push(await folderOf(withApi(name)))
    const [listed] = await operationsOf(name)
    const path = `/_system/operations/${guidOf(listed ?? {})}`
    const [whole] = [await cluster.quoin.manage('GET', path)].filter(isJsonObject)
    const blocks = {
      start: { type: 'trigger_custom_function', in: { uri: name } },
      pets: {
        type: 'call_operation',
        in: { flow: '@start.flow', connection: `${name}_pay` },
        fields: { operation: whole?.definition ?? null },
      },
    }
    const blueprint = { [`blueprints/${name}.json`]: { name, blocks } }
    const check = async (files: Folder) => quoinCommand(['check', await folderOf(files)], {})
    const same = await check({ ...withApi(name), ...blueprint })
    expect(same.printed + same.complained).not.toContain('openapi.json')
    const changed = await check({ ...withApi(name, 'integer'), ...blueprint })
    expect(changed.printed + changed.complained).toMatch(
      new RegExp(
        `blueprints/${name}\\.json:1:\\d+: warning: pets\\.operation: ${fileOf(name)} has another operation listPets`,
      ),
    )
    const gone = { [fileOf(name)]: { ...petsApi('string'), paths: {} } }
    const missing = await check({ ...shop(name, gone), ...blueprint })
    expect(missing.printed + missing.complained).toContain(`${fileOf(name)} has no operation listPets`)
  })
})
