/** Access to custom endpoints: without access one cannot be distinguished from one that does not exist. */
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type Answer, objectOf, openTestQuoin, type Sent, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let sleeping: string
let annGuid: string
let address: Promise<string> | undefined

/** A trigger that counts its runs in a storage, so that it shows when one did not happen. */
function counting(uri: string, scopes: readonly string[]): JsonObject {
  return {
    runs: { type: 'storage', fields: { storage: 'runs' } },
    on: { type: 'on_startup_register_uri_get', in: { uri }, scopes },
    run: { type: 'mutations_set_custom_field', in: { field: 'uri', value: uri } },
    count: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@on.flow', storage: '@runs.storage', mutations: '@run.mutations' },
    },
    user: { type: 'httpconnection_current_request' },
    reply: { type: 'httpconnection_set_json', in: { flow: '@count.flow', value: '@user.user' } },
  }
}

beforeAll(async () => {
  quoin = await openTestQuoin()
  annGuid = await quoin.addUser('ann', ['stock'])
  await quoin.addUser('bob', ['sales', 'stock_view'])
  await quoin.addUser('root', ['*'])
  await quoin.install('no scope', counting('none', []))
  await quoin.install('public', counting('public', ['*public']))
  await quoin.install('loggedin', counting('loggedin', ['*loggedin']))
  await quoin.install('stock', counting('stock', ['stock']))
  await quoin.install('several', counting('several', ['stock', 'sales']))
  await quoin.install('mixed', counting('mixed', ['stock', '*public']))
  await quoin.install('write', {
    on: { type: 'on_startup_register_uri_post', in: { uri: 'write' }, scopes: ['stock'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'written' } },
  })
  sleeping = await quoin.install('sleeping', counting('sleeping', ['*public']))
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${sleeping}`)
})

afterAll(() => quoin.close())

/** All bytes that a request gets, but for the time and the request's id. */
async function rawReply(line: string, headers: string, body: string): Promise<string> {
  address ??= quoin.quoin.server.listen()
  const socket = connect(Number(new URL(await address).port), '127.0.0.1')
  socket.write(
    [line, 'host: quoin', 'connection: close', ...(headers ? [headers] : []), '', body].join('\r\n'),
  )
  const reply = await textOf(socket)
  return reply.replace(/^(x-request-id|date): .*$/gim, '$1: …')
}

const runs = async () => (await quoin.documents('runs')).length

describe('a table of who may enter', () => {
  const everybody = { nobody: 200, ann: 200, bob: 200, root: 200 }
  test.each([
    ['/sleeping', { nobody: 404, ann: 404, bob: 404, root: 404 }],
    ['/unknown', { nobody: 404, ann: 404, bob: 404, root: 404 }],
    ['/stock', { nobody: 404, ann: 200, bob: 404, root: 200 }],
    ['/several', { nobody: 404, ann: 200, bob: 200, root: 200 }],
    ['/loggedin', { ...everybody, nobody: 404 }],
    ['/mixed', everybody],
    ['/public', everybody],
    ['/none', everybody],
  ])('%s', async (path, expected) => {
    const found: Record<string, number> = {}
    const before = await runs()
    for (const who of Object.keys(expected)) {
      const answer = await quoin.send('GET', path, who === 'nobody' ? {} : { as: who })
      found[who] = answer.status
      if (answer.status === 200 && who !== 'nobody')
        expect(objectOf(answer.body).username, 'the flow sees the user').toBe(who)
      if (answer.status === 200 && who === 'nobody') expect(answer.body).toBeNull()
    }
    expect(found).toEqual(expected)
    const entered = Object.values(found).filter((status) => status === 200).length
    expect((await runs()) - before, 'a refused caller ran nothing').toBe(entered)
  })
})

describe('nothing can be probed', () => {
  const paths = ['/stock', '/loggedin', '/sleeping', '/unknown', '/unknown/deeper', '/public/deeper']

  /** All that a client can see, but the time. */
  const seen = ({ status, text, headers }: Answer) => ({
    status,
    text,
    headers: { ...headers, date: '', 'x-request-id': '' },
  })

  test.each<[string, Sent]>([
    ['nobody', {}],
    ['a caller with an invalid token', { headers: { authorization: 'Bearer nonsense' } }],
    ['a body that is too large', { headers: { 'content-type': 'text/plain', 'content-length': '99999999' } }],
    ['a body that is no JSON', { headers: { 'content-type': 'application/json' } }],
  ])('%s sees the same for missing scope, inactive and unknown', async (_name, sent) => {
    const [first, ...rest] = await Promise.all(paths.map((path) => quoin.send('GET', path, sent)))
    expect(first).toMatchObject({ status: 404, text: '{"error":"not found"}' })
    for (const answer of rest) if (first) expect(seen(answer)).toEqual(seen(first))
  })

  test.each([
    ['two tokens', { authorization: 'Bearer a', 'x-token': 'b' }],
    ['a token longer than any', { 'x-token': 'a'.repeat(600) }],
    ['a cookie of another site’s form', { cookie: 'access_token=a', 'sec-fetch-site': 'cross-site' }],
  ])('%s: the same, and a refusal only on public endpoints', async (_name, headers) => {
    const all = [...paths.map((path) => ['GET', path] as const), ['POST', '/write'] as const]
    const answers = await Promise.all(all.map(([method, path]) => quoin.send(method, path, { headers })))
    const [first, ...rest] = answers
    expect(first).toMatchObject({ status: 404, text: '{"error":"not found"}' })
    for (const answer of rest) if (first) expect(seen(answer)).toEqual(seen(first))
    const open = await quoin.send('GET', '/public', { headers })
    expect(open.status).toBe('cookie' in headers ? 200 : 401)
  })

  test.each(['GET', 'POST', 'PUT', 'DELETE', 'HEAD'] as const)('%s looks the same too', async (method) => {
    const sent = method === 'GET' || method === 'HEAD' ? {} : { body: { deep: [[[1]]] } }
    const all = paths.filter((path) => method === 'GET' || method === 'HEAD' || path !== '/none')
    const [first, ...rest] = await Promise.all(all.map((path) => quoin.send(method, path, sent)))
    expect(first?.status).toBe(404)
    for (const answer of rest) if (first) expect(seen(answer)).toEqual(seen(first))
  })

  const methods = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND'.split(' ')
  const versions = ['HTTP/1.0', 'HTTP/1.1']
  /** Headers and body of a request, without its first line and `connection`. */
  const kinds: readonly (readonly [string, string, string])[] = [
    ['plain', '', ''],
    ['an unknown token', 'authorization: Bearer nonsense', ''],
    ['a short JSON body', 'content-type: application/json\r\ncontent-length: 2', '{}'],
    ['a packed body', 'content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 2', '{}'],
    ['a form', 'content-type: application/x-www-form-urlencoded\r\ncontent-length: 3', 'a=b'],
    ['events', 'accept: text/event-stream\r\nx-quoin-trace: 1', ''],
    [
      'an origin and a trace',
      `origin: https://a.example\r\ntraceparent: 00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`,
      '',
    ],
  ]

  test.each(methods)('%s: the bytes of the reply are the same', async (method) => {
    for (const version of versions)
      for (const [name, headers, body] of kinds) {
        const replies = await Promise.all(
          [...paths, '/write', '/unknown/', '/stock/', '/stock?access_token=a&access_token=b'].map((path) =>
            rawReply(`${method} /api/v1${path} ${version}`, headers, body),
          ),
        )
        const [first = '', ...rest] = replies
        expect(first, `${version}, ${name}`).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/)
        for (const reply of rest) expect(reply, `${version}, ${name}`).toBe(first)
      }
  })

  test('the API documentation names an endpoint only to those who may enter it', async () => {
    const named = async (sent: Sent) => {
      const answer = await quoin.send('GET', '/openapi.json', sent)
      const paths = Object.keys(objectOf(objectOf(answer.body).paths)).map((path) =>
        path.replace('/api/v1', ''),
      )
      return ['/public', '/loggedin', '/stock', '/sleeping'].filter((path) => paths.includes(path))
    }
    expect(await named({})).toEqual(['/public'])
    expect(await named({ as: 'bob' })).toEqual(['/public', '/loggedin'])
    expect(await named({ as: 'ann' })).toEqual(['/public', '/loggedin', '/stock'])
  })
})

describe('the administrator is told why', () => {
  const explain = (path: string, user?: string) =>
    quoin.send('POST', '/blueprints/explain', {
      as: 'admin',
      body: { method: 'GET', path, ...(user !== undefined && { user }) },
    })

  test('not every caller is', async () => {
    const body = { method: 'GET', path: '/stock' }
    expect((await quoin.send('POST', '/blueprints/explain', { body })).status).toBe(401)
    const answer = await quoin.send('POST', '/blueprints/explain', { body, as: 'ann' })
    expect(answer).toMatchObject({ status: 403, body: { error: 'INSUFFICIENT_PERMISSIONS' } })
    expect(answer.text).not.toContain('stock')
  })

  test('missing scope, inactive and unknown are told apart', async () => {
    const scope = await explain('/stock')
    expect(scope.body).toMatchObject({ reachable: false, scopes: ['stock'], blueprint: { active: true } })
    const inactive = await explain('/api/v1/sleeping')
    expect(inactive.body).toMatchObject({ reachable: false, blueprint: { guid: sleeping, active: false } })
    expect(objectOf(inactive.body).reason).toContain('not active')
    const unknown = await explain('/unknown')
    expect(unknown.body).toEqual({ reachable: false, reason: 'No blueprint registers GET unknown.' })
    expect((await explain('/stock', annGuid)).body).toMatchObject({ reachable: true })
  })
})

test('a scope that is taken away closes the door at once, and one that is granted opens it', async () => {
  await quoin.manage('PUT', `/users/${annGuid}`, { custom_scopes: ['sales'] })
  expect((await quoin.send('GET', '/stock', { as: 'ann' })).status).toBe(404)
  await quoin.manage('PUT', `/users/${annGuid}`, { custom_scopes: ['stock'] })
  expect((await quoin.send('GET', '/stock', { as: 'ann' })).status).toBe(200)
})

test('a token that was signed out is anonymous: public endpoints stay available, the others are 404', async () => {
  const headers = { authorization: `Bearer ${await quoin.tokenOf('bob')}` }
  expect((await quoin.send('GET', '/loggedin', { headers })).status).toBe(200)
  expect((await quoin.send('POST', '/auth/signout', { headers })).status).toBe(200)
  expect((await quoin.send('GET', '/loggedin', { headers })).status).toBe(404)
  expect(await quoin.send('GET', '/public', { headers })).toMatchObject({ status: 200, body: null })
})
