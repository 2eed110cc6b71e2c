/** The examples of docs/agents.md do what the page says, as they stand there. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { building } from '../mcp-agent.ts'
import { calls, type ModelTestServer, says, startModelServer } from '../model-server.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const page = await readFile(new URL('../../docs/agents.md', import.meta.url), 'utf8')

/** The code below a heading, in the order in which it stands there. */
function code(heading: string, language: string, at = 0): string {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  const found = [...own.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, word]) => word === language)
  const text = found[at]?.[2]
  if (text === undefined) throw new Error(`There is no ${language} number ${at} below ${heading}.`)
  return text
}

const blocksOf = (heading: string): JsonObject => JSON.parse(`{${code(heading, 'json')}}`)

/** A line of curl: what is sent, and where. */
function sentBy(line: string) {
  const [, method = '', path = ''] = /^curl (?:-N )?-X (\w+) "?\$\w+(\/[^\s"]+)/.exec(line) ?? []
  const [, body] = / -d '([^']+)'/.exec(line) ?? []
  return { method, path, body }
}

let quoin: TestQuoin
let model: ModelTestServer
let address: string
beforeAll(async () => {
  model = await startModelServer()
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_SECRETS_KEY: '0f'.repeat(32) })
  address = await quoin.quoin.server.listen()
  const hosts = `127.0.0.1:${model.port}, ${new URL(address).host}`
  await quoin.manage('PUT', '/_system/settings/QUOIN_ALLOWED_HOSTS', { value: hosts })
})
afterAll(async () => {
  await quoin?.close()
  await model?.close()
})

const fresh = (name: string) => `${name}${Date.now().toString(36)}`
async function keyWith(scopes: readonly string[], endpoints: readonly string[]): Promise<string> {
  const requested = { name: fresh('key'), scopes: [...scopes], endpoints: [...endpoints] }
  return String(objectOf(await quoin.manage('POST', '/users/me/keys', requested)).key)
}
async function send(line: string, token: string, change: (text: string) => string = (text) => text) {
  const { method, path, body } = sentBy(line)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: change(body) }
  const reply = await fetch(`${address}${change(path)}`, { method, headers, ...sent })
  return { status: reply.status, text: await reply.text() }
}
const posted = async (uri: string, body: JsonValue) => (await quoin.send('POST', uri, { body })).body
const asked = (uri: string): JsonObject => ({
  type: 'on_startup_register_uri_post',
  in: { uri },
  scopes: ['*public'],
})
const replied = (flow: string, value: string): JsonObject => ({ type: 'reply', in: { flow, value } })
const within = (block: JsonValue | undefined, more: JsonObject): JsonObject => ({
  ...objectOf(block),
  in: { ...objectOf(objectOf(block).in ?? {}), ...more },
})

test.each([0, 1])('the settings %i of a client of the MCP server lead to it', async (at) => {
  const key = await keyWith(building, ['/mcp'])
  const text = code('The MCP server', 'json', at).replaceAll('https://quoin.example.org', address)
  const settings = objectOf(objectOf(JSON.parse(text.replace('KEY', key)).mcpServers).quoin)
  if (at === 1)
    return expect(settings).toEqual({ command: 'quoin', args: ['mcp', address], env: { QUOIN_TOKEN: key } })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const reply = await fetch(String(settings.url), {
    method: 'POST',
    headers: { ...headers, authorization: String(objectOf(settings.headers).Authorization) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('"search"')])
})

test('a function is a tool with its types', async () => {
  const blocks = blocksOf('Functions and endpoints as tools')
  const place = objectOf(blocks.place)
  const done = {
    type: 'function_return',
    in: { flow: '@place.flow', value: '={ item: item, count: count }' },
  }
  await quoin.install(fresh('orders'), { place, done: within(done, { value: '@place.item' }) })
  const call = (input: JsonObject) =>
    quoin.send('POST', '/_system/tools/place_order', { as: 'admin', body: { arguments: input } })
  expect((await call({ item: 'saw', count: 'two' })).status).toBe(400)
  expect((await call({ item: 'saw', count: 2 })).text).toContain('saw')
})

test('a model drafts what is described, with the settings of the page', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  try {
    const token = await quoin.tokenOf('admin')
    for (const line of code('Describe what you need', 'sh').trim().split('\n')) {
      const [, connection, file = ''] = /^echo '(.+)' > (\S+)$/.exec(line) ?? []
      if (connection === undefined) {
        const words = line.split(' ').map((word) => (word.endsWith('.json') ? join(folder, word) : word))
        const end = await quoinCommand([...words.slice(1), '--url', address], { QUOIN_TOKEN: token })
        expect([line, end.code, end.complained]).toEqual([line, 0, ''])
      } else
        await writeFile(join(folder, file), connection.replace('127.0.0.1:11434', `127.0.0.1:${model.port}`))
    }
    const changes = [
      { path: 'quoin.json', text: '{ "name": "orders" }' },
      { path: 'storages/orders.json', text: '{ "fields": { "item": { "type": "string" } } }' },
    ]
    const edit = JSON.stringify({ application: 'orders', changes })
    model.answers(calls(['edit', edit]), says('Orders are stored with their items.'))
    const lines = (text: string): JsonObject[] =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    const { status, text } = await send(code('Describe what you need', 'sh', 1).replace('\\\n  ', ''), token)
    expect([status, model.seen[0]?.model]).toEqual([200, 'qwen3'])
    const [first, second, last] = lines(text)
    const [edited, said, end] = lines(code('Describe what you need', 'json'))
    expect([first, second]).toEqual([edited, said])
    expect(Object.keys(objectOf(last?.end))).toEqual(Object.keys(objectOf(end?.end)))
    const { guid } = objectOf(objectOf(last?.end).draft)
    await quoin.manage('DELETE', `/_system/drafts/${String(guid)}`)
  } finally {
    await rm(folder, { recursive: true })
    await quoin.manage('DELETE', '/_system/settings/QUOIN_ASSISTANT_CONNECTION')
  }
})

test('a draft changes, replaces and removes files', async () => {
  const old = { name: fresh('old'), blocks: { on: asked(fresh('old')), reply: replied('@on.flow', '=1') } }
  const parts = { groups: {}, templates: {}, seed: {}, tests: {} }
  const storages = { deals: { fields: { title: { type: 'string' } } } }
  const application = { about: { name: 'crm', title: 'Deals' }, blueprints: { old }, storages, ...parts }
  const { state = '' } = objectOf(await quoin.manage('POST', '/_system/applications/plan', { application }))
  await quoin.manage('POST', '/_system/applications/push', { application, state })
  const key = await keyWith(building, ['/mcp', '/api/v1/_system/drafts', '/api/v1/_system/drafts/{guid}'])
  const { status, text } = await send(code('Drafts', 'sh'), key)
  expect(status, text).toBe(200)
  const draft = `/_system/drafts/${String(objectOf(JSON.parse(text)).guid)}`
  const { paths, files, problems } = objectOf(await quoin.manage('GET', draft))
  expect({ paths, problems }).toEqual({
    paths: ['blueprints/old.json', 'quoin.json', 'storages/deals.json'],
    problems: [],
  })
  expect(objectOf(files)['storages/deals.json']).toContain('"required": true')
  expect(Object.keys(objectOf(files))).not.toContain('blueprints/old.json')
  await quoin.manage('DELETE', draft)
})

test('code runs with the types of its comment', async () => {
  const uri = fresh('price')
  const gross = {
    type: 'run_code',
    in: { flow: '@on.flow', price: '=body.price' },
    fields: { parameters: ['price', 'rate'], code: code('Code', 'js') },
  }
  await quoin.install(uri, { on: asked(uri), gross, reply: replied('@gross.flow', '@gross.result') })
  expect(await posted(`/${uri}`, { price: 100 })).toBe(119)
})

test('a model answers with the fields of the block', async () => {
  const [uri, connection] = [fresh('letters'), fresh('models')]
  await quoin.manage('POST', '/_system/connections', {
    name: connection,
    base_url: model.url,
    auth: { kind: 'none' },
  })
  const find = { name: 'find_order', description: 'Finds an order.' }
  await quoin.install(uri, {
    on: asked(uri),
    find: { type: 'trigger_custom_function', fields: find },
    sort: within(blocksOf('Models').sort, { flow: '@on.flow', connection }),
    reply: replied('@sort.flow', '@sort.answer'),
  })
  model.answers(says('{"about":"complaint"}'))
  expect(await posted(`/${uri}`, { text: 'It is broken.' })).toEqual({ about: 'complaint' })
  expect(JSON.stringify(model.seen[0]?.tools)).toContain('find_order')
})

test('a tool of another server is called over a connection', async () => {
  const [uri, connection, secret] = [fresh('weather'), fresh('server'), fresh('secret')]
  const key = await keyWith(['forecast'], ['/mcp', 'POST /api/v1/_system/tools/{name}'])
  await quoin.manage('POST', '/_system/secrets', { name: secret, value: key, hosts: [new URL(address).host] })
  await quoin.manage('POST', '/_system/connections', {
    name: connection,
    base_url: address,
    auth: { kind: 'bearer', secret },
  })
  await quoin.install(uri, {
    on: asked(uri),
    weather: within(blocksOf('Tools of other servers').weather, { flow: '@on.flow', connection }),
    reply: replied('@weather.flow', '@weather.text'),
    forecast: {
      type: 'trigger_custom_function',
      out: [{ id: 'city', type: 'line' }],
      fields: { name: fresh('forecast'), description: 'The weather.', tool: 'forecast' },
      scopes: ['forecast'],
    },
    back: { type: 'function_return', in: { flow: '@forecast.flow', value: '@forecast.city' } },
  })
  expect(await posted(`/${uri}`, { city: 'Bern' })).toContain('Bern')
})

test('a connection gets the OpenAPI document of its API, as a file and from an address', async () => {
  const name = fresh('shop')
  const body = { name, base_url: `${address}/api/v1`, auth: { kind: 'none' } }
  const { guid } = objectOf(objectOf(await quoin.manage('POST', '/_system/connections', body))._meta)
  const token = await quoin.tokenOf('admin')
  const [put = '', fetched = ''] = code('Operations of other APIs', 'sh').trim().split('\n')
  const responses = { 200: { description: 'Orders.' } }
  const paths = { '/orders': { get: { operationId: 'listOrders', responses } } }
  const document = { openapi: '3.1.0', info: { title: 'Shop', version: '1' }, paths }
  const on = { type: 'on_startup_register_uri_get', in: { uri: `${name}/openapi.json` }, scopes: ['*public'] }
  await quoin.install(name, { on, reply: replied('@on.flow', `=${JSON.stringify(document)}`) })
  const file = put.replace('--data-binary @openapi.json', () => `-d '${JSON.stringify(document)}'`)
  const here = (text: string) =>
    text.replace('$GUID', String(guid)).replace('https://api.example.com', `${address}/api/v1/${name}`)
  for (const line of [file, fetched]) {
    const { status, text } = await send(line, token, here)
    expect([status, text]).toEqual([200, expect.stringContaining('"operations":1')])
  }
})
