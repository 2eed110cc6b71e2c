/** What browsers, REST libraries and proxies send, byte by byte over real connections: it works, or is refused with what would work. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'

const ORIGIN = 'https://app.example.org'
let quoin: TestQuoin
let port: number

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_CORS_ORIGINS: ORIGIN })
  await quoin.install('goods', {
    goods: {
      type: 'on_startup_register_resource',
      in: { uri: 'goods', storage: 'goods' },
      fields: { filters: [{ name: 'status', type: 'text' }], write_scopes: ['*public'] },
      scopes: ['*public'],
    },
  })
  await quoin.install('said', {
    say: {
      type: 'on_startup_register_uri_get',
      in: { uri: 'said/{word}' },
      fields: { schema: [{ name: 'q', type: 'text' }] },
      scopes: ['*public'],
    },
    reply: {
      type: 'httpconnection_set_json',
      in: {
        flow: '@say.flow',
        value: '={ word: params.word, q: params.q }',
        headers: '={ "x-own": "1" }',
      },
    },
  })
  port = Number(new URL(await quoin.quoin.server.listen()).port)
  for (const status of ['open', 'done', 'late', 'a+b'])
    await ask('POST', '/goods', { 'content-type': 'application/json' }, JSON.stringify({ status }))
})
afterAll(() => quoin.close())

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Bytes of a request; its end is that of the connection. */
function raw(bytes: string, then?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.on('data', (more) => {
      if (then !== undefined && text === '') socket.write(then)
      text += String(more)
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

function head(method: string, path: string, headers: Readonly<Record<string, string>>, body = ''): string {
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const all = { host: 'localhost', connection: 'close', ...length, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`
}

async function ask(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body = '') {
  const at = path.startsWith('/') ? `/api/v1${path}` : path.slice(1)
  return read(await raw(`${head(method, at, headers, body)}${body}`))
}

function read(reply: string): Got {
  const [top = '', ...rest] = reply.split('\r\n\r\n')
  const [first = '', ...lines] = top.split('\r\n')
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)))
  return { status: Number(first.split(' ')[1]), headers, text: rest.join('\r\n\r\n') }
}

const statuses = ({ text }: Got) =>
  [...text.matchAll(/"status":"([^"]*)"/g)].map(([, status]) => status).sort()

describe('parameters of the query', () => {
  test.each([
    ['?status=open&status=done', ['done', 'open']],
    ['?status[]=open&status[]=done', ['done', 'open']],
    ['?status%5B%5D=open&status%5B%5D=done', ['done', 'open']],
    ['?status[0]=open&status[1]=done', ['done', 'open']],
    ['?status=a%2Bb', ['a+b']],
    ['?status=a+b', []],
    ['?status=', ['a+b', 'done', 'late', 'open']],
    ['?status=%', []],
  ])('%s', async (query, requested) => {
    const got = await ask('GET', `/goods${query}`)
    expect([got.status, statuses(got)]).toEqual([200, requested])
  })

  test.each([
    ['?status[in]=open', 'status=…, again for each further value'],
    ['?limit=1&limit=2', 'limit must be'],
    ['?limit[]=1&limit[]=2', 'limit must be'],
    ['?limit=1%zz', 'limit must be'],
    ['?status=%ff', 'The query contains %ff, which is not UTF-8'],
    ['?status=caf%E9', 'The query contains %E9, which is not UTF-8'],
    ['?%c3%28=1', 'The query contains %c3, which is not UTF-8'],
    ['?status=%ed%a0%80', 'not UTF-8'],
  ])('%s is refused', async (query, message) => {
    const got = await ask('GET', `/goods${query}`)
    expect([got.status, got.text]).toEqual([400, expect.stringContaining(message)])
  })

  test.each(['/said/a?q=%ff', '/nothing?q=%ff', '/users/me?q=%ff', '=/login?q=%ff'])(
    'what is no UTF-8 in the query of %s is 400, whatever is there',
    async (path) => {
      expect(await ask('GET', path)).toMatchObject({
        status: 400,
        text: expect.stringContaining('not UTF-8'),
      })
    },
  )

  test.each([
    ['/said/a+b?q=a+b', { word: 'a+b', q: 'a b' }],
    ['/said/a%20b?q=a%20b', { word: 'a b', q: 'a b' }],
    ['/said/%E6%9D%B1?q=%E6%9D%B1', { word: '東', q: '東' }],
    ['/said/a%2Fb?q=%2B', { word: 'a/b', q: '+' }],
  ])('%s is read as browsers mean it', async (path, requested) => {
    expect(JSON.parse((await ask('GET', path)).text)).toEqual(requested)
  })
})

describe('paths and methods', () => {
  test.each([
    ['HEAD', '/goods', 200, ''],
    ['GET', '/goods/', 200, '"status"'],
    ['GET', '/said/%', 400, 'followed by a valid UTF-8 sequence'],
    ['GET', '//api//v1/goods', 404, 'not found'],
    ['GET', '//API/V1/GOODS', 404, 'not found'],
    ['PATCH', '/goods', 404, 'not found'],
    ['TRACE', '/goods', 404, 'openapi.json'],
    ['OPTIONS', '/goods', 204, ''],
  ])('%s %s is %i', async (method, path, status, text) => {
    const got = await ask(method, path)
    expect([got.status, got.text]).toEqual([status, text === '' ? '' : expect.stringContaining(text)])
  })

  test('HEAD has the headers of GET', async () => {
    const [one, other] = [await ask('HEAD', '/goods'), await ask('GET', '/goods')]
    for (const name of ['content-type', 'content-length', 'vary'])
      expect(one.headers[name], name).toBe(other.headers[name])
  })
})

describe('bodies', () => {
  test.each([
    ['application/json; charset=utf-8', '{"status":"x"}', 201],
    ['Application/JSON;charset="UTF-8"', '{"status":"x"}', 201],
    ['application/vnd.api+json', '{"status":"x"}', 201],
    ['application/x-www-form-urlencoded', 'status=x+%C3%A9', 201],
    ['text/plain', '{"status":"x"}', 415],
    ['application/json', '{"status":', 400],
  ])('%s %s is %i', async (type, body, status) => {
    expect((await ask('POST', '/goods', { 'content-type': type }, body)).status).toBe(status)
  })

  test('a client that waits for 100 Continue is told to go on', async () => {
    const body = '{"status":"waited"}'
    const headers = {
      'content-type': 'application/json',
      'content-length': String(body.length),
      expect: '100-continue',
    }
    const reply = await raw(head('POST', '/api/v1/goods', headers), body)
    expect(reply).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /)
  })

  test('another expectation is 417', async () => {
    expect((await ask('POST', '/goods', { expect: '200-ok' }, '{}')).status).toBe(417)
  })
})

describe('a page of an allowed origin', () => {
  const asked = ['authorization', 'if-match', 'x-requested-with', 'x-own-of-a-builder']
  const preflight = (path: string, method: string, origin = ORIGIN) =>
    ask('OPTIONS', path, {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': asked.join(','),
    })

  test.each([
    ['/goods', 'PUT'],
    ['/goods/x', 'DELETE'],
    ['/auth/signin', 'POST'],
    ['/blueprints', 'PATCH'],
    ['/nothing', 'GET'],
  ])('may send to %s what its library sends', async (path, method) => {
    const { status, headers } = await preflight(path, method)
    expect([status, headers['access-control-allow-origin']]).toEqual([204, ORIGIN])
    expect(headers['access-control-allow-methods']?.split(', ')).toContain(method)
    expect(headers['access-control-allow-headers']?.split(/, ?/)).toEqual(asked)
    expect(headers['access-control-allow-credentials']).toBeUndefined()
  })

  test.each([
    ['GET', '/said/a', 200],
    ['GET', '/nothing', 404],
    ['GET', '/said/%', 400],
    ['GET', '/goods?limit=x', 400],
    ['GET', '/users/me', 401],
    ['POST', '/goods', 415],
  ])('reads the reply of %s %s, which is %i, with its headers', async (method, path, status) => {
    const got = await ask(method, path, { origin: ORIGIN }, method === 'POST' ? 'x' : '')
    expect(got.status).toBe(status)
    expect(got.headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      ...(status !== 400 && { 'access-control-expose-headers': '*' }),
      vary: expect.stringMatching(/\borigin\b/i),
    })
  })

  test('another origin is told nothing', async () => {
    const refused = await preflight('/goods', 'PUT', 'https://evil.example.org')
    expect(refused.headers['access-control-allow-origin']).not.toBe('https://evil.example.org')
  })
})
