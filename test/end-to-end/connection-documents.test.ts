/** OpenAPI documents of connections: who may give one, where it may be fetched from, and the blocks that are made of its operations. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { jsonAt, textAt } from '../json-at.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
let server: LocalServer
/** Of the connection PETS. */
let path: string
/** What the server of the API has as its document. */
let document: JsonObject
const asked: string[] = []

const petsApi = (type: string): JsonObject => ({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.2' },
  servers: [{ url: 'https://pets.example/v1' }],
  security: [{ key: [] }],
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  webhooks: { born: {} },
  paths: {
    '/pets/{name}': {
      get: {
        operationId: 'getPet',
        summary: 'One pet',
        tags: ['pets'],
        parameters: [
          { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'parts', in: 'query', schema: { type: 'array', items: { type } } },
        ],
        responses: { 200: { description: 'It' }, 404: { description: 'There is no such pet' } },
      },
    },
    '/pets': { get: { responses: { 200: { description: 'All' } } } },
  },
})

beforeAll(async () => {
  server = await startLocalServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const url = request.url ?? ''
    if (url === '/openapi.json') return response.end(JSON.stringify(document))
    if (url === '/moved')
      return response.writeHead(302, { location: 'http://127.0.0.2:9/openapi.json' }).end()
    const isTom = url.startsWith('/v1/pets/Tom')
    response.writeHead(isTom ? 200 : 404, { 'content-type': 'application/json' })
    return response.end(JSON.stringify({ url }))
  })
  fixture = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: '127.0.0.1' })
  await fixture.addUser('viewer', ['connections_view'])
  const made = await fixture.manage('POST', '/_system/connections', {
    name: 'PETS',
    base_url: `${server.url}/v1`,
  })
  path = `/_system/connections/${guidOf(made)}/document`
})
afterAll(async () => {
  await fixture.close()
  await server.close()
})

const problemOf = (body: JsonValue | undefined) => textAt(body, 'message')
const listed = async (body: JsonObject = {}) =>
  objectsOf(await fixture.manage('POST', '/_system/operations/search', body))

const notesOf = async (blueprint: string) =>
  objectsOf(jsonAt(await fixture.manage('POST', `/blueprints/check/${blueprint}`), 'notes'))

test('without a document there is nothing', async () => {
  expect(await listed()).toEqual([])
  expect((await fixture.send('GET', path, { as: 'admin' })).status).toBe(404)
  expect((await fixture.send('GET', '/_system/operations/none', { as: 'admin' })).status).toBe(404)
  expect((await fixture.send('POST', `${path}/fetch`, { as: 'admin', body: {} })).status).toBe(400)
})

test('who may only look at connections gives none', async () => {
  for (const [method, to] of [
    ['PUT', path],
    ['POST', `${path}/fetch`],
    ['DELETE', path],
  ] as const)
    expect((await fixture.send(method, to, { as: 'viewer', body: {} })).status).toBe(403)
})

test.each([
  ['a private address', 'http://127.0.0.2:9/openapi.json', 400, 'private address'],
  ['a redirect to one', '/moved', 400, 'private address'],
  ['what is not found', '/v1/none', 503, 'status 404'],
])('%s is not fetched', async (_, url, status, message) => {
  const address = url.startsWith('/') ? server.url + url : url
  const reply = await fixture.send('POST', `${path}/fetch`, { as: 'admin', body: { url: address } })
  expect([reply.status, problemOf(reply.body)]).toEqual([status, expect.stringContaining(message)])
  expect(await listed()).toEqual([])
})

test('a document that refers outside is refused, and nothing is asked', async () => {
  const count = asked.length
  const outside = { openapi: '3.0.0', paths: { '/a': { $ref: `${server.url}/secret` } } }
  const reply = await fixture.send('PUT', path, { as: 'admin', body: outside })
  expect([reply.status, problemOf(reply.body)]).toEqual([400, expect.stringContaining('is not opened')])
  expect(asked).toHaveLength(count)
})

test('its operations are listed, and a block of one calls it', async () => {
  const sent = await fixture.send('PUT', path, { as: 'admin', body: petsApi('string') })
  expect([sent.status, sent.body]).toMatchObject([
    200,
    {
      document: {
        connection: 'PETS',
        title: 'Pets',
        version: '1.2',
        operations: 2,
        source: '',
        left_out_count: 1,
      },
      changed: 0,
    },
  ])
  expect(JSON.stringify(sent.body)).not.toContain('"text"')
  expect(await fixture.manage('GET', `${path}/text`)).toEqual(petsApi('string'))
  const found = await listed({ query: 'pets', sort: [{ operation: 'asc' }] })
  expect(found.map(({ operation, method, path: at, group }) => [operation, method, at, group])).toEqual([
    ['GET /pets', 'GET', '/pets', ''],
    ['getPet', 'GET', '/pets/{name}', 'pets'],
  ])
  const whole = await fixture.manage('GET', `/_system/operations/${guidOf(found[1])}`)
  expect(whole).toMatchObject({ sign_in: ['bearer'], definition: { id: 'getPet', title: 'One pet' } })
  const blueprint = await fixture.install('pets', {
    take: { type: 'on_startup_register_uri_get', in: { uri: 'pet/{name}' }, scopes: ['*public'] },
    pet: {
      type: 'call_operation',
      in: { flow: '@take.flow', connection: 'PETS', name: '=params.name', parts: "=['a', 'b']" },
      fields: { operation: jsonAt(whole, 'definition') ?? null },
    },
    reply: { type: 'reply', in: { flow: '@pet.flow', value: '@pet.body' } },
    none: { type: 'reply', in: { flow: '@pet.status_404', code: 404, value: 'No pet' } },
  })
  expect(await notesOf(blueprint)).toEqual([])
  const tom = await fixture.send('GET', '/pet/Tom')
  expect([tom.status, tom.body]).toEqual([200, { url: '/v1/pets/Tom?parts=a&parts=b' }])
  const kit = await fixture.send('GET', '/pet/Kit')
  expect([kit.status, kit.body]).toEqual([404, 'No pet'])
  document = petsApi('number')
  const fetched = await fixture.manage('POST', `${path}/fetch`, { url: `${server.url}/openapi.json` })
  expect(fetched).toMatchObject({
    document: { source: `${server.url}/openapi.json` },
    changed: 1,
    changes: [{ operation: 'getPet', change: 'changed' }],
  })
  expect(await notesOf(blueprint)).toMatchObject([
    { pin: 'operation', message: expect.stringContaining('has the operation getPet changed') },
  ])
  expect((await fixture.send('GET', '/pet/Tom')).status).toBe(200)
  document = { ...petsApi('number'), paths: {} }
  expect(await fixture.manage('POST', `${path}/fetch`)).toMatchObject({
    changed: 2,
    document: { operations: 0 },
  })
  expect(await notesOf(blueprint)).toMatchObject([
    { message: expect.stringContaining('no longer has the operation') },
  ])
  expect((await fixture.send('GET', '/pet/Tom')).status).toBe(200)
})

test('of many operations few are stored, changed or removed between two turns of the event loop', async () => {
  const { database } = fixture.quoin
  const made = await fixture.manage('POST', '/_system/connections', { name: 'MANY', base_url: server.url })
  const many = `/_system/connections/${guidOf(made)}/document`
  const documentOf = (description: string): JsonObject => {
    const get = { description, responses: { 200: { description: 'All' } } }
    return {
      openapi: '3.0.3',
      paths: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`/p${at}`, { get }])),
    }
  }
  let [written, since, most] = [0, 0, 0]
  const forget = database.observe(systemStorages.apiOperations, () => {
    written += 1
    since += 1
    most = Math.max(most, since)
  })
  let next: NodeJS.Immediate
  const turn = () => {
    since = 0
    next = setImmediate(turn)
  }
  next = setImmediate(turn)
  try {
    for (const [work, count] of [
      [() => fixture.manage('PUT', many, documentOf('a')), 300],
      [() => fixture.manage('PUT', many, documentOf('a')), 0],
      [() => fixture.manage('PUT', many, documentOf('b')), 300],
      [() => fixture.manage('DELETE', many), 300],
    ] as const) {
      written = 0
      await work()
      expect(written).toBe(count)
    }
    expect(most).toBeLessThanOrEqual(20)
  } finally {
    clearImmediate(next)
    forget()
  }
})

test('it goes with its connection', async () => {
  await fixture.manage('PUT', path, petsApi('string'))
  expect(await listed()).toHaveLength(2)
  await fixture.manage('DELETE', path.replace('/document', ''))
  expect(await listed()).toEqual([])
  await fixture.manage('POST', '/_system/connections', { name: 'PETS', base_url: `${server.url}/v1` })
  expect(await listed()).toEqual([])
})
