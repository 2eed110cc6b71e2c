import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TemporaryServer } from '../../../test/temporary-server.ts'
import { openTemporaryServer } from '../../../test/temporary-server.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { RouteFamily } from './route-family.ts'

const body = Type.Object(
  {
    name: Type.String(),
    size: Type.Optional(Type.Integer({ minimum: 1 })),
    inner: Type.Optional(Type.Object({ a: Type.String() }, { additionalProperties: false })),
  },
  { additionalProperties: false },
)

let reached: string[] = []

const routes: RouteFamily = (app) => {
  const open = { permission: 'public' } as const
  const custom = { permission: 'public', style: 'custom' } as const
  app.addHook('preHandler', async (request) => void reached.push(request.url))
  app.get('/_system/a', { config: open }, () => ({ a: 1 }))
  // As custom endpoints have it: a HEAD of its own.
  app.route({ method: ['GET', 'HEAD'], url: '/_system/both', config: open, handler: () => ({ a: 1 }) })
  app.delete('/_system/a', { config: open }, () => ({ gone: true }))
  app.post('/_system/a', { config: open, schema: { body } }, (request) => request.body)
  app.post('/_system/any', { config: { ...open, bodyBytes: 'setting' } }, (request) => ({
    body: request.body ?? null,
  }))
  app.post('/_system/custom', { config: custom, schema: { body } }, () => ({}))
  app.get('/_system/p/:name', { config: open }, (request) => request.params)
  const query = Type.Object({ n: Type.Optional(Type.Integer()) }, { additionalProperties: false })
  app.get('/_system/q', { config: open, schema: { querystring: query } }, (request) => request.query)
  const response = { 200: Type.Object({ shown: Type.String() }) }
  app.get('/_system/s', { config: open, schema: { response } }, () => ({ shown: 'a', password_hash: 'b' }))
  app.post('/_system/guarded', { config: { permission: 'users_update' }, schema: { body } }, () => ({}))
  const fail = () => {
    throw new Error('the secret cause')
  }
  app.get('/_system/fail', { config: open }, fail)
  app.get('/_system/fail-custom', { config: custom }, fail)
  app.get('/_system/wait', { config: open }, () => {
    throw new QuoinError('UNAVAILABLE', 'Later.', { retryAfter: 7, cause: new Error('the secret cause') })
  })
}

let server: TemporaryServer
/** Where it listens, for what only the wire shows. */
let address: string

beforeAll(async () => {
  server = await openTemporaryServer({
    api: [routes],
    settings: { bodyLimit: 2000, corsOrigins: ['https://app.example'] },
  })
  address = await server.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => server.close())

const json = { 'content-type': 'application/json' }

async function send(method: 'GET' | 'POST' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'PUT', url: string, more = {}) {
  server.clock.now += 1000
  reached = []
  return server.app.inject({ method, url, ...more })
}

describe('what never reaches a handler', () => {
  it.each<[string, 'GET' | 'POST' | 'PUT', string, object, number, string]>([
    ['an unknown path', 'GET', '/nothing', {}, 404, 'NOT_FOUND'],
    ['an unknown path of the API', 'PUT', '/api/v1/_system/none', {}, 404, 'NOT_FOUND'],
    ['another method', 'PUT', '/api/v1/_system/a', {}, 404, 'NOT_FOUND'],
    ['a path that is no UTF-8', 'GET', '/api/v1/_system/p/%ff', {}, 400, 'INVALID_QUERY'],
    ['a broken escape', 'GET', '/api/v1/_system/p/%zz', {}, 400, 'INVALID_QUERY'],
    ['U+0000 in the path', 'GET', '/api/v1/_system/p/a%00b', {}, 400, 'INVALID_QUERY'],
    ['U+0000 in the query', 'GET', '/api/v1/_system/a?b=%00', {}, 400, 'INVALID_QUERY'],
    ['U+0000 at an unknown path', 'GET', '/nothing%00', {}, 400, 'INVALID_QUERY'],
    ['a parameter of 300 characters', 'GET', `/api/v1/_system/p/${'a'.repeat(300)}`, {}, 404, 'NOT_FOUND'],
    ['a query that is no number', 'GET', '/api/v1/_system/q?n=abc', {}, 400, 'INVALID_QUERY'],
    ['an unknown query parameter', 'GET', '/api/v1/_system/q?m=1', {}, 400, 'INVALID_QUERY'],
    ['no body', 'POST', '/api/v1/_system/a', {}, 400, 'NO_BODY_GIVEN'],
    ['an empty JSON body', 'POST', '/api/v1/_system/a', { headers: json, payload: '' }, 400, 'NO_BODY_GIVEN'],
    ['broken JSON', 'POST', '/api/v1/_system/any', { headers: json, payload: '{' }, 400, 'INVALID_BODY'],
    [
      'plain text',
      'POST',
      '/api/v1/_system/any',
      { headers: { 'content-type': 'text/plain' }, payload: 'a' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'a content type that is none',
      'POST',
      '/api/v1/_system/any',
      { headers: { 'content-type': '/' }, payload: 'a' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'a body too big',
      'POST',
      '/api/v1/_system/any',
      { payload: { a: 'a'.repeat(2000) } },
      413,
      'FILE_TOO_BIG',
    ],
    [
      'null for an object',
      'POST',
      '/api/v1/_system/a',
      { headers: json, payload: 'null' },
      400,
      'INVALID_BODY',
    ],
  ])('refuses %s', async (_name, method, url, more, status, error) => {
    const reply = await send(method, url, more)
    expect(reply.statusCode).toBe(status)
    expect(reply.json()).toEqual({
      error,
      code: status,
      message: expect.stringMatching(/\.$/),
      ...(reply.json().fields && { fields: expect.any(Array) }),
    })
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    expect(reached).toEqual([])
  })

  it('names every field that does not fit', async () => {
    const payload = { size: 0, inner: { b: 1 }, extra: true }
    const reply = await send('POST', '/api/v1/_system/a', { payload })
    expect(reply.json().fields.toSorted()).toEqual(['extra', 'inner.a', 'inner.b', 'name', 'size'])
    expect(reply.json().message).toMatch(/name is missing/)
  })

  it('takes bodies as they are: the text "5" is no number', async () => {
    const reply = await send('POST', '/api/v1/_system/a', { payload: { name: 'a', size: '5' } })
    expect(reply.json()).toMatchObject({ error: 'INVALID_BODY', fields: ['size'] })
  })

  it('answers a custom endpoint in its own style', async () => {
    const reply = await send('POST', '/api/v1/_system/custom', { payload: {} })
    expect([reply.statusCode, reply.json()]).toEqual([
      400,
      { error: 'name is missing.', fields: { name: 'is missing' } },
    ])
  })

  it('decides who enters before it reads the body', async () => {
    const broken = { headers: json, payload: '{' }
    expect((await send('POST', '/api/v1/_system/guarded', broken)).statusCode).toBe(401)
    await server.addUser('reader', ['users_view'])
    const headers = { ...json, ...(await server.as('reader')) }
    const reply = await send('POST', '/api/v1/_system/guarded', { headers, payload: '{' })
    expect(reply.statusCode).toBe(403)
    expect(reply.json()).toMatchObject({ error: 'INSUFFICIENT_PERMISSIONS' })
    expect(reply.json().message).toMatch(/users_update/)
    expect(reached).toEqual([])
  })
})

describe('a fault of ours', () => {
  it('gives an id and no cause, and is logged under that id', async () => {
    const reply = await send('GET', '/api/v1/_system/fail')
    expect(reply.statusCode).toBe(500)
    expect(reply.body).not.toContain('secret')
    expect(reply.json()).toMatchObject({ error: 'INTERNAL', code: 500, request: expect.any(String) })
    const line = server.log.find((one) => one.includes(reply.json().request) && one.includes('"level":50'))
    expect(line).toContain('the secret cause')
  })

  it('is short on a custom endpoint', async () => {
    const reply = await send('GET', '/api/v1/_system/fail-custom')
    expect(reply.json()).toEqual({ error: 'internal error', request: expect.any(String) })
  })

  it('says when to come back', async () => {
    const reply = await send('GET', '/api/v1/_system/wait')
    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '7'])
    expect(reply.body).not.toContain('secret')
  })
})

describe('what is answered', () => {
  it.each([
    [
      'a DELETE with a content type and no body',
      'DELETE',
      '/api/v1/_system/a',
      { headers: json },
      { gone: true },
    ],
    ['a GET with a content type and no body', 'GET', '/api/v1/_system/a', { headers: json }, { a: 1 }],
    ['a slash at the end', 'GET', '/api/v1/_system/a/', {}, { a: 1 }],
    ['a number in the query', 'GET', '/api/v1/_system/q?n=5', {}, { n: 5 }],
    ['an escaped slash', 'GET', '/api/v1/_system/p/a%2Fb', {}, { name: 'a/b' }],
    ['no body where none is needed', 'POST', '/api/v1/_system/any', {}, { body: null }],
    [
      'a form',
      'POST',
      '/api/v1/_system/any',
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload: 'a=1&a=2' },
      { body: { a: ['1', '2'] } },
    ],
    [
      'JSON with a charset',
      'POST',
      '/api/v1/_system/any',
      { headers: { 'content-type': 'application/json; charset=UTF-8' }, payload: '"é"' },
      { body: 'é' },
    ],
  ] as const)('takes %s', async (_name, method, url, more, reply) => {
    const response = await send(method, url, more)
    expect([response.statusCode, response.json()]).toEqual([200, reply])
  })

  it('sends nothing that the schema does not declare', async () => {
    expect((await send('GET', '/api/v1/_system/s')).json()).toEqual({ shown: 'a' })
  })

  it('answers HEAD as GET without the body', async () => {
    const [head, get] = [await send('HEAD', '/api/v1/_system/a'), await send('GET', '/api/v1/_system/a')]
    expect([head.statusCode, head.body]).toEqual([200, ''])
    expect(head.headers.etag).toBe(get.headers.etag)
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })
})

describe('an ETag', () => {
  it('saves sending what the client has', async () => {
    const { etag } = (await send('GET', '/api/v1/_system/a')).headers
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const reply = await send('GET', '/api/v1/_system/a', { headers: { 'if-none-match': known } })
      expect([reply.statusCode, reply.body, reply.headers.etag]).toEqual([304, '', etag])
    }
    const changed = await send('GET', '/api/v1/_system/a', { headers: { 'if-none-match': '"x"' } })
    expect([changed.statusCode, changed.body]).toEqual([200, '{"a":1}'])
  })

  it.each([
    ['GET', '/a'],
    ['HEAD', '/a'],
    ['GET', '/both'],
    ['HEAD', '/both'],
  ] as const)('as %s of %s: what is not sent has no length either', async (method, path) => {
    const url = `${address}/api/v1/_system${path}`
    const etag = String((await fetch(url)).headers.get('etag'))
    const reply = await fetch(url, { method, headers: { 'if-none-match': etag } })
    expect([reply.status, await reply.text()]).toEqual([304, ''])
    const sent = ['etag', 'content-length', 'transfer-encoding'].map((name) => reply.headers.get(name))
    expect(sent).toEqual([etag, null, null])
    const whole = await fetch(url, { method, headers: { 'if-none-match': '"x"' } })
    expect([whole.status, whole.headers.get('content-length')]).toEqual([200, '7'])
  })

  it('is not on errors and writes, and a write is never 304', async () => {
    const headers = { 'if-none-match': '*' }
    const written = await send('POST', '/api/v1/_system/any', { headers })
    expect([written.statusCode, written.headers.etag]).toEqual([200, undefined])
    const failed = await send('GET', '/api/v1/_system/fail', { headers })
    expect([failed.statusCode, failed.headers.etag]).toEqual([500, undefined])
  })
})

describe('another origin', () => {
  const preflight = (origin: string) =>
    send('OPTIONS', '/api/v1/_system/a', {
      headers: { origin, 'access-control-request-method': 'POST' },
    })

  it('is not told anything unless it is allowed', async () => {
    expect((await preflight('https://evil.example')).headers['access-control-allow-origin']).toBeUndefined()
    const allowed = await preflight('https://app.example')
    expect(allowed.statusCode).toBe(204)
    expect(allowed.headers['access-control-allow-origin']).toBe('https://app.example')
    expect(allowed.headers['access-control-allow-credentials']).toBeUndefined()
    const reply = await send('GET', '/api/v1/_system/a', { headers: { origin: 'https://app.example' } })
    expect(reply.headers['access-control-allow-origin']).toBe('https://app.example')
  })

  it('gets a plain 404 where no origin is allowed at all', async () => {
    const closed = await openTemporaryServer({ api: [routes] })
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const reply = await closed.app.inject({ method: 'OPTIONS', url: '/api/v1/_system/a', headers })
    expect([reply.statusCode, reply.headers['access-control-allow-origin']]).toEqual([404, undefined])
    await closed.close()
  })
})

describe('the start', () => {
  it('fails for a route that does not say who may enter', async () => {
    const careless: RouteFamily = (app) => void app.get('/_system/careless', () => ({}))
    await expect(openTemporaryServer({ api: [careless] })).rejects.toThrow(/_system\/careless.*permission/)
  })

  it('fails for a route of ours where blueprints may register', async () => {
    const stray: RouteFamily = (app) =>
      void app.get('/tasks/stray', { config: { permission: 'public' } }, () => ({}))
    await expect(openTemporaryServer({ api: [stray] })).rejects.toThrow(/tasks\/stray.*reserved-roots/)
  })
})

describe('the log', () => {
  it('has a line for each request and no secret in it', async () => {
    const secret = 'q1_secret_token'
    const headers = { cookie: `access_token=${secret}` }
    await send('GET', `/api/v1/_system/q?access_token=${secret}&password=${secret}`, { headers })
    await send('GET', `/%zz?access_token=${secret}`, { headers })
    await send('GET', `/nothing?access_token=${secret}`, { headers })
    await send('POST', '/api/v1/_system/guarded', { headers, payload: { password: secret } })
    const req = { method: 'GET', url: `/whole?access_token=${secret}`, ip: '127.0.0.1', headers }
    server.app.log.error({ req }, 'a request as a whole')
    server.app.log.error({ password: secret, body: { token: secret }, sent: { headers } }, 'a careless hand')
    const lines = server.log.join('\n')
    expect(lines).not.toContain(secret)
    const finished = server.log
      .map((line) => JSON.parse(line))
      .filter(({ msg, path }) => msg === 'request finished' && path === '/api/v1/_system/q')
    expect(finished.at(-1)).toMatchObject({
      ...{ method: 'GET', address: '127.0.0.1', status: expect.any(Number) },
      ...{ reqId: expect.any(String), milliseconds: expect.any(Number) },
    })
    expect(lines).toContain('"req":{"method":"GET","path":"/whole","address":"127.0.0.1"}')
    expect(lines).toContain('[secret]')
  })
})
