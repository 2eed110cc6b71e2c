import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { HttpConnection } from '../http-connection.ts'
import { Secret } from '../secret.ts'
import block from './call_operation.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly type: string | undefined
  readonly accept: string | undefined
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

let seen: Seen[] = []
let server: LocalServer
/** What the next replies are; then 200 and an empty object. */
let planned: {
  readonly code: number
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}[] = []

beforeAll(async () => {
  server = await startLocalServer(async (request, response) => {
    const { method, url, headers } = request
    seen.push({
      method,
      url,
      type: headers['content-type'],
      accept: headers.accept,
      headers,
      body: await text(request),
    })
    const { code = 200, headers: sent = {}, body = '{}' } = planned.shift() ?? {}
    response.writeHead(code, { 'content-type': 'application/json', ...sent }).end(body)
  })
})
beforeEach(() => {
  seen = []
  planned = []
})
afterAll(() => server.close())

const get = { id: 'find', hash: 'h', title: 'Find', method: 'GET', path: '/pets', pins: [] }

function call(operation: JsonObject, more: Record<string, unknown>, circumstances: Circumstances = {}) {
  return runBlock(block, {
    allowedHosts: ['127.0.0.1'],
    wired: [],
    ...circumstances,
    inputs: { server: `${server.url}/v1/`, ...circumstances.inputs },
    fields: { operation: { ...get, ...operation } },
    more,
  })
}

describe('refused before anything is sent', () => {
  test.each<[string, JsonObject, Record<string, unknown>, string]>([
    [
      'a path that leads up',
      { path: '/pets/{id}', pins: [{ pin: 'id', in: 'path', type: 'line', required: true }] },
      { id: '..' },
      'id',
    ],
    [
      'an empty part of a path',
      { path: '/pets/{id}', pins: [{ pin: 'id', in: 'path', type: 'line', required: true }] },
      { id: '' },
      'id',
    ],
    [
      'objects in a query that is no JSON',
      { pins: [{ pin: 'ids', in: 'query', type: 'array' }] },
      { ids: [{ a: 1 }] },
      'ids',
    ],
    [
      'what is no choice',
      { pins: [{ pin: 'kind', in: 'query', type: 'value', choices: ['cat'] }] },
      { kind: 'dog' },
      'kind',
    ],
    ['what is missing', { pins: [{ pin: 'id', in: 'query', type: 'value', required: true }] }, {}, 'id'],
    [
      'a header with a line break',
      { pins: [{ pin: 'tag', in: 'header', type: 'line' }] },
      { tag: 'a\r\nb: c' },
      'tag',
    ],
  ])('%s', async (_, operation, more, pin) => {
    await expect(call(operation, more)).rejects.toMatchObject({ pin })
    expect(seen).toEqual([])
  })

  test('a private address that is not allowed', async () => {
    await expect(call({}, {}, { allowedHosts: [] })).rejects.toMatchObject({
      pin: 'url',
      message: expect.stringContaining('private address'),
    })
    expect(seen).toEqual([])
  })

  test('neither a connection nor a server', async () => {
    await expect(call({}, {}, { inputs: { server: '' } })).rejects.toMatchObject({ pin: 'connection' })
  })
})

describe('settings that are no operation', () => {
  test.each<[string, JsonValue, string]>([
    ['a text', 'find', 'must be an operation'],
    ['no pins', { id: 'a', hash: 'a', title: 'A', method: 'GET', path: '/a' }, 'must be an operation'],
    ['another method', { ...get, method: 'TRACE' }, '/method'],
    [
      'a pin twice',
      {
        ...get,
        pins: [
          { pin: 'a', in: 'query', type: 'value' },
          { pin: 'a', in: 'header', type: 'value' },
        ],
      },
      'two pins named a',
    ],
    ['a path that leads up', { ...get, path: '/../admin' }, 'path with ..'],
    ['more than it has', { ...get, secret: 'x' }, 'must be an operation'],
  ])('%s', async (_, operation, message) => {
    await expect(runBlock(block, { fields: { operation } })).rejects.toThrow(message)
  })
})

const colours = ['blue', 'black & white']
const size = { R: 100, G: 200 }

/** The table of styles of the specification. */
test.each<[JsonObject, JsonValue, string]>([
  [{ in: 'query' }, 'a b', '?c=a%20b'],
  [{ in: 'query' }, colours, '?c=blue&c=black%20%26%20white'],
  [{ in: 'query' }, size, '?R=100&G=200'],
  [{ in: 'query', explode: false }, colours, '?c=blue,black%20%26%20white'],
  [{ in: 'query', explode: false }, size, '?c=R,100,G,200'],
  [{ in: 'query', style: 'spaceDelimited', explode: false }, colours, '?c=blue%20black%20%26%20white'],
  [{ in: 'query', style: 'pipeDelimited' }, colours, '?c=blue|black%20%26%20white'],
  [{ in: 'query', style: 'deepObject' }, size, '?c%5BR%5D=100&c%5BG%5D=200'],
  [{ in: 'query', style: 'deepObject' }, { a: [{ b: 1 }] }, '?c%5Ba%5D%5B0%5D%5Bb%5D=1'],
  [{ in: 'query', json: true }, size, '?c=%7B%22R%22%3A100%2C%22G%22%3A200%7D'],
  [{ in: 'query' }, [], ''],
  [{ in: 'path' }, 'a/b?c', '/a%2Fb%3Fc'],
  [{ in: 'path' }, colours, '/blue,black%20%26%20white'],
  [{ in: 'path' }, size, '/R,100,G,200'],
  [{ in: 'path', explode: true }, size, '/R=100,G=200'],
  [{ in: 'path', style: 'label' }, colours, '/.blue,black%20%26%20white'],
  [{ in: 'path', style: 'label', explode: true }, size, '/.R=100.G=200'],
  [{ in: 'path', style: 'matrix' }, size, '/;c=R,100,G,200'],
  [{ in: 'path', style: 'matrix', explode: true }, colours, '/;c=blue;c=black%20%26%20white'],
])('%j of %j is sent as %s', async (style, value, sent) => {
  const path = style.in === 'path' ? '/pets/{c}' : '/pets'
  await call({ path, pins: [{ pin: 'c', type: 'any', ...style }] }, { c: value })
  expect(seen[0]?.url).toBe(`/v1/pets${sent}`)
})

test('headers, cookies and a date', async () => {
  const pins = [
    { pin: 'since', in: 'query', type: 'date' },
    { pin: 'x_tag', name: 'X-Tag', in: 'header', type: 'array' },
    { pin: 'session', in: 'cookie', type: 'value' },
  ]
  await call({ pins }, { since: '2026-01-31T10:00:00Z', x_tag: ['a', 'b'], session: 'c d' })
  expect(seen[0]).toMatchObject({
    url: '/v1/pets?since=2026-01-31T10%3A00%3A00.000Z',
    headers: { 'x-tag': 'a,b', cookie: 'session=c%20d' },
  })
})

const fields = [
  { pin: 'name', in: 'body', type: 'value' },
  { pin: 'tags', in: 'body', type: 'array' },
  { pin: 'owner', in: 'body', type: 'object' },
]
const pet = { name: 'Kit', tags: ['a', 'b'], owner: { id: 1 } }
const others = { pin: 'others', holds: 'object' }

test.each<[string, JsonObject, Record<string, unknown>, string, string]>([
  [
    'fields as JSON',
    { type: 'application/json', as: 'json', ...others },
    pet,
    'application/json',
    JSON.stringify(pet),
  ],
  [
    'further fields and null',
    { type: 'application/json', as: 'json', ...others },
    { name: 'Kit', others: { note: null, name: 'Tom' } },
    'application/json',
    '{"note":null,"name":"Kit"}',
  ],
  [
    'JSON of another name',
    { type: 'application/merge-patch+json', as: 'json', ...others },
    { name: 'Kit' },
    'application/merge-patch+json',
    '{"name":"Kit"}',
  ],
  [
    'a form',
    { type: 'application/x-www-form-urlencoded', as: 'form', ...others },
    pet,
    'application/x-www-form-urlencoded',
    'name=Kit&tags=a&tags=b&owner=%7B%22id%22%3A1%7D',
  ],
  ['no field', { type: 'application/json', as: 'json', ...others }, {}, '', ''],
])('a body: %s', async (_, body, more, type, sent) => {
  await call({ method: 'POST', pins: fields, body }, more)
  expect([seen[0]?.type ?? '', seen[0]?.body]).toEqual([type, sent])
})

test.each<[string, JsonObject, JsonValue, string, string]>([
  ['a list', { type: 'application/json', as: 'json', holds: 'array' }, [1, 2], 'application/json', '[1,2]'],
  ['a text', { type: 'text/csv', as: 'text', holds: 'value' }, 'a,b', 'text/csv', 'a,b'],
  [
    'bytes',
    { type: 'application/pdf', as: 'base64', holds: 'value' },
    Buffer.from('%PDF').toString('base64'),
    'application/pdf',
    '%PDF',
  ],
])('a whole body: %s', async (_, body, value, type, sent) => {
  await call({ method: 'PUT', body: { ...body, pin: 'body' } }, { body: value })
  expect([seen[0]?.type, seen[0]?.body]).toEqual([type, sent])
})

test('objects of objects in a form, as its document says', async () => {
  const pins = [{ pin: 'items', in: 'body', type: 'array', style: 'deepObject', explode: true }]
  const body = { type: 'application/x-www-form-urlencoded', as: 'form' }
  await call({ method: 'POST', pins, body }, { items: [{ price: 'p1', taxes: ['t'] }] })
  expect(decodeURIComponent(seen[0]?.body ?? '')).toBe('items[0][price]=p1&items[0][taxes][0]=t')
})

test('files and JSON are parts', async () => {
  const pins = [
    { pin: 'photo', in: 'body', type: 'any' },
    { pin: 'about', in: 'body', type: 'object' },
  ]
  const body = { type: 'multipart/form-data', as: 'multipart' }
  const photo = { file_name: 'k.png', type: 'image/png', base64: Buffer.from('PNG').toString('base64') }
  await call({ method: 'POST', pins, body }, { photo, about: { a: 1 } })
  expect(seen[0]?.type).toMatch(/^multipart\/form-data; boundary=/)
  expect(seen[0]?.body).toMatch(/name="photo"; filename="k.png"\r\nContent-Type: image\/png\r\n\r\nPNG\r\n/)
  expect(seen[0]?.body).toMatch(/name="about"\r\n\r\n\{"a":1\}\r\n/)
})

const failing = {
  failures: [{ status: '404', help: 'No such pet' }, { status: '4XX' }, { status: 'default' }],
}

test.each<[number, readonly string[], string]>([
  [204, ['status_404'], 'flow'],
  [404, ['status_404', 'status_4xx', 'status_default', 'failed'], 'status_404'],
  [404, ['status_4xx', 'failed'], 'status_4xx'],
  [410, ['status_404', 'status_4xx'], 'status_4xx'],
  [500, ['status_4xx', 'status_default'], 'status_default'],
  [500, ['status_4xx', 'failed'], 'failed'],
])('%i with the ways %j goes on at %s', async (code, wired, next) => {
  planned = [{ code, body: code === 204 ? '' : '{"why":"x"}' }]
  const ran = await call(failing, {}, { wired })
  expect([ran.next, ran.outputs.code]).toEqual([next, code])
  expect(ran.outputs.body).toEqual(code === 204 ? undefined : { why: 'x' })
})

test('a status code without a way is an error of the block', async () => {
  planned = [{ code: 500 }]
  await expect(call(failing, {}, { wired: ['status_404'] })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('status 500'),
  })
})

test('named headers of the reply, and a file as Base64', async () => {
  const bytes = Buffer.from([0xff, 0xd8, 0])
  planned = [{ code: 200, headers: { 'content-type': 'image/jpeg', link: '<x>; rel="next"' }, body: bytes }]
  const gives = { type: 'value', accept: 'image/jpeg', bytes: true }
  const ran = await call(
    {
      gives,
      headers: [
        { pin: 'header_link', name: 'link' },
        { pin: 'header_etag', name: 'etag' },
      ],
    },
    {},
  )
  expect(seen[0]?.accept).toBe('image/jpeg')
  expect(ran.outputs).toMatchObject({ body: bytes.toString('base64'), header_link: '<x>; rel="next"' })
  expect(ran.outputs.header_etag).toBeUndefined()
})

test('over a connection it is signed in and stays below its address', async () => {
  const connection = new HttpConnection('PETS', () => ({
    baseUrl: new URL(`${server.url}/v1/`),
    headers: { 'x-version': '2' },
    signIn: { kind: 'bearer', secret: new Secret('KEY', () => 'abc') },
    identity: {},
  }))
  const path = '/pets/{id}'
  const pins = [{ pin: 'id', in: 'path', type: 'line', required: true }]
  await call({ path, pins }, { id: '../../admin' }, { inputs: { connection } })
  expect(seen[0]).toMatchObject({
    url: '/v1/pets/..%2F..%2Fadmin',
    headers: { authorization: 'Bearer abc', 'x-version': '2' },
  })
})
