/** Connections, bodies and retries of `http_request`, against real servers on this machine. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import type { JsonObject } from '../../shared/json.ts'
import { HttpConnection, type SignIn } from '../http-connection.ts'
import { Secret } from '../secret.ts'
import block from './http_request.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let seen: Seen[] = []
let tokensSeen: Seen[] = []
let server: LocalServer
let other: LocalServer
let tokens: LocalServer
/** What the first server replies to the next requests; then 200 with what arrived. */
let planned: ((response: ServerResponse) => void)[] = []
/** How the server of tokens replies. */
let tokenReply: (response: ServerResponse, number: number) => void
const allowedHosts = ['127.0.0.1']

const note = async (request: IncomingMessage): Promise<Seen> => ({
  method: request.method,
  url: request.url ?? '',
  headers: request.headers,
  body: await text(request),
})
const json = (response: ServerResponse, code: number, value: unknown, headers = {}) =>
  void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))

beforeAll(async () => {
  const echo = async (request: IncomingMessage, response: ServerResponse) => {
    const one = await note(request)
    seen.push(one)
    const plan = planned.shift()
    if (plan) plan(response)
    else json(response, 200, one)
  }
  server = await startLocalServer((request, response) => void echo(request, response))
  other = await startLocalServer((request, response) => void echo(request, response))
  tokens = await startLocalServer(async (request, response) => {
    tokensSeen.push(await note(request))
    tokenReply(response, tokensSeen.length)
  })
})
beforeEach(() => {
  seen = []
  tokensSeen = []
  planned = []
  tokenReply = (response, number) =>
    json(response, 200, { access_token: `token-${number}`, token_type: 'Bearer', expires_in: 3600 })
})
afterAll(() => Promise.all([server.close(), other.close(), tokens.close()]))

const secretOf = (value: string) => new Secret('SIGN_IN', () => value)
function connectionWith(signIn: SignIn, path = '/v1/', headers = {}, identity = {}): HttpConnection {
  return new HttpConnection('SHOP', () => ({
    baseUrl: new URL(server.url + path),
    headers,
    signIn,
    identity,
  }))
}
function ask(connection: HttpConnection, inputs: Record<string, unknown> = {}, more: Circumstances = {}) {
  return runBlock(block, {
    allowedHosts,
    wired: [],
    ...more,
    inputs: { connection, url: 'orders', ...inputs },
  })
}
const none = { kind: 'none' } as const
const oauth2 = (changes: Partial<Extract<SignIn, { kind: 'oauth2' }>> = {}): SignIn => ({
  ...{ kind: 'oauth2', tokenUrl: `${tokens.url}/token`, clientId: 'quoin:1', scope: 'orders' },
  ...{ secret: secretOf('s3cr%t'), ...changes },
})

describe('addresses of a connection', () => {
  test.each([
    ['orders', '/v1/orders'],
    ['/orders/1?open=1', '/v1/orders/1?open=1'],
    ['', '/v1/'],
    ['a/../orders', '/v1/orders'],
    ['a\\..\\orders', '/v1/orders'],
  ])('%j leads to %s', async (url, path) => {
    if (url !== '') await ask(connectionWith(none), { url })
    else await ask(connectionWith(none), { url: '/' })
    expect(seen.map((one) => one.url)).toEqual([path])
  })

  test.each([
    'https://evil.example/',
    'HTTP:orders',
    '//evil.example/orders',
    '\\\\evil.example\\orders',
    '../v2/orders',
    'a/../../v2',
    '%2e%2e/v2',
    '/../v2',
    'javascript:1',
  ])('%j is refused, and nothing is sent', async (url) => {
    await expect(
      ask(connectionWith({ kind: 'bearer', secret: secretOf('x') }), { url }),
    ).rejects.toMatchObject({
      pin: 'url',
    })
    expect(seen).toEqual([])
  })

  test('private addresses stay closed, those of tokens too', async () => {
    const closed = { pin: 'url', message: expect.stringContaining('private address') }
    await expect(ask(connectionWith(none), {}, { allowedHosts: [] })).rejects.toMatchObject(closed)
    await expect(
      ask(connectionWith(oauth2()), {}, { allowedHosts: [`127.0.0.1:${server.port}`] }),
    ).rejects.toMatchObject(closed)
    expect([seen, tokensSeen]).toEqual([[], []])
  })
})

describe('signing in', () => {
  test.each<[string, SignIn, Record<string, string>]>([
    ['bearer', { kind: 'bearer', secret: secretOf('t0ken\n') }, { authorization: 'Bearer t0ken' }],
    [
      'basic',
      { kind: 'basic', username: 'ann', secret: secretOf('pä:ss') },
      { authorization: `Basic ${Buffer.from('ann:pä:ss').toString('base64')}` },
    ],
    ['a header', { kind: 'header', header: 'X-Api-Key', secret: secretOf('k3y') }, { 'x-api-key': 'k3y' }],
  ])('by %s; a header of the block does not replace it', async (_what, signIn, headers) => {
    const own = { authorization: 'mine', 'x-api-key': 'mine', 'x-shop': '2' }
    await ask(connectionWith(signIn, '/v1/', { 'X-Shop': '1', 'x-kept': 'yes' }), { headers: own })
    expect(seen[0]?.headers).toMatchObject({ ...headers, 'x-shop': '2', 'x-kept': 'yes' })
  })

  test('what signs in does not go along to another server', async () => {
    for (const signIn of [
      { kind: 'bearer', secret: secretOf('t0ken') },
      { kind: 'header', header: 'x-api-key', secret: secretOf('t0ken') },
    ] as const) {
      planned = [(response) => void response.writeHead(307, { location: `${other.url}/there` }).end()]
      await ask(connectionWith(signIn))
    }
    expect(seen.map(({ url }) => url)).toEqual(['/v1/orders', '/there', '/v1/orders', '/there'])
    for (const one of [seen[1], seen[3]]) expect(JSON.stringify(one)).not.toContain('t0ken')
  })

  test('a secret that no header can hold is refused without being shown', async () => {
    const failed = await ask(connectionWith({ kind: 'bearer', secret: secretOf('two\nlines') })).catch(String)
    expect(failed).toContain('a secret that no header can hold')
    expect([failed, seen]).toEqual([expect.not.stringContaining('lines\n'), []])
  })
})

describe('access tokens', () => {
  test('one is fetched for 20 runs at once and kept; as RFC 6749 says', async () => {
    const connection = connectionWith(oauth2())
    await Promise.all(Array.from({ length: 20 }, () => ask(connection)))
    await ask(connection)
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(Array(21).fill('Bearer token-1'))
    expect(tokensSeen).toHaveLength(1)
    expect(tokensSeen[0]).toMatchObject({
      method: 'POST',
      body: 'grant_type=client_credentials&scope=orders',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from('quoin%3A1:s3cr%25t').toString('base64')}`,
      },
    })
  })

  test('it is fetched again 30 s before it expires', async () => {
    let now = 0
    const connection = connectionWith(oauth2())
    const used = async (at: number) => {
      now = at
      await ask(connection, {}, { now: () => now })
      return seen.at(-1)?.headers.authorization
    }
    expect([await used(0), await used(3_569_000), await used(3_571_000), await used(3_572_000)]).toEqual([
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-2',
      'Bearer token-2',
    ])
  })

  test('after 401 it is fetched once more and the request sent once more', async () => {
    const connection = connectionWith(oauth2())
    const refuse = (response: ServerResponse) => json(response, 401, {})
    await ask(connection)
    planned = [refuse]
    await ask(connection)
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(
      [1, 1, 2].map((number) => `Bearer token-${number}`),
    )
    planned = [refuse, refuse]
    await expect(ask(connection)).rejects.toMatchObject({ code: 'UNAVAILABLE', message: /401/ })
    expect([seen.length, tokensSeen.length]).toEqual([5, 3])
  })

  test('a changed secret needs a new one', async () => {
    const identity = {}
    for (const value of ['first', 'first', 'second'])
      await ask(connectionWith(oauth2({ secret: secretOf(value) }), '/v1/', {}, identity))
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(
      [1, 1, 2].map((number) => `Bearer token-${number}`),
    )
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['401', (response) => json(response, 401, { error: 'invalid_client' })],
    ['no JSON', (response) => void response.writeHead(200).end('token')],
    ['no token', (response) => json(response, 200, { token: 'x' })],
    ['a token that no header can hold', (response) => json(response, 200, { access_token: 'a\r\nb: c' })],
    ['a redirect', (response) => void response.writeHead(307, { location: `${other.url}/token` }).end()],
    [
      'a longer reply than 64 KB',
      (response) => json(response, 200, { access_token: 'x', more: 'x'.repeat(70_000) }),
    ],
  ])('%s is a failure; the next run tries again', async (_what, reply) => {
    const connection = connectionWith(oauth2())
    const usual = tokenReply
    tokenReply = reply
    await expect(ask(connection)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(seen).toEqual([])
    tokenReply = usual
    await ask(connection)
    expect(seen).toHaveLength(1)
  })

  test('a run that ends does not end the fetch for the others', async () => {
    const connection = connectionWith(oauth2())
    const ends = new AbortController()
    let release = () => {}
    tokenReply = (response) => {
      release = () => json(response, 200, { access_token: 'late' })
    }
    const ended = ask(connection, {}, { signal: ends.signal })
    const waits = ask(connection)
    await expect.poll(() => tokensSeen.length).toBe(1)
    ends.abort(new Error('over'))
    await expect(ended).rejects.toThrow('over')
    release()
    await waits
    expect([tokensSeen.length, seen[0]?.headers.authorization]).toEqual([1, 'Bearer late'])
  })
})

describe('what the other server sends back of a secret is masked', () => {
  const secret = 'sk_live_Vk42'
  test.each<[string, () => SignIn, string]>([
    ['bearer', () => ({ kind: 'bearer', secret: secretOf(secret) }), secret],
    ['basic', () => ({ kind: 'basic', username: 'quoin', secret: secretOf(secret) }), secret],
    ['header', () => ({ kind: 'header', header: 'x-key', secret: secretOf(secret) }), secret],
    ['oauth2', () => oauth2({ secret: secretOf(secret) }), 'token-1'],
  ])('%s: in the body, in headers and behind a redirect', async (_kind, signIn, sent) => {
    const echo = (response: ServerResponse) => {
      const arrived = JSON.stringify(seen.at(-1)?.headers)
      const basic = Buffer.from(`quoin:${sent}`).toString('base64')
      json(response, 200, { arrived, basic, [sent]: 1 }, { 'x-sent': `${sent} ${basic}` })
    }
    planned = [
      echo,
      (response) => void response.writeHead(302, { location: `/v1/${sent}?key=${sent}` }).end(),
      echo,
    ]
    const connection = connectionWith(signIn())
    for (const _time of ['direct', 'redirected']) {
      const { outputs } = await ask(connection)
      expect(outputs.code).toBe(200)
      const shown = JSON.stringify(outputs)
      expect(shown).toContain('***')
      for (const text of [sent, Buffer.from(`quoin:${sent}`).toString('base64')])
        expect(shown).not.toContain(text)
    }
  })

  test('of a status that fails the way is taken with a masked reply', async () => {
    planned = [(response) => json(response, 422, { why: `${secret} is wrong` })]
    const signIn: SignIn = { kind: 'bearer', secret: secretOf(secret) }
    const { next, outputs } = await ask(connectionWith(signIn), {}, { wired: ['failed'] })
    expect([next, outputs.body]).toEqual(['failed', { why: '*** is wrong' }])
  })
})

describe('a status outside of 200 to 299', () => {
  const refuse = (response: ServerResponse) => json(response, 422, { why: 'sold out' })
  test('fails a block with a connection, unless failed is wired', async () => {
    planned = [refuse, refuse]
    await expect(ask(connectionWith(none))).rejects.toMatchObject({ code: 'UNAVAILABLE', message: /422/ })
    const { next, outputs } = await ask(connectionWith(none), {}, { wired: ['failed'] })
    expect([next, outputs]).toMatchObject(['failed', { code: 422, ok: false, body: { why: 'sold out' } }])
  })

  test('goes on at flow without a connection, as before, and at failed where that is wired', async () => {
    const plain = { allowedHosts, inputs: { url: `${server.url}/x` } }
    planned = [refuse, refuse]
    expect((await runBlock(block, { ...plain, wired: ['ok'] })).next).toBe('flow')
    expect((await runBlock(block, { ...plain, wired: ['failed'] })).next).toBe('failed')
  })
})

describe('bodies', () => {
  const send = async (body: unknown, body_as: string) => {
    await ask(connectionWith(none), { method: 'POST', body }, { fields: { body_as } })
    return seen[0]
  }
  test.each<[string, unknown, string, string]>([
    ['json', 'a', 'application/json', '"a"'],
    ['json', [1], 'application/json', '[1]'],
    ['text', 12, 'text/plain; charset=utf-8', '12'],
    [
      'form',
      { a: 'ä&b', n: 1, list: ['x', 'y'], none: null },
      'application/x-www-form-urlencoded',
      'a=%C3%A4%26b&n=1&list=x&list=y',
    ],
    ['base64', Buffer.from([0, 1, 65]).toString('base64'), 'application/octet-stream', '\u0000\u0001A'],
  ])('%s of %j', async (kind, body, type, sent) => {
    expect(await send(body, kind)).toMatchObject({ body: sent, headers: { 'content-type': type } })
  })

  test('parts arrive as a parser of forms reads them', async () => {
    const got = await send(
      {
        title: 'Zoë "1"\r\nx: y',
        'na"me\r\n': 'v',
        file: [
          { file_name: 'a"\r\nb.txt', type: 'text/csv', text: 'a,b' },
          { file_name: 'c.bin', base64: 'AAEC' },
        ],
      },
      'multipart',
    )
    const parsed = await new Response(got?.body, {
      headers: { 'content-type': String(got?.headers['content-type']) },
    }).formData()
    expect([parsed.get('title'), [...parsed.keys()].length]).toEqual(['Zoë "1"\r\nx: y', 4])
    const [file, bytes] = parsed.getAll('file')
    if (!(file instanceof File) || !(bytes instanceof File)) throw new Error('no files')
    expect([file.type, await file.text(), bytes.name, bytes.type]).toEqual([
      'text/csv',
      'a,b',
      'c.bin',
      'application/octet-stream',
    ])
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 1, 2])
  })

  test.each<[string, unknown]>([
    ['text', { a: 1 }],
    ['form', 'text'],
    ['form', { a: { b: 1 } }],
    ['base64', 'no base64!'],
    ['base64', 12],
    ['multipart', [1]],
    ['multipart', { a: { text: 'x' } }],
    ['multipart', { a: { file_name: 'x', text: 'x', base64: '' } }],
  ])('%s of %j is refused, and nothing is sent', async (kind, body) => {
    await expect(send(body, kind)).rejects.toMatchObject({ pin: 'body' })
    expect(seen).toEqual([])
  })
})

describe('attempts', () => {
  const reply =
    (code: number, headers = {}) =>
    (response: ServerResponse) =>
      json(response, code, {}, headers)
  const dateIn = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString()
  const hangUp = (response: ServerResponse) => void response.destroy()
  const attempts = async (plans: typeof planned, inputs = {}, retries = 2) => {
    planned = plans
    const got = await ask(connectionWith(none), inputs, { fields: { retries }, now: Date.now }).then(
      ({ outputs }) => outputs.code,
      (error: Error) => /status (\d+)/.exec(error.message)?.[1] ?? 'no reply',
    )
    return [got, seen.length]
  }
  const post = { method: 'POST', body: 'x' }
  const keyed = { ...post, headers: { 'idempotency-key': '1' } }

  test.each<[string, typeof planned, object, readonly unknown[]]>([
    ['GET after 503', [reply(503)], {}, [200, 2]],
    ['GET after 429 and 504', [reply(429), reply(504)], {}, [200, 3]],
    ['GET after a lost connection', [hangUp], {}, [200, 2]],
    ['GET, three times in vain', [reply(503), reply(503), reply(503)], {}, ['503', 3]],
    ['GET after 500', [reply(500)], {}, ['500', 1]],
    ['GET after 404', [reply(404)], {}, ['404', 1]],
    ['PUT after 502', [reply(502)], { ...post, method: 'PUT' }, [200, 2]],
    ['POST after 429', [reply(429)], post, [200, 2]],
    ['POST after 502', [reply(502)], post, ['502', 1]],
    ['PATCH after 504', [reply(504)], { ...post, method: 'PATCH' }, ['504', 1]],
    ['PATCH after a lost connection', [hangUp], { ...post, method: 'PATCH' }, ['no reply', 1]],
    ['POST after a lost connection', [hangUp], post, ['no reply', 1]],
    ['POST with a key after a lost connection', [hangUp], keyed, [200, 2]],
    ['as retry-after says', [reply(503, { 'retry-after': '0' })], {}, [200, 2]],
    ['at the date of retry-after', [reply(503, { 'retry-after': dateIn(-1) })], {}, [200, 2]],
    ['a retry-after of tomorrow', [reply(503, { 'retry-after': dateIn(86_400) })], {}, ['503', 1]],
    ['retry-after beyond the timeout', [reply(503, { 'retry-after': '20' })], { timeout: 5 }, ['503', 1]],
    ['retry-after of an hour', [reply(503, { 'retry-after': '3600' })], {}, ['503', 1]],
  ])('%s', async (_what, plans, inputs, expected) => {
    expect(await attempts(plans, inputs)).toEqual(expected)
  })

  test.each<[string, typeof planned, Record<string, unknown>, JsonObject, readonly unknown[]]>([
    ['by the pin', [reply(503), reply(503)], { attempts: 3, back_off: '1ms' }, {}, [200, 3]],
    [
      'the pin goes before retries',
      [reply(503), reply(503)],
      { attempts: 2, back_off: '1ms' },
      { retries: 5 },
      ['503', 2],
    ],
    ['a pin of one attempt', [reply(503)], { attempts: 1 }, { retries: 5 }, ['503', 1]],
    [
      'POST after 502, repeated always',
      [reply(502)],
      { ...post, attempts: 2 },
      { repeat: 'always' },
      [200, 2],
    ],
    ['POST lost, repeated always', [hangUp], { ...post, attempts: 2 }, { repeat: 'always' }, [200, 2]],
    [
      'POST lost, repeated where it is safe',
      [hangUp],
      { ...post, attempts: 2 },
      { repeat: 'safe' },
      ['no reply', 1],
    ],
    [
      'POST after 500, repeated always',
      [reply(500)],
      { ...post, attempts: 2 },
      { repeat: 'always' },
      ['500', 1],
    ],
  ])('%s', async (_what, plans, inputs, fields, expected) => {
    planned = plans
    const got = await ask(connectionWith(none), inputs, { fields, now: Date.now }).then(
      ({ outputs }) => outputs.code,
      (error: Error) => /status (\d+)/.exec(error.message)?.[1] ?? 'no reply',
    )
    expect([got, seen.length]).toEqual(expected)
  })

  test('none begins after the deadline of the run', async () => {
    planned = [reply(503, { 'retry-after': '3' })]
    const circumstances = { deadline: Date.now() + 2_000, now: Date.now }
    await expect(ask(connectionWith(none), { attempts: 5 }, circumstances)).rejects.toThrow('status 503')
    expect(seen).toHaveLength(1)
  })

  test('the timeout is that of all attempts, not of each', async () => {
    let later = 0
    const now = () => Date.now() + later
    const late = (response: ServerResponse) => {
      later = 599_800
      reply(503, { 'retry-after': '0' })(response)
    }
    planned = [late, () => undefined]
    const asked = ask(
      connectionWith(none),
      { attempts: 2, timeout: 600 },
      { now, deadline: Date.now() + 9e6 },
    )
    await expect(asked).rejects.toThrow('did not reply within 0.')
    expect(seen).toHaveLength(2)
  })

  test('none is repeated where retries are not set', async () => {
    expect(await attempts([reply(503)], {}, 0)).toEqual(['503', 1])
  })

  test('a run that ends stops the pause', async () => {
    const ends = new AbortController()
    planned = [reply(503, { 'retry-after': '9' })]
    const fields = { retries: 5 }
    const asked = ask(connectionWith(none), {}, { fields, signal: ends.signal, now: Date.now })
    await expect.poll(() => seen.length).toBe(1)
    ends.abort(new Error('over'))
    await expect(asked).rejects.toThrow('over')
    expect(seen).toHaveLength(1)
  })
})
