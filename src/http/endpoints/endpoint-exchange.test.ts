/**
 * Requests to custom endpoints over real connections, past the framework; the same ones through it (as where origins are
 * allowed) get the same replies.
 */
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent in one piece with its length; a list is sent in pieces without. */
  readonly body?: string | readonly string[]
}

const ORIGIN = 'https://app.example.org'
const limit = 2_000
let past: TestQuoin
let through: TestQuoin
let ports: readonly [number, number]

async function open(settings: Readonly<Record<string, string>>): Promise<TestQuoin> {
  const quoin = await openTestQuoin({ QUOIN_BODY_LIMIT: String(limit), ...settings })
  await quoin.addUser('clerk', ['clerks'])
  await quoin.install('said', {
    say: { type: 'on_startup_register_uri_get', in: { uri: 'said/{word}' }, fields: { cache_seconds: 60 } },
    word: { type: 'httpconnection_get_params', in: { connection: '@say.connection', field: 'word' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@say.flow', value: '@word.value' } },
  })
  await quoin.install('taken', {
    take: { type: 'on_startup_register_uri_post', in: { uri: 'taken' }, scopes: ['clerks'] },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@take.flow', code: 201, value: '@take.body', headers: { 'x-kept': 'yes' } },
    },
  })
  await quoin.install('texts', {
    take: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'texts' },
      fields: { accepts: 'text' },
      scopes: ['*public'],
    },
    reply: { type: 'reply', in: { flow: '@take.flow', value: '={ body: body }' } },
  })
  await quoin.install('orders', {
    take: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'orders' },
      fields: { accepts: 'xml', xml_lists: ['item'] },
      scopes: ['*public'],
    },
    reply: { type: 'reply', in: { flow: '@take.flow', value: '={ body: body, first: body.order.item[0] }' } },
  })
  await quoin.install('taken as JSON', {
    take: { type: 'on_startup_register_uri_post', in: { uri: 'taken-as-json' }, scopes: ['*public'] },
    reply: { type: 'reply', in: { flow: '@take.flow', value: '@take.body' } },
  })
  await quoin.install('nothing', {
    on: { type: 'on_startup_register_uri_delete', in: { uri: 'nothing' } },
    log: { type: 'function_console_log', in: { flow: '@on.flow', value: 'asked' } },
  })
  return quoin
}

const portOf = async (quoin: TestQuoin) => Number(new URL(await quoin.quoin.server.listen()).port)

beforeAll(async () => {
  past = await open({})
  through = await open({ QUOIN_CORS_ORIGINS: ORIGIN })
  ports = [await portOf(past), await portOf(through)]
})
afterAll(() => Promise.all([past.close(), through.close()]))

function send(port: number, { method, path, headers = {}, body }: Asked): Promise<Got> {
  const pieces = typeof body === 'string' ? [body] : (body ?? [])
  const length = typeof body === 'string' ? { 'content-length': Buffer.byteLength(body) } : {}
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ port, method, path: `/api/v1${path}`, headers: { ...length, ...headers } })
    asked.on('error', reject)
    asked.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (more) => {
        text += more
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    for (const piece of pieces) asked.write(piece)
    asked.end()
  })
}

/** Asks both; what only cross-origin replies have is left out. */
async function both(asked: Asked, as?: string): Promise<Got> {
  const [one, other] = await Promise.all(
    [past, through].map(async (quoin, place) => {
      const bearer = as === undefined ? {} : { authorization: `Bearer ${await quoin.tokenOf(as)}` }
      const got = await send(ports[place] ?? 0, { ...asked, headers: { ...bearer, ...asked.headers } })
      const { date: _1, vary: _2, 'access-control-expose-headers': _3, ...rest } = got.headers
      const { 'x-request-id': id, ...headers } = rest
      expect(id).toMatch(/^[\w-]+$/)
      return { ...got, headers }
    }),
  )
  expect(other).toEqual(one)
  if (!one) throw new Error('Nothing was asked.')
  return one
}

const json = { 'content-type': 'application/json' }
const post = { method: 'POST', path: '/taken' } as const
const long = JSON.stringify('x'.repeat(limit))

describe('refused', () => {
  test.each<[string, Asked, number, string | undefined]>([
    ['an unknown path', { method: 'GET', path: '/unknown' }, 404, undefined],
    ['the wrong method', { method: 'PUT', path: '/said/a' }, 404, undefined],
    ['without the scope', { ...post, headers: json, body: '{}' }, 404, undefined],
    ['U+0000 in the path', { method: 'GET', path: '/said/%00' }, 400, undefined],
    ['no UTF-8 in the path', { method: 'GET', path: '/said/%ff' }, 400, undefined],
    ['another type', { ...post, headers: { 'content-type': 'text/csv' }, body: 'a,b' }, 415, 'clerk'],
    ['no type', { ...post, body: '{}' }, 415, 'clerk'],
    ['no JSON', { ...post, headers: json, body: '{' }, 400, 'clerk'],
    ['a length over the limit', { ...post, headers: json, body: long }, 413, 'clerk'],
    ['more than the limit, in pieces', { ...post, headers: json, body: [long, long] }, 413, 'clerk'],
  ])('%s', async (_name, asked, status, as) => {
    const got = await both(asked, as)
    expect(got.status, got.text).toBe(status)
    expect(got.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    })
    expect(got.headers.etag).toBeUndefined()
    if (status === 413) expect(got.headers.connection).toBe('close')
  })
})

test.each([
  ['a custom endpoint', '/texts', 'text/plain'],
  ['an endpoint of management', '/auth/signin', 'application/json'],
])(
  'a client that sends the whole of a refused body to %s reads why it was refused',
  async (_name, path, type) => {
    // More than the buffers of both sockets hold.
    const body = Buffer.alloc(32 * 1024 * 1024, '1')
    const socket = connect(ports[0], '127.0.0.1').pause()
    const head = `POST /api/v1${path} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`
    socket.write(head)
    const sent = new Promise<Error | null | undefined>((resolve) => socket.write(body, resolve))
    socket.on('error', () => undefined)
    expect(await sent).toBeFalsy()
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 413 /)
  },
)

test.each(['/said/a', '/unknown'])('two hosts for %s are refused', async (path) => {
  for (const port of ports) {
    const socket = connect(port, '127.0.0.1')
    socket.end(`GET /api/v1${path} HTTP/1.1\r\nHost: a\r\nHOST: a\r\nConnection: close\r\n\r\n`)
    const reply = await textOf(socket)
    expect(reply).toMatch(/^HTTP\/1\.1 400 /)
    expect(reply).toContain('two Host headers')
  }
})

describe('answered', () => {
  test('with its length, its tag and what the trigger says of caching', async () => {
    const got = await both({ method: 'GET', path: '/said/gr%C3%BCn' })
    expect(got).toMatchObject({ status: 200, text: '"grün"' })
    expect(got.headers).toMatchObject({
      'content-length': '7',
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'cache-control': 'public, max-age=60',
      etag: expect.stringMatching(/^"[\w-]+"$/),
    })
  })

  test('304 to who has those bytes, 200 to who has others', async () => {
    const { headers } = await both({ method: 'GET', path: '/said/a' })
    const asked = (known: string) =>
      both({ method: 'GET', path: '/said/a', headers: { 'if-none-match': known } })
    const same = await asked(`"other", W/${headers.etag}`)
    expect(same).toMatchObject({ status: 304, text: '' })
    expect(same.headers['content-length']).toBeUndefined()
    expect(same.headers.etag).toBe(headers.etag)
    expect((await asked('"other"')).status).toBe(200)
  })

  test('HEAD like GET, without the bytes', async () => {
    const get = await both({ method: 'GET', path: '/said/a' })
    const head = await both({ method: 'HEAD', path: '/said/a' })
    expect(head).toEqual({ ...get, text: '' })
  })

  test.each<[string, Asked, string]>([
    ['JSON', { ...post, headers: json, body: '{"a":"ä"}' }, '{"a":"ä"}'],
    ['JSON in pieces', { ...post, headers: json, body: ['{"a":', '1}'] }, '{"a":1}'],
    [
      'JSON that says more of itself',
      { ...post, headers: { 'content-type': 'Application/JSON; x=y' }, body: '1' },
      '1',
    ],
    [
      'a form',
      { ...post, headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=1&b=2' },
      '{"a":"1","b":"2"}',
    ],
    ['an empty body', { ...post, headers: json, body: '' }, 'null'],
  ])('%s', async (_name, asked, text) => {
    const got = await both(asked, 'clerk')
    expect(got).toMatchObject({ status: 201, text })
    expect(got.headers).toMatchObject({ 'x-kept': 'yes', 'content-security-policy': 'sandbox' })
    expect(got.headers.etag).toBeUndefined()
  })

  test('204 for a flow without a reply', async () => {
    const got = await both({ method: 'DELETE', path: '/nothing' })
    expect(got).toMatchObject({ status: 204, text: '' })
    expect(got.headers['content-length']).toBeUndefined()
    expect(got.headers['content-type']).toBeUndefined()
  })
})

describe('what only the framework does', () => {
  test('an allowed origin may read the reply, another one may not', async () => {
    const allowed = async (origin: string) =>
      (await send(ports[1], { method: 'GET', path: '/said/a', headers: { origin } })).headers[
        'access-control-allow-origin'
      ]
    expect(await allowed(ORIGIN)).toBe(ORIGIN)
    expect(await allowed('https://other.example.org')).not.toBe('https://other.example.org')
  })
})

describe('the id of a request', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const table: readonly [string, Record<string, string>, RegExp][] = [
    ['one that does not fit a log line', { 'x-request-id': 'a "b" {c}' }, /^[\w-]{8,30}$/],
    ['one that is too long', { 'x-request-id': 'a'.repeat(129) }, /^[\w-]{8,30}$/],
    ['a trace that is none', { traceparent: '00-zz-b7ad6b7169203331-01' }, /^[\w-]{8,30}$/],
    ["the client's own", { 'x-request-id': 'edge:42/a.b' }, /^edge:42\/a\.b$/],
    ['that of its trace', { traceparent }, /^0af7651916cd43dd8448eb211c80319c$/],
    ['its own rather than that of its trace', { traceparent, 'x-request-id': 'mine' }, /^mine$/],
  ]
  test.each(table)('%s', async (_name, headers, id) => {
    for (const port of ports)
      for (const path of ['/said/a', '/info', '/nothing-here']) {
        const got = await send(port, { method: 'GET', path, headers })
        expect([path, got.headers['x-request-id']]).toEqual([path, expect.stringMatching(id)])
        expect(got.headers.traceparent).toBe(headers.traceparent === traceparent ? traceparent : undefined)
      }
  })
})

describe('content types', () => {
  const sent = (path: string, type: string, body: string) =>
    both(
      { method: 'POST', path, headers: { 'content-type': type }, body },
      path === '/taken' ? 'clerk' : undefined,
    )

  test.each([
    ['application/ld+json', '{"a":1}', { a: 1 }],
    ['application/vnd.api+json; charset=utf-8', '[1]', [1]],
  ])('%s is JSON everywhere', async (type, body, value) => {
    expect(JSON.parse((await sent('/taken', type, body)).text)).toEqual(value)
  })

  test.each([
    ['text/plain', 'Zoë\n'],
    ['Text/CSV; header=present', 'a,b\r\n'],
    ['application/xml', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
    ['application/soap+xml', '<a/>'],
    ['text/xml', '{"a":1}'],
    ['', '{"a":1}'],
  ])('%s is a text as it was sent, where texts are accepted', async (type, body) => {
    expect(JSON.parse((await sent('/texts', type, body)).text)).toMatchObject({ body })
    expect((await sent('/taken', type, body)).status).toBe(415)
  })

  test.each([
    ['application/octet-stream', 'x', 415],
    ['multipart/form-data; boundary=x', 'x', 415],
    ['textplain', 'x', 415],
    ['application/+json', '{}', 415],
    ['text/plain', 'a\u0000b', 400],
    ['application/problem+json', 'no JSON', 400],
    ['text/plain', 'x'.repeat(limit + 1), 413],
  ])('%s with %j is refused', async (type, body, status) => {
    expect((await sent('/texts', type, body)).status).toBe(status)
  })

  test.each(['application/xml', 'text/xml; charset=utf-8', 'application/soap+xml'])(
    '%s is a value where XML is accepted',
    async (type) => {
      const item = { '@n': '2', '#text': 'tea' }
      const got = await sent('/orders', type, '<order><item n="2">tea</item></order>')
      expect(JSON.parse(got.text)).toEqual({ body: { order: { item: [item] } }, first: item })
    },
  )

  test.each<[string, string, string, number]>([
    ['/taken-as-json', 'application/xml', '<a/>', 415],
    ['/orders', 'text/plain', '<a/>', 415],
    ['/orders', 'application/xml', '<!DOCTYPE a><a/>', 400],
    ['/orders', 'application/xml', '<a>', 400],
    ['/orders', 'application/xml', `<a>${'x'.repeat(limit)}</a>`, 413],
  ])('%s refuses %s with %s', async (path, type, body, status) => {
    expect((await sent(path, type, body)).status).toBe(status)
  })
})
