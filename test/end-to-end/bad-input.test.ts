/**
 * Requests that no well-behaved client sends, byte by byte over a real connection: each gets its error, nothing is
 * stored, and the next request is answered.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isJsonObject } from '../../src/shared/json.ts'
import { guidOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let port: number
let token: string
let stored: readonly unknown[]

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_EXAMPLES: '1', QUOIN_BODY_LIMIT: '4096' })
  token = await quoin.tokenOf('admin')
  port = Number(new URL(await quoin.quoin.server.listen()).port)
  stored = await everything()
})

afterAll(() => quoin.close())

afterEach(async () => {
  expect((await raw('GET /api/v1/info HTTP/1.1', '')).status, 'the next request is answered').toBe(200)
  expect(await everything(), 'nothing was stored').toEqual(stored)
})

/** All records that a request could have made or changed. */
async function everything() {
  const storages = [
    '_blueprints',
    '_blocks',
    '_deployments',
    '_users',
    '_systemlogs',
    '_idempotency',
    'tasks',
  ]
  await quoin.quoin.flows.log.flush()
  return Promise.all(storages.map((name) => quoin.documents(name)))
}

interface Received {
  /** 0 when the connection was closed without an answer. */
  readonly status: number
  readonly body: unknown
}

/** Sends a request line, its headers and a body as they are, and reads until the connection is closed. */
async function raw(line: string, body: string | Buffer, headers: readonly string[] = []): Promise<Received> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const lengthSaid = headers.some((header) => /^(content-length|transfer-encoding):/i.test(header))
  const all = [line, 'host: quoin', 'connection: close', ...headers]
  if (!lengthSaid && bytes.length > 0) all.push(`content-length: ${bytes.length}`)
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  // The server may close before it has read everything.
  socket.on('error', () => undefined)
  socket.write(Buffer.concat([Buffer.from(`${all.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]))
  await once(socket, 'close')
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  const content = rest.join('\r\n\r\n')
  return { status, body: content.startsWith('{') || content.startsWith('[') ? JSON.parse(content) : content }
}

const json = 'content-type: application/json'
const signedIn = () => `authorization: Bearer ${token}`
const nested = (depth: number) => `{"title":"x","deep":${'['.repeat(depth)}${']'.repeat(depth)}}`

/** Bodies that are refused wherever they are sent, and what the error says. */
const bodies: [string, string | Buffer, number, string, RegExp][] = [
  ['malformed JSON', '{"title": "x"', 400, 'INVALID_BODY', /not JSON/],
  ['two values', '{"title":"x"}{"title":"y"}', 400, 'INVALID_BODY', /not JSON/],
  ['a name without quotes', '{title:"x"}', 400, 'INVALID_BODY', /not JSON/],
  ['NaN', '{"title":"x","name":NaN}', 400, 'INVALID_BODY', /not JSON/],
  ['a body over the limit', `{"title":"${'x'.repeat(5000)}"}`, 413, 'FILE_TOO_BIG', /4096 bytes/],
  ['nesting over 64', nested(64), 400, 'INVALID_BODY', /deeper than 64/],
  ['nesting far over 64', nested(2000), 400, 'INVALID_BODY', /deeper than 64/],
  ['U+0000 in a value', '{"title":"x\\u0000y"}', 400, 'INVALID_BODY', /U\+0000/],
  ['U+0000 in a name', '{"title":"x","a\\u0000":1}', 400, 'INVALID_BODY', /U\+0000/],
  ['half of a surrogate pair', '{"title":"\\ud800"}', 400, 'INVALID_BODY', /surrogate/],
  ['the other half', '{"title":"x","name":["\\udc00 "]}', 400, 'INVALID_BODY', /surrogate/],
  ['__proto__', '{"title":"x","__proto__":{"admin":true}}', 400, 'INVALID_BODY', /prototype/],
  ['__proto__ deeper', '{"title":"x","a":[{"__proto__":{}}]}', 400, 'INVALID_BODY', /prototype/],
  ['__proto__ escaped', '{"title":"x","\\u005f_proto__":{}}', 400, 'INVALID_BODY', /prototype|__proto__/],
  ['constructor.prototype', '{"title":"x","constructor":{"prototype":{}}}', 400, 'INVALID_BODY', /prototype/],
  ['a number beyond all numbers', '{"title":"x","n":1e999}', 400, 'INVALID_BODY', /number/],
  ['invalid UTF-8', Buffer.from('{"title":"\xff\xfe"}', 'latin1'), 400, 'INVALID_BODY', /UTF-8/],
  ['overlong UTF-8', Buffer.from('{"title":"\xc0\xaf"}', 'latin1'), 400, 'INVALID_BODY', /UTF-8/],
]

describe.each(bodies)('%s', (_name, body, status, code, words) => {
  test('to a management endpoint', async () => {
    const answer = await raw('POST /api/v1/blueprints HTTP/1.1', body, [json, signedIn()])
    expect(answer).toMatchObject({ status, body: { error: code, code: status } })
    expect(answer.body).toHaveProperty('message', expect.stringMatching(words))
  })

  test('to a custom endpoint', async () => {
    const answer = await raw('POST /api/v1/tasks HTTP/1.1', body, [json, signedIn()])
    expect(answer.status).toBe(status)
    const { error, fields, ...more } = isJsonObject(answer.body) ? answer.body : {}
    expect(error).toMatch(words)
    // Names of its own, if they are what is wrong.
    const namesField = /prototype|number/.test(words.source)
    expect([typeof fields, more]).toEqual([namesField ? 'object' : 'undefined', {}])
  })

  test('anonymous: not even read', async () => {
    expect((await raw('POST /api/v1/blueprints HTTP/1.1', body, [json])).status).toBe(401)
    expect((await raw('POST /api/v1/tasks HTTP/1.1', body, [json])).status).toBe(404)
  })
})

describe('a body that a schema refuses', () => {
  test.each([
    ['an unknown field', '{"name":"x","colour":"red"}', ['colour']],
    ['several unknown and missing ones', '{"a":1,"b":2}', ['name', 'a', 'b']],
    ['a field of another type', '{"name":7}', ['name']],
    ['an empty name', '{"name":""}', ['name']],
    ['a list in place of text', '{"name":"x","tags":[1]}', ['tags.0']],
    ['_meta', '{"name":"x","_meta":{"guid":"y"}}', ['_meta']],
  ])('%s', async (_name, body, fields) => {
    const answer = await raw('POST /api/v1/blueprints HTTP/1.1', body, [json, signedIn()])
    expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_BODY' } })
    expect(answer.body).toHaveProperty('fields', expect.arrayContaining(fields))
  })

  test.each([
    ['a list', '[]'],
    ['text', '"x"'],
    ['null', 'null'],
  ])('%s instead of an object', async (_name, body) => {
    const answer = await raw('POST /api/v1/blueprints HTTP/1.1', body, [json, signedIn()])
    expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_BODY' } })
  })

  test('none at all', async () => {
    const answer = await raw('POST /api/v1/blueprints HTTP/1.1', '', [json, signedIn()])
    expect(answer).toMatchObject({ status: 400, body: { error: 'NO_BODY_GIVEN' } })
  })

  test.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'x', 'application/jsonx'])(
    'content type %s is 415',
    async (type) => {
      for (const path of ['blueprints', 'tasks']) {
        const headers = [`content-type: ${type}`, signedIn()]
        const answer = await raw(`POST /api/v1/${path} HTTP/1.1`, '{"name":"x","title":"x"}', headers)
        expect(answer.status).toBe(415)
      }
    },
  )
})

describe('searches and paths', () => {
  test.each([
    ['{"limit":-1}', 'INVALID_BODY'],
    ['{"limit":1001}', 'INVALID_BODY'],
    ['{"limit":"abc"}', 'INVALID_BODY'],
    ['{"offset":10001}', 'INVALID_BODY'],
    ['{"unknown":1}', 'INVALID_BODY'],
    ['{"filters":{"nope":1}}', 'INVALID_QUERY'],
    ['{"sort":[{"nope":"asc"}]}', 'INVALID_QUERY'],
    ['{"after":"nonsense"}', 'INVALID_QUERY'],
  ])('search %s is 400 %s', async (body, code) => {
    const answer = await raw('POST /api/v1/blueprints/search HTTP/1.1', body, [json, signedIn()])
    expect(answer).toMatchObject({ status: 400, body: { error: code, code: 400 } })
  })

  test.each([
    ['/api/v1/tasks?limit=-1', 400],
    ['/api/v1/tasks?limit=abc', 400],
    ['/api/v1/tasks?status=%00', 400],
    ['/api/v1/tasks/%00', 400],
    ['/api/v1/%00', 400],
    ['/api/v1/tasks/a%00b?x=1', 400],
    ['/api/v1/tasks/%zz', 400],
    ['/api/v1/tasks/%ff', 400],
    ['/api/v1/tasks/%e2%28%a1', 400],
    [`/api/v1/tasks/${'x'.repeat(300)}`, 404],
    ['/api/v1/tasks/..%2f..%2fetc%2fpasswd', 404],
    ['/api/v1/../../etc/passwd', 404],
    ['//api/v1/info', 404],
    ['/api/v1/tasks/__proto__', 404],
    ['/api/v1/constructor', 404],
    ['/api/v1/tasks?__proto__[x]=1&constructor=2', 200],
  ])('GET %s is %i', async (path, status) => {
    const answer = await raw(`GET ${path} HTTP/1.1`, '')
    expect(answer.status).toBe(status)
    if (status >= 400) expect(answer.body).toHaveProperty('error')
  })
})

describe('what is hardly HTTP', () => {
  test.each<[string, string, readonly string[], string, number]>([
    ['no HTTP at all', 'hello', [], '', 400],
    ['a header without a colon', 'GET /api/v1/info HTTP/1.1', ['nonsense'], '', 400],
    ['headers of 20 KB', 'GET /api/v1/info HTTP/1.1', [`x: ${'y'.repeat(20_000)}`], '', 431],
    ['two lengths', 'POST /api/v1/tasks HTTP/1.1', ['content-length: 2', 'content-length: 3'], '{}', 400],
    [
      'a length and chunks (request smuggling)',
      'POST /api/v1/tasks HTTP/1.1',
      ['content-length: 2', 'transfer-encoding: chunked'],
      '0\r\n\r\n',
      400,
    ],
    ['a space in the path', 'GET /api/v1/in fo HTTP/1.1', [], '', 400],
    ['a raw zero byte in a header', 'GET /api/v1/info HTTP/1.1', ['x: a\u0000b'], '', 400],
    ['an unknown method', 'BREW /api/v1/tasks HTTP/1.1', [], '', 400],
    ['two different tokens', 'GET /api/v1/tasks HTTP/1.1', ['x-token: a', 'x-authtoken: b'], '', 401],
  ])('%s', async (_name, line, headers, body, status) => {
    expect((await raw(line, body, headers)).status).toBe(status)
  })

  test('a client that goes away in the middle of its body stores nothing', async () => {
    const socket = connect(port, '127.0.0.1')
    const head = [
      'POST /api/v1/tasks HTTP/1.1',
      'host: quoin',
      json,
      signedIn(),
      'content-length: 100',
      '',
      '',
    ]
    socket.write(`${head.join('\r\n')}{"title":"x"}`)
    await once(socket, 'connect')
    socket.destroy()
    await once(socket, 'close')
  })

  test('headers that come too slowly end the connection with 408', async () => {
    const { server } = quoin.quoin.server.app
    // 8 seconds for the headers and 15 for the whole request are in force. Here only the wait is made shorter.
    expect([server.headersTimeout, server.requestTimeout]).toEqual([8_000, 15_000])
    server.headersTimeout = 100
    try {
      const socket = connect(port, '127.0.0.1')
      let received = ''
      socket.setEncoding('utf8').on('data', (chunk) => {
        received += chunk
      })
      socket.write('POST /api/v1/tasks HTTP/1.1\r\nhost: quoin\r\n')
      await once(socket, 'close')
      expect(received).toMatch(/^HTTP\/1\.1 408 /)
    } finally {
      server.headersTimeout = 8_000
    }
  })
})

test('control: a request that is good is stored, and seen to be', async () => {
  const answer = await raw('POST /api/v1/tasks HTTP/1.1', '{"title":"x","deep":[[1]]}', [json, signedIn()])
  expect(answer.status).toBe(201)
  expect(await everything()).not.toEqual(stored)
  const session = quoin.quoin.database.session()
  for (const task of await quoin.documents('tasks')) await session.delete('tasks', guidOf(task))
  await session.transaction.commit()
})
