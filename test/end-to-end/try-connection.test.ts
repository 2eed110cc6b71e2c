/** Trying a connection: one request with its sign-in, of which only the status is told. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type LocalServer, sendEndlessly, startLocalServer } from '../local-server.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const SECRET = 'sk_live_of_the_shop'
let quoin: TestQuoin
let shop: LocalServer
let other: LocalServer
let ended: (string | null)[] = []
let stay: (() => void)[] = []
let seen: { readonly at: string; readonly authorization: string | undefined; readonly shop: unknown }[]

beforeAll(async () => {
  other = await startLocalServer((request, response) => {
    seen.push({ at: `other${request.url}`, authorization: request.headers.authorization, shop: undefined })
    response.end('other')
  })
  shop = await startLocalServer((request, response) => {
    const { authorization, 'x-shop': header } = request.headers
    seen.push({ at: `${request.method} ${request.url}`, authorization, shop: header })
    if (request.url === '/v1/away') response.writeHead(302, { location: `${other.url}/caught` })
    else if (request.url?.startsWith('/v1/slow')) {
      const { searchParams: by } = new URL(request.url, shop.url)
      response.once('close', () => ended.push(by.get('by')))
      stay.push(() => response.end())
      return
    } else if (request.url === '/v1/endless') return sendEndlessly(response)
    else response.writeHead(authorization === `Bearer ${SECRET}` ? 200 : 401)
    response.end(`private data of ${SECRET}`)
  })
  quoin = await openTestQuoin({
    QUOIN_ALLOWED_HOSTS: '127.0.0.1',
    QUOIN_SECRETS_KEY: randomBytes(32).toString('hex'),
  })
  await quoin.addUser('keeper', ['connections_update'])
  await quoin.addUser('viewer', ['connections_view', 'connections_create', 'secrets_view'])
  await quoin.manage('POST', '/_system/secrets', { name: 'SHOP_KEY', value: SECRET })
})
afterAll(async () => {
  await quoin.close()
  await shop.close()
  await other.close()
})
beforeEach(() => {
  seen = []
  ended = []
  stay = []
})

let count = 0
async function tried(input: JsonObject, path = '', as = 'keeper') {
  const record = {
    name: `SHOP${count++}`,
    base_url: `${shop.url}/v1`,
    auth: { kind: 'bearer', secret: 'SHOP_KEY' },
    headers: { 'x-shop': '7' },
    ...input,
  }
  const guid = guidOf(await quoin.manage('POST', '/_system/connections', record))
  return quoin.send('POST', `/_system/connections/${guid}/try`, { as, body: { path } })
}

test('a user without connections_update sends nothing', async () => {
  expect((await tried({}, '', 'viewer')).status).toBe(403)
  expect((await quoin.send('POST', '/_system/connections/none/try', { as: 'keeper', body: {} })).status).toBe(
    404,
  )
  expect(seen).toEqual([])
})

test.each<[string, JsonObject, string, RegExp]>([
  ['a secret that is not set', { auth: { kind: 'bearer', secret: 'NONE' } }, '', /NONE/],
  ['a path that leads out', {}, '../admin', /must not lead out/],
  ['an address in place of a path', {}, 'https://elsewhere.example', /below the base address/],
  ['a private address that is closed', { base_url: 'http://127.0.0.2/' }, '', /private address/],
  ['a server that is not there', { base_url: 'http://127.0.0.1:1/' }, '', /could not be reached/],
])('%s: why there is no reply, and nothing is sent', async (_name, input, path, problem) => {
  const reply = await tried(input, path)
  expect([reply.status, reply.body]).toEqual([200, { ok: false, problem: expect.stringMatching(problem) }])
  expect(seen).toEqual([])
})

test('the status of a reply, signed in with the secret, and not what it holds', async () => {
  const good = await tried({}, 'orders?limit=1')
  expect(good.body).toEqual({ ok: true, status: 200, milliseconds: expect.any(Number) })
  expect(seen).toEqual([{ at: 'GET /v1/orders?limit=1', authorization: `Bearer ${SECRET}`, shop: '7' }])
  const bad = await tried({ auth: { kind: 'none' } })
  expect(bad.body).toEqual({ ok: false, status: 401, milliseconds: expect.any(Number) })
  expect(good.text + bad.text).not.toContain(SECRET)
})

test('a client that leaves ends the request that was sent for it, and no other one', async () => {
  const slow = { name: 'SLOW', base_url: `${shop.url}/v1`, auth: { kind: 'none' } }
  const guid = guidOf(await quoin.manage('POST', '/_system/connections', slow))
  const address = await quoin.quoin.server.listen()
  const authorization = `Bearer ${await quoin.tokenOf('keeper')}`
  const left = new AbortController()
  const send = (by: string, signal?: AbortSignal) =>
    fetch(new URL(`/api/v1/_system/connections/${guid}/try`, address), {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ path: `slow?by=${by}` }),
      ...(signal && { signal }),
    })
  // It came first, so that its time is over first.
  const staying = send('staying')
  await expect.poll(() => stay.length).toBe(1)
  const leaving = send('leaving', left.signal)
  await expect.poll(() => stay.length).toBe(2)
  left.abort()
  await expect(leaving).rejects.toThrow('aborted')
  await expect.poll(() => ended, { timeout: 30_000 }).toEqual(['leaving'])
  for (const end of stay) end()
  expect(await (await staying).json()).toMatchObject({ ok: true, status: 200 })
})

test('a reply that does not end has a status too: no more of it is read', async () => {
  expect((await tried({}, 'endless')).body).toMatchObject({ ok: true, status: 200 })
})

test('a redirect to another server gets no secret', async () => {
  expect((await tried({}, 'away')).body).toMatchObject({ ok: true, status: 200 })
  expect(seen.at(-1)).toEqual({ at: 'other/caught', authorization: undefined, shop: undefined })
})

test('the audit log has the use of the secret', async () => {
  await tried({})
  await expect
    .poll(async () => {
      const filters = { category: 'secrets', action: 'used' }
      const records = objectsOf(await quoin.manage('POST', '/_system/auditlogs', { filters }))
      return records.map(({ name, after }) => [name, objectOf(after).block])
    })
    .toEqual([['SHOP_KEY', 'try']])
})
