import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './http_request.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What arrived at the two servers, in order. */
let seen: Seen[] = []
let here: string
let elsewhere: string
const servers: LocalServer[] = []
const allowedHosts = ['127.0.0.1']

/** 600,000 values: a list a thousand times. */
const list = Array.from({ length: 600 }, () => 0)
const sharedList = Array.from({ length: 1_000 }, () => list)

/** The paths of the servers. A path that is not here echoes what arrived. */
const pages: Record<string, (response: ServerResponse, query: URLSearchParams) => void> = {
  '/missing': (response) =>
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"none"}'),
  '/empty': (response) => response.writeHead(204).end(),
  '/null': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('null'),
  '/text': (response) =>
    response
      .writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' })
      .end(Buffer.from([0x63, 0xe9])),
  '/odd-charset': (response) =>
    response.writeHead(200, { 'content-type': 'text/plain; charset=klingon' }).end('é'),
  '/broken': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":'),
  '/proto': (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"__proto__":{"a":1}}'),
  '/problem': (response) =>
    response.writeHead(422, { 'content-type': 'application/problem+json; charset=utf-8' }).end('{"a":1}'),
  '/cookies': (response) =>
    response
      .writeHead(
        200,
        [
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ].flat(),
      )
      .end('x'),
  '/proto-header': (response) =>
    response.writeHead(200, ['__proto__', 'a', '__proto__', 'b', 'x-a', 'b']).end('x'),
  '/packed': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed')),
  '/endless': (response) => {
    response.writeHead(200)
    const more = () => {
      while (!response.destroyed && response.write('a'.repeat(65_536)));
    }
    response.on('drain', more)
    more()
  },
  '/silent': () => undefined,
  '/stalled': (response) => void response.writeHead(200).write('start'),
  '/hang-up': (response) => response.destroy(),
  '/redirect': (response, query) =>
    response.writeHead(Number(query.get('code') ?? 302), { location: query.get('to') ?? '' }).end('go on'),
  '/loop': (response) => response.writeHead(302, { location: '/loop' }).end(),
  '/no-location': (response) => response.writeHead(302).end('here'),
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request
  const one = { method, url, headers, body: await text(request) }
  seen.push(one)
  const { pathname, searchParams } = new URL(url ?? '/', 'http://localhost')
  const page = pages[pathname]
  if (page) return page(response, searchParams)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(one))
}

async function serve(): Promise<string> {
  const server = await startLocalServer((request, response) => void answer(request, response))
  servers.push(server)
  return server.url
}

beforeAll(async () => {
  here = await serve()
  elsewhere = await serve()
})

beforeEach(() => {
  seen = []
})

afterAll(async () => {
  for (const server of servers) await server.close()
})

/** Asks a path of the first server, which is allowed. */
function ask(path: string, inputs: Record<string, unknown> = {}, more: Circumstances = {}) {
  return runBlock(block, { allowedHosts, ...more, inputs: { url: here + path, ...inputs } })
}

function redirect(to: string, code = 302): string {
  return `/redirect?${new URLSearchParams({ to, code: String(code) })}`
}

const closed = { name: 'PinError', pin: 'url', message: expect.stringContaining('private address') }

test('a private address is refused unless it is allowed, and nothing arrives', async () => {
  await expect(ask('/', {}, { allowedHosts: [] })).rejects.toMatchObject(closed)
  await expect(ask('/', {}, { allowedHosts: ['10.0.0.0/8'] })).rejects.toMatchObject(closed)
  expect(seen).toEqual([])
})

test.each([
  'http://[::1]/',
  'http://localhost/',
  'http://0x7f.1/',
  'http://2130706433/',
  'http://169.254.169.254/latest/meta-data',
  'http://[::ffff:127.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://0/',
])('%s is refused', async (url) => {
  await expect(runBlock(block, { inputs: { url } })).rejects.toMatchObject(closed)
})

test.each([
  [{ url: 'file:///etc/passwd' }, 'url', 'must be an address of http or https'],
  [{ url: 'tasks' }, 'url', 'must be an address of http or https'],
  [{ url: '' }, 'url', 'must be an address of http or https'],
  [{ url: `http://a/${'b'.repeat(9000)}` }, 'url', 'of at most 8192 characters'],
  [{ url: 'http://ann:secret@127.0.0.1/' }, 'url', 'must not hold a user name or password'],
  [{ method: 'TRACE' }, 'method', 'must be one of GET, POST'],
  [{ headers: { 'x-a': 'b\r\nx-c: d' } }, 'headers', 'one line'],
  [{ headers: { Host: 'other' } }, 'headers', 'may not set "Host" here'],
  [{ headers: { 'transfer-encoding': 'chunked' } }, 'headers', 'may not set'],
  [{ query: { a: { b: 1 } } }, 'query', 'must give text, a number or a list of these for "a"'],
  [{ query: { a: [[1]] } }, 'query', 'must give text, a number or a list of these for "a"'],
  [{ method: 'POST', body: 'x'.repeat(16 * 1024 * 1024 + 1) }, 'body', 'is too large to be sent'],
  [{ method: 'POST', body: sharedList }, 'body', 'is too large to be sent'],
  [{ timeout: 0 }, 'timeout', 'must be a number from 0.1 to 600'],
  [{ max_size: 1e9 }, 'max_size', 'must be a whole number from 0 to 104,857,600'],
])('%# is refused, and nothing arrives', async (inputs, pin, message) => {
  await expect(ask('/', inputs)).rejects.toMatchObject({ pin, message: expect.stringContaining(message) })
  expect(seen).toEqual([])
})

test('a redirect is checked like the first address', async () => {
  const url = here.replace('127.0.0.1', 'localhost')
  const only = { allowedHosts: [new URL(url).host] }
  await expect(
    ask(redirect(`${elsewhere}/`), { url: url + redirect(`${elsewhere}/`) }, only),
  ).rejects.toMatchObject(closed)
  await expect(ask('', { url: url + redirect('file:///etc/passwd') }, only)).rejects.toThrow('http or https')
  await expect(ask('', { url: url + redirect('http://a:b@localhost/') }, only)).rejects.toThrow('password')
  expect(seen.map(({ url: path }) => path?.split('?')[0])).toEqual(['/redirect', '/redirect', '/redirect'])
})

test.each([
  ['/silent', { timeout: 0.1 }, 'UNAVAILABLE', 'did not reply within 0.1 seconds'],
  ['/stalled', { timeout: 0.1 }, 'UNAVAILABLE', 'did not reply within 0.1 seconds'],
  ['/hang-up', {}, 'UNAVAILABLE', 'could not be reached (UND_ERR_SOCKET)'],
  ['/endless', { max_size: 100_000 }, 'INTERNAL', 'larger than 100000 bytes'],
  ['/text', { max_size: 1 }, 'INTERNAL', 'larger than 1 bytes'],
  ['/loop', {}, 'INTERNAL', 'redirected more than 5 times'],
  ['/packed', {}, 'INTERNAL', 'a compressed reply'],
])('%s with %j fails with %s', async (path, inputs, code, message) => {
  await expect(ask(path, inputs)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
})

test('five redirects are followed, a sixth is not', async () => {
  await expect(ask('/loop')).rejects.toThrow('more than 5 times')
  expect(seen).toHaveLength(6)
})

test('a server that is not there is UNAVAILABLE', async () => {
  const gone = await serve()
  await servers.pop()?.close()
  const failing = ask('', { url: gone })
  await expect(failing).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED'),
  })
})

test('an aborted run ends the request with the run’s own reason', async () => {
  const reason = new Error('shutting down')
  await expect(ask('/', {}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  expect(seen).toEqual([])
  const abort = new AbortController()
  const waiting = ask('/silent', {}, { signal: abort.signal })
  await expect.poll(() => seen.length).toBe(1)
  abort.abort(reason)
  await expect(waiting).rejects.toBe(reason)
})

test('a plain request is a GET without a body', async () => {
  const { outputs, next } = await ask('/a?b=c#d')
  expect(next).toBe('flow')
  expect(outputs).toMatchObject({ code: 200, ok: true, headers: { 'content-type': 'application/json' } })
  expect(seen).toEqual([
    {
      method: 'GET',
      url: '/a?b=c',
      body: '',
      headers: {
        host: new URL(here).host,
        connection: 'keep-alive',
        accept: '*/*',
        'user-agent': 'quoin',
        'accept-encoding': 'identity',
      },
    },
  ])
})

test.each([
  [{ body: { a: [1] } }, '{"a":[1]}', 'application/json'],
  [{ body: [1, null] }, '[1,null]', 'application/json'],
  [{ body: new StoredJson('{"a": 1}') }, '{"a": 1}', 'application/json'],
  [{ body: 'grüße' }, 'grüße', 'text/plain; charset=utf-8'],
  [{ body: 5 }, '5', 'text/plain; charset=utf-8'],
  [{ body: '<a/>', headers: { 'Content-Type': 'application/xml' } }, '<a/>', 'application/xml'],
  [{ body: null }, '', undefined],
  [{}, '', undefined],
])('%j sends %j as %s', async (inputs, body, type) => {
  await ask('/', { method: 'POST', ...inputs })
  expect(seen).toMatchObject([{ method: 'POST', body }])
  expect(seen[0]?.headers['content-type']).toBe(type)
})

test('the query is added to what the address has', async () => {
  await ask('/a?x=1', { query: { x: 2, tag: ['a b', 'c&d'], none: null, yes: true } })
  expect(seen[0]?.url).toBe('/a?x=1&x=2&tag=a+b&tag=c%26d&yes=true')
})

test.each([
  ['/missing', { code: 404, ok: false, body: { error: 'none' } }],
  ['/problem', { code: 422, ok: false, body: { a: 1 } }],
  ['/empty', { code: 204, ok: true, body: undefined }],
  ['/null', { code: 200, body: null }],
  ['/text', { code: 200, body: 'cé' }],
  ['/odd-charset', { code: 200, body: 'é' }],
  ['/broken', { code: 200, body: '{"a":' }],
  ['/proto', { code: 200, body: '{"__proto__":{"a":1}}' }],
  ['/cookies', { headers: { 'set-cookie': ['a=1', 'b=2'] } }],
  ['/no-location', { code: 302, ok: false, body: 'here' }],
])('%s gives %j', async (path, outputs) => {
  expect((await ask(path)).outputs).toMatchObject(outputs)
})

test('with must_succeed any status outside of 200 to 299 is an error, and the others are none', async () => {
  const fields = { must_succeed: true }
  for (const [path, code] of [
    ['/missing', 404],
    ['/problem', 422],
    ['/no-location', 302],
  ] as const)
    await expect(ask(path, {}, { fields })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `the other server replied with status ${code}`,
      gave: { code, headers: { connection: 'keep-alive' } },
    })
  expect((await ask('/empty', {}, { fields })).outputs).toMatchObject({ code: 204, ok: true })
})

test('a header cannot become the prototype of the headers', async () => {
  const { headers } = (await ask('/proto-header')).outputs
  expect(headers).toMatchObject({ 'x-a': 'b' })
  expect(Object.getPrototypeOf(headers)).toBe(Object.prototype)
})

test('a body of exactly max_size is read', async () => {
  expect((await ask('/text', { max_size: 2 })).outputs.body).toBe('cé')
})

test.each([
  [301, 'POST', 'GET', ''],
  [302, 'POST', 'GET', ''],
  [303, 'PUT', 'GET', ''],
  [307, 'POST', 'POST', 'body'],
  [308, 'POST', 'POST', 'body'],
  [302, 'PUT', 'PUT', 'body'],
  [302, 'DELETE', 'DELETE', 'body'],
])('a %i after %s goes on with %s', async (code, method, then, body) => {
  const { outputs } = await ask(redirect('/target', code), { method, body: 'body' })
  expect(outputs.code).toBe(200)
  expect(seen.map((one) => one.method)).toEqual([method, then])
  expect(seen[1]).toMatchObject({ url: '/target', body })
  expect(seen[1]?.headers['content-type']).toBe(body === '' ? undefined : 'text/plain; charset=utf-8')
})

test('secrets stay with the origin they were meant for', async () => {
  const headers = { authorization: 'Bearer secret', cookie: 'a=1', 'x-api-key': 'secret', accept: 'text/csv' }
  await ask(redirect('/same'), { headers })
  expect(seen[1]?.headers).toMatchObject(headers)
  seen = []
  await ask(redirect(`${elsewhere}/other`), { headers })
  expect(seen[1]?.url).toBe('/other')
  expect(seen[1]?.headers).toMatchObject({ accept: 'text/csv' })
  for (const name of ['authorization', 'cookie', 'x-api-key'])
    expect(seen[1]?.headers).not.toHaveProperty(name)
})

test('HEAD has no body', async () => {
  const { outputs } = await ask('/text', { method: 'HEAD' })
  expect(outputs).toMatchObject({ code: 200, body: undefined })
})
