/** Functions and endpoints as tools: who sees them, what runs, and what a call leaves behind. */
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownTools } from '../../src/blocks/names.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { connectAgent, eras, use } from '../mcp-agent.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let address: URL
let orders = ''

/** Stores an order as the function `place order`; reads it as an endpoint; the others are for one row of a table each. */
const blocks: JsonObject = {
  storage: { type: 'storage', fields: { storage: 'orders' } },
  place: {
    type: 'trigger_custom_function',
    out: [
      { id: 'item', type: 'line' },
      { id: 'count', type: 'number' },
    ],
    fields: { name: 'place order', description: 'Places an order.', tool: 'place_order' },
    scopes: ['orders_write'],
  },
  set: {
    type: 'mutations_set_bp_field_multiple',
    in: { item: '@place.item', count: '@place.count' },
    fields: { fields: ['item', 'count'] },
  },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@place.flow', storage: '@storage.storage', mutations: '@set.mutations' },
  },
  nowhere: { type: 'reply', in: { flow: '@create.flow', value: 'A tool gets what its function returns.' } },
  placed: {
    type: 'function_return',
    in: { flow: '@nowhere.flow', value: '={ placed: create.document.item, by: user.username }' },
  },
  one: {
    type: 'on_startup_register_uri_get',
    in: { uri: 'kinds/{kind}' },
    fields: { tool: 'read_kind', summary: 'Reads a kind.', schema: [{ name: 'from', type: 'number' }] },
    scopes: ['orders_read'],
  },
  kind: { type: 'reply', in: { flow: '@one.flow', value: '={ kind: params.kind, from: params.from }' } },
  file: {
    type: 'on_startup_register_uri_post',
    in: { uri: 'echo' },
    fields: { tool: 'echo', schema: [{ name: 'text', type: 'text', required: true }] },
    scopes: ['*loggedin'],
  },
  echo: { type: 'reply', in: { flow: '@file.flow', code: 201, value: '={ echo: file.text }' } },
  large: { type: 'trigger_custom_function', fields: { name: 'large', tool: 'large' }, scopes: ['*loggedin'] },
  much: {
    type: 'function_return',
    in: { flow: '@large.flow', value: "=map(range(1, 9000), n => 'a row of many')" },
  },
  wrong: { type: 'trigger_custom_function', fields: { name: 'wrong', tool: 'wrong' }, scopes: ['*loggedin'] },
  fails: { type: 'fail', in: { flow: '@wrong.flow', status: 409, message: 'Sold out.' } },
  list: {
    type: 'on_startup_register_uri_get',
    in: { uri: 'rows' },
    fields: { tool: 'rows' },
    scopes: ['staff'],
  },
  rows: { type: 'reply', in: { flow: '@list.flow', value: "=map(range(1, 9000), n => 'a row of many')" } },
  paper: {
    type: 'on_startup_register_uri_get',
    in: { uri: 'paper' },
    fields: { tool: 'paper' },
    scopes: ['staff'],
  },
  drawn: {
    type: 'reply',
    in: { flow: '@paper.flow', value: 'not shown', headers: { 'content-type': 'application/pdf' } },
    fields: { kind: 'text' },
  },
  load: {
    type: 'on_startup_register_uri_get',
    in: { uri: 'load' },
    fields: { tool: 'load' },
    scopes: ['staff'],
  },
  loaded: { type: 'reply', in: { flow: '@load.flow', value: 'large.bin' }, fields: { kind: 'file' } },
  few: {
    type: 'trigger_custom_function',
    out: [{ id: 'most', type: 'number' }],
    fields: { name: 'few', tool: 'few' },
    scopes: ['orders_read'],
  },
  find: {
    type: 'function_search',
    in: { flow: '@few.flow', storage: '@storage.storage', limit: '@few.most' },
  },
  found: { type: 'function_return', in: { flow: '@find.flow', value: 'found' } },
  never: { type: 'trigger_custom_function', fields: { name: 'never', tool: 'never' }, scopes: ['staff'] },
  none: {
    type: 'function_search',
    in: { flow: '@never.flow', storage: '@storage.storage', limit: '=user.username' },
  },
  lost: { type: 'trigger_custom_function', fields: { name: 'lost', tool: 'lost' }, scopes: ['*loggedin'] },
  gone: { type: 'fail', in: { flow: '@lost.flow', status: 404, message: 'No such order.' } },
  quiet: { type: 'trigger_custom_function', fields: { name: 'quiet' }, scopes: ['*loggedin'] },
  circle: {
    type: 'trigger_custom_function',
    fields: { name: 'circle', tool: 'circle' },
    scopes: ['*loggedin'],
  },
  again: {
    type: 'call_tool',
    in: { flow: '@circle.flow', connection: 'ITSELF', url: 'mcp', tool: 'circle' },
  },
  done: { type: 'function_return', in: { flow: '@again.flow', value: '@again.text' } },
  ended: { type: 'function_return', in: { flow: '@again.failed', value: '@again.text' } },
}

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: '127.0.0.1', QUOIN_SECRETS_KEY: '0f'.repeat(32) })
  address = new URL('/mcp', await quoin.quoin.server.listen())
  const secret = await keyWith(['none'], ['/mcp', 'POST /api/v1/_system/tools/{name}'])
  await quoin.manage('POST', '/_system/secrets', { name: 'OWN_KEY', value: secret })
  const auth = { kind: 'bearer', secret: 'OWN_KEY' }
  await quoin.manage('POST', '/_system/connections', { name: 'ITSELF', base_url: address.origin, auth })
  orders = await quoin.install('Orders', blocks)
  await quoin.manage('PUT', `/blueprints/${orders}/tracing`, { on: true })
})
afterAll(() => quoin?.close())

let made = 0
async function keyWith(scopes: readonly string[], endpoints: readonly string[] = []): Promise<string> {
  made += 1
  const requested = { name: `tools ${Date.now()} ${made}`, scopes: [...scopes], endpoints: [...endpoints] }
  return String(objectOf(await quoin.manage('POST', '/users/me/keys', requested)).key)
}

async function agentWith(scopes: readonly string[], endpoints?: readonly string[]): Promise<Client> {
  return connectAgent(address, await keyWith(scopes, endpoints))
}

const open = ['circle', 'echo', 'large', 'lost', 'wrong']

async function offered(client: Client): Promise<readonly string[]> {
  const { tools } = await client.listTools()
  return tools.map(({ name }) => name).filter((name) => !ownTools.has(name))
}

describe('who sees what', () => {
  test.each<[string, readonly string[], readonly string[] | undefined, readonly string[]]>([
    ['a key that lists /mcp alone', ['*'], ['/mcp'], []],
    ['a key without the scopes', ['other'], undefined, open],
    ['a key with one of them', ['orders_read'], undefined, [...open, 'few', 'read_kind'].toSorted()],
    ['a key that lists one tool', ['*'], ['/mcp', 'POST /api/v1/_system/tools/echo'], ['echo']],
    [
      'a key with all',
      ['*'],
      ['/mcp', 'POST /api/v1/_system/tools/{name}'],
      [...open, 'few', 'load', 'never', 'paper', 'place_order', 'read_kind', 'rows'].toSorted(),
    ],
  ])('%s', async (_, scopes, endpoints, seen) => {
    expect(await offered(await agentWith(scopes, endpoints))).toEqual(seen)
  })

  test('a tool that is hidden is answered as one that is not there', async () => {
    const client = await agentWith(['other'])
    const hidden = await use(client, 'place_order', { item: 'x' })
    const missing = await use(client, 'nothing_here', { item: 'x' })
    expect(hidden.data).toEqual(missing.data)
    expect([hidden.isError, hidden.text]).toEqual([true, expect.stringContaining('Refused with 404')])
    expect(await quoin.documents('orders')).toEqual([])
  })

  test('a tool that the list of a key does not have is not there', async () => {
    const client = await agentWith(['*'], ['/mcp'])
    expect((await use(client, 'echo', { body: { text: 'x' } })).text).toContain(
      'There is no tool of this name',
    )
  })

  test('a caller without a token lists and calls nothing', async () => {
    expect((await quoin.send('GET', '/_system/tools')).status).toBe(401)
    expect((await quoin.send('POST', '/_system/tools/echo', { body: {} })).status).toBe(401)
  })
})

describe.each(eras)('%s', (_, mode) => {
  test('a function is called with its types, as the user of the key', async () => {
    const client = await connectAgent(address, await keyWith(['orders_write', 'orders_read']), mode)
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'place_order')).toMatchObject({
      description: 'Places an order.',
      inputSchema: {
        type: 'object',
        properties: { item: { type: 'string' }, count: { type: 'number' } },
        additionalProperties: false,
      },
    })
    const before = (await quoin.documents('orders')).length
    const { data } = await use(client, 'place_order', { item: 'tea', count: 2 })
    expect(data).toEqual({ placed: 'tea', by: 'admin' })
    const [last] = (await quoin.documents('orders')).slice(-1)
    expect(last).toMatchObject({ item: 'tea', count: 2 })
    expect((await quoin.documents('orders')).length).toBe(before + 1)
    await client.close()
  })

  test('an endpoint is called with path, query and body', async () => {
    const client = await connectAgent(address, await keyWith(['orders_read']), mode)
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'read_kind')).toMatchObject({
      description: 'Reads a kind.',
      annotations: { readOnlyHint: true },
      inputSchema: {
        properties: {
          path: { properties: { kind: { type: 'string' } }, required: ['kind'] },
          query: { properties: { from: { type: 'number' } } },
        },
        required: ['path'],
      },
    })
    const args = { path: { kind: 'a/b c%2f?' }, query: { from: 7 } }
    expect((await use(client, 'read_kind', args)).data).toEqual({ kind: 'a/b c%2f?', from: 7 })
    expect((await use(client, 'echo', { body: { text: 'hi' } })).data).toEqual({ echo: 'hi' })
    await client.close()
  })
})

test.each<[string, string, JsonObject, string]>([
  ['a parameter of another name', 'place_order', { item: 'x', price: 1 }, 'no parameter price'],
  ['a value of another type', 'place_order', { count: 'many' }, 'count'],
  ['a number that the flow cannot use', 'few', { most: 0.5 }, 'most must be a whole number'],
  ['a line with a line break', 'place_order', { item: 'a\nb' }, 'item'],
  ['a path that goes up', 'read_kind', { path: { kind: '..' } }, 'must not be empty'],
  ['a path without its parameter', 'read_kind', {}, 'path.kind is missing'],
  [
    'an unknown parameter of the path',
    'read_kind',
    { path: { kind: 'a', '../users': 'b' } },
    'has no ../users',
  ],
  ['a body for a GET', 'read_kind', { path: { kind: 'a' }, body: {} }, 'has no body'],
  ['another argument', 'read_kind', { path: { kind: 'a' }, headers: { cookie: 'x' } }, 'no argument headers'],
  [
    'a list of objects in the query',
    'read_kind',
    { path: { kind: 'a' }, query: { from: [{}] } },
    'query.from',
  ],
  ['what the fields of the endpoint refuse', 'echo', { body: {} }, 'Refused with 400'],
  ['what the flow refuses', 'wrong', {}, 'Sold out.'],
  ['what the flow does not find', 'lost', {}, 'No such order.'],
  ['a function that is not offered', 'quiet', {}, 'Refused with 404'],
])('%s is refused, and nothing is stored', async (_, name, args, message) => {
  const client = await agentWith(['*'])
  const before = (await quoin.documents('orders')).length
  const answer = await use(client, name, args)
  expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining(message)])
  expect((await quoin.documents('orders')).length).toBe(before)
})

test('an argument that the flow refuses is 400 by its name and no failure; what the flow chose is one', async () => {
  const send = (tool: string, args: JsonObject) =>
    quoin.send('POST', `/_system/tools/${tool}`, { as: 'admin', body: { arguments: args } })
  const logged = async () =>
    JSON.stringify(await quoin.manage('POST', '/_system/systemlogs/search', { limit: 100 }))
  expect((await send('few', { most: 3 })).status).toBe(200)
  expect(await send('few', { most: 20_000 })).toMatchObject({
    status: 400,
    body: { error: 'INVALID_QUERY', message: expect.stringMatching(/^most must be/), fields: ['most'] },
  })
  expect(await send('never', {})).toMatchObject({ status: 500, body: { error: 'INTERNAL' } })
  await expect.poll(logged, { timeout: 30_000 }).toContain('The pin limit must be')
  expect((await logged()).split('must be a whole number').length).toBe(2)
})

test('two calls with one key are one, and a key for other arguments is refused', async () => {
  const client = await agentWith(['*'])
  const before = (await quoin.documents('orders')).length
  const call = async (args: JsonObject) => {
    const { content, isError } = await client.callTool({
      ...{ name: 'place_order', arguments: args },
      _meta: { 'idempotency-key': 'one-1' },
    })
    return [isError === true, JSON.stringify(content)]
  }
  const placed = [false, expect.stringContaining('placed')]
  const answers = await Promise.all([call({ item: 'once' }), call({ item: 'once' })])
  expect([...answers, await call({ item: 'once' })]).toEqual([placed, placed, placed])
  expect(await call({ item: 'twice' })).toEqual([true, expect.stringContaining('used for another request')])
  expect((await quoin.documents('orders')).length).toBe(before + 1)
})

test.each(['large', 'rows'])('of the large result of %s the agent gets the beginning', async (name) => {
  const { content } = await (await agentWith(['*'])).callTool({ name, arguments: {} })
  const text = JSON.stringify(content)
  expect([text.length < 60_000, text]).toEqual([true, expect.stringContaining('Only the first 20000')])
})

test('of a file the agent gets its type and address', async () => {
  const { text } = await use(await agentWith(['*']), 'paper', {})
  expect(text).toMatch(/application\/pdf. Get it from the endpoint itself: GET \/api\/v1\/paper/)
})

test('the reply of a tool whose file is larger than a result is over: nothing of it stays open', async () => {
  const body = new FormData()
  body.append('file', new Blob([new Uint8Array(1_000_000)]), 'large.bin')
  const authorization = `Bearer ${await quoin.tokenOf('admin')}`
  const stored = new URL('/api/v1/_system/assets/stream', address)
  expect((await fetch(stored, { method: 'POST', headers: { authorization }, body })).ok).toBe(true)
  expect((await use(await agentWith(['*']), 'load', {})).text).toContain('GET /api/v1/load')
  // A request is in the log of its user when its reply is over.
  const logged = async () => JSON.stringify(await quoin.manage('GET', '/_system/userlogs/search?limit=100'))
  await expect.poll(logged, { timeout: 10_000 }).toContain('/api/v1/load')
})

test('a tool that calls itself ends, and says why', async () => {
  const { isError, text } = await use(await agentWith(['*']), 'circle', {})
  expect([isError, text]).toEqual([false, expect.stringContaining('in a circle')])
})

test.each([
  ['5', 200],
  ['6', 508],
  ['many', 200],
])('a message to which %s tools have led is answered with %i', async (hops, status) => {
  const headers = {
    authorization: `Bearer ${await keyWith(['*'])}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'quoin-hops': hops,
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(status)
})

test('a run is traced with its input, and the request is in the log of the user', async () => {
  const client = await agentWith(['*'])
  await use(client, 'place_order', { item: 'traced' })
  const runs = async () => objectsOf(await quoin.manage('GET', `/runs?blueprint=${orders}&limit=50`))
  await expect.poll(async () => JSON.stringify(await runs()), { timeout: 30_000 }).toContain('place order')
  const logs = await quoin.manage('GET', '/_system/userlogs/search?limit=100')
  expect(JSON.stringify(logs)).toContain('/api/v1/_system/tools/place_order')
})

test('a tool that is renamed, removed or put live is what the next message of a connected agent finds', async () => {
  const client = await agentWith(['*'])
  const function_ = (tool: string): JsonObject => ({
    on: { type: 'trigger_custom_function', fields: { name: 'hi', tool }, scopes: ['*loggedin'] },
    hi: { type: 'function_return', in: { flow: '@on.flow', value: 'hi' } },
  })
  expect(await offered(client)).not.toContain('say_hi')
  const guid = await quoin.install('Hi', function_('say_hi'))
  expect(await offered(client)).toContain('say_hi')
  expect((await use(client, 'say_hi', {})).isError).toBe(false)
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  expect(await offered(client)).not.toContain('say_hi')
  expect((await use(client, 'say_hi', {})).text).toContain('Refused with 404')
})

test.each<[string, JsonObject, string]>([
  ['no scopes', { fields: { name: 'a', tool: 'a' } }, 'needs scopes'],
  [
    'the name of a tool of Quoin',
    { fields: { name: 'a', tool: 'search' }, scopes: ['x'] },
    'Quoin has itself',
  ],
  ['a name with a space', { fields: { name: 'a', tool: 'a b' }, scopes: ['x'] }, 'letters, digits'],
  [
    'the name of a tool of another blueprint',
    { fields: { name: 'a', tool: 'echo' }, scopes: ['x'] },
    'The tool echo belongs',
  ],
])('a deploy refuses %s', async (_, trigger, message) => {
  const installed = quoin.install('Refused', { on: { type: 'trigger_custom_function', ...trigger } })
  await expect(
    installed.catch((error) => JSON.stringify([error.message, error.problems])),
  ).resolves.toContain(message)
})

test('a deploy refuses two tools of one name, and a name for any method', async () => {
  const both: JsonObject = {
    a: { type: 'trigger_custom_function', fields: { name: 'a1', tool: 'same' }, scopes: ['x'] },
    b: { type: 'on_startup_register_uri_get', in: { uri: 'same' }, fields: { tool: 'same' }, scopes: ['x'] },
    c: { type: 'on_startup_register_uri_any', in: { uri: 'any' }, fields: { tool: 'any' }, scopes: ['x'] },
  }
  const refused = quoin.install('Both', both).catch((error) => JSON.stringify(error.problems))
  await expect(refused).resolves.toMatch(/is taken by the block[\s\S]*endpoints of one method/)
})

test('the files of an application carry name and scopes of a tool', async () => {
  const application = `tools${Date.now().toString(36)}`
  const parts = {
    ask: {
      type: 'trigger_custom_function',
      fields: { name: application, tool: application },
      scopes: ['askers'],
    },
    reply: { type: 'function_return', in: { flow: '@ask.flow', value: 'asked' } },
  }
  const changes = [
    { path: 'quoin.json', text: JSON.stringify({ name: application }) },
    { path: 'blueprints/ask.json', text: JSON.stringify({ name: application, blocks: parts }) },
  ]
  const draft = objectOf(await quoin.manage('POST', '/_system/drafts', { application, changes })).guid
  const { state = '' } = objectOf(await quoin.manage('POST', `/_system/drafts/${draft}/plan`))
  await quoin.manage('POST', `/_system/drafts/${draft}/push`, { state })
  expect(await offered(await agentWith(['askers']))).toContain(application)
  const files = JSON.stringify(await quoin.manage('GET', `/_system/applications/${application}/content`))
  expect([files.includes(`"tool":"${application}"`), files.includes('askers')]).toEqual([true, true])
})

test('more tools than one page has are listed with a cursor', async () => {
  const many: Record<string, JsonValue> = {}
  for (let at = 0; at < 120; at++)
    many[`f${at}`] = {
      type: 'trigger_custom_function',
      fields: { name: `many ${at}`, tool: `many_${String(at).padStart(3, '0')}` },
      scopes: ['many'],
    }
  const guid = await quoin.install('Many', many)
  const client = await agentWith(['many'])
  const { tools } = await client.listTools()
  expect(tools.filter(({ name }) => name.startsWith('many_')).length).toBe(120)
  const page = objectOf(await quoin.manage('GET', '/_system/tools'))
  expect([objectsOf(page.tools).length, page.next]).toEqual([100, expect.stringMatching(/^many_/)])
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
})
