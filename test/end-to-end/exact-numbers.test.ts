/** A number that would lose digits is refused at every door, with its field, and nothing is stored. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const LONG = '750727362669608961'
const storage = 'orders'

let quoin: TestQuoin
let origin: string
let other: LocalServer

const endpoint = (uri: string, method: 'get' | 'post', schema: readonly object[] = [], accepts?: string) => ({
  type: `on_startup_register_uri_${method}`,
  in: { uri },
  fields: { schema: [...schema].map((field) => ({ ...field })), ...(accepts && { accepts }) },
  scopes: ['*public'],
})

beforeAll(async () => {
  other = await startLocalServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"data":[{"id":${LONG}}]}`),
  )
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_ALLOWED_HOSTS: `127.0.0.1:${other.port}` })
  await quoin.manage('POST', '/_system/storages', { name: storage })
  await quoin.manage('POST', '/blueprintfields', { storage, name: 'total', type: 'number' })
  const amount = { name: 'amount', type: 'number' }
  const request = (flow: string, fields: object) => ({
    type: 'http_request',
    in: { flow, url: `${other.url}/orders` },
    fields: { ...fields },
  })
  await quoin.install('Orders', {
    take: endpoint('take', 'post'),
    keep: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@take.flow', storage, set: '={ event: body }' },
    },
    taken: { type: 'httpconnection_set_json', in: { flow: '@keep.flow', value: '@keep.document' } },
    typed: endpoint('typed', 'get', [{ ...amount, in: 'query' }]),
    typed_done: { type: 'httpconnection_set_json', in: { flow: '@typed.flow', value: '=params.amount' } },
    form: endpoint('form', 'post', [amount]),
    form_done: { type: 'httpconnection_set_json', in: { flow: '@form.flow', value: '=body.amount' } },
    text: endpoint('text', 'post', [], 'text'),
    text_done: { type: 'httpconnection_set_json', in: { flow: '@text.flow', value: '=jsonParse(body)' } },
    texts: endpoint('texts', 'post', [], 'text'),
    texts_done: {
      type: 'httpconnection_set_json',
      in: { flow: '@texts.flow', value: "=jsonParse(body, 'text')" },
    },
    ask: endpoint('ask', 'get'),
    asked: request('@ask.flow', {}),
    ask_done: { type: 'httpconnection_set_json', in: { flow: '@asked.flow', value: '@asked.body' } },
    ask_text: endpoint('ask-text', 'get'),
    asked_text: request('@ask_text.flow', { long_numbers: 'text' }),
    ask_text_done: {
      type: 'httpconnection_set_json',
      in: { flow: '@asked_text.flow', value: '@asked_text.body' },
    },
    goods: { type: 'on_startup_register_resource', in: { uri: 'orders', storage }, scopes: ['*public'] },
  })
  origin = await quoin.quoin.server.listen()
})
afterAll(async () => {
  await quoin.close()
  await other.close()
})

async function send(path: string, type?: string, body?: string) {
  const token = await quoin.tokenOf('admin')
  const reply = await fetch(`${origin}/api/v1${path}`, {
    ...(body !== undefined && { method: 'POST', body }),
    headers: { authorization: `Bearer ${token}`, ...(type && { 'content-type': type }) },
  })
  return { status: reply.status, text: await reply.text() }
}

const json = 'application/json'
const documents = `/_system/storages/${storage}/documents`

test.each<[string, string, string | undefined, string | undefined, string]>([
  ['the body of an endpoint', '/take', json, `{"lines":[{"id":${LONG}}]}`, 'lines.0.id'],
  ['a long decimal', '/take', json, '{"price":0.1234567890123456789}', 'price'],
  ['a resource', '/orders', json, `{"total":${LONG}}`, 'total'],
  ['the management API', documents, json, `{"total":${LONG}}`, 'total'],
  ['filters of a search', `${documents}/search`, json, `{"filters":{"total":${LONG}}}`, 'filters.total'],
  ['filters in an address', `/queue/schedules?filters={"name":${LONG}}`, undefined, undefined, 'filters'],
  ['NDJSON', `${documents}/import`, 'application/x-ndjson', `{"total":1}\n{"total":${LONG}}\n`, 'total'],
  ['CSV', `${documents}/import`, 'text/csv', `total\n1\n${LONG}\n`, 'total'],
  ['a typed parameter', `/typed?amount=${LONG}`, undefined, undefined, 'amount'],
  ['a typed form', '/form', 'application/x-www-form-urlencoded', `amount=${LONG}`, 'amount'],
  ['jsonParse', '/text', 'text/plain', `{"id":${LONG}}`, 'id'],
  ['a reply of another server', '/ask', undefined, undefined, 'data.0.id'],
])('%s with a number that would lose digits is refused', async (_name, path, type, body, field) => {
  const before = await quoin.documents(storage)
  const reply = await send(path, type, body)
  expect(reply.status).toBe(path === '/ask' ? 500 : 400)
  const log = path === '/ask' ? JSON.stringify(await quoin.systemLog()) : ''
  expect(reply.text + log).toContain(field)
  expect(await quoin.documents(storage)).toEqual(before)
})

test('where a flow asks for them as texts, long numbers keep their digits', async () => {
  expect(JSON.parse((await send('/texts', 'text/plain', `{"id":${LONG},"n":1.5}`)).text)).toEqual({
    id: LONG,
    n: 1.5,
  })
  expect(JSON.parse((await send('/ask-text')).text)).toEqual({ data: [{ id: LONG }] })
})

test('numbers that keep their digits come back as they were sent', async () => {
  const sent = '{"a":9007199254740991,"b":0.30000000000000004,"c":1.5e+300,"d":0.1}'
  const stored = objectOf(JSON.parse((await send('/take', json, sent)).text))
  expect(JSON.stringify(stored.event)).toBe(sent)
})
