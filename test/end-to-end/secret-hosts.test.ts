/** Where secrets are sent: to the hosts of their list, by records that a holder of `secrets_update` has written. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const SECRET = 'sk_live_Vk42_onyx'
const TOKEN = 'token-of-onyx-77'
let quoin: TestQuoin
let shop: LocalServer
let evil: LocalServer
let tokens: LocalServer
/** Where the secret or its token arrived. */
let arrived: string[] = []

beforeAll(async () => {
  const recording = (name: string, reply: string) =>
    startLocalServer((request, response) => {
      const sent = JSON.stringify(request.headers)
      const asBasic = /Basic ([\w+/=]+)/.exec(sent)?.[1] ?? ''
      const plain = sent + decodeURIComponent(Buffer.from(asBasic, 'base64').toString())
      if (plain.includes(SECRET) || plain.includes(TOKEN) || plain.includes('x-quoin-signature'))
        arrived.push(name)
      response.setHeader('content-type', 'application/json')
      response.end(reply)
    })
  shop = await recording('shop', '[{"id":1}]')
  evil = await recording('evil', '[{"id":1}]')
  tokens = await recording('tokens', JSON.stringify({ access_token: TOKEN, expires_in: 3600 }))
  quoin = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: '127.0.0.1', QUOIN_SECRETS_KEY: '0f'.repeat(32) })
  const verbs = ['view', 'create', 'update', 'remove']
  await quoin.addUser(
    'connector',
    verbs.map((verb) => `connections_${verb}`),
  )
  await quoin.addUser(
    'alerter',
    verbs.map((verb) => `alerts_${verb}`),
  )
  await quoin.addUser('keeper', [...verbs.map((verb) => `connections_${verb}`), 'secrets_update'])
  await quoin.install('Asks', {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'asks' }, scopes: ['*public'] },
    ask: {
      type: 'http_request',
      in: { flow: '@on.flow', connection: 'SHOP', url: 'orders' },
      fields: { keep_seconds: 60 },
    },
    reply: { type: 'reply', in: { flow: '@ask.flow', value: '=ask.code' } },
  })
  await quoin.install('Downloads', {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'downloads' }, scopes: ['*public'] },
    ask: { type: 'download_file', in: { flow: '@on.flow', connection: 'SHOP', url: 'file', name: 'a.json' } },
    reply: { type: 'reply', in: { flow: '@ask.flow', value: '=ask.code' } },
  })
  await quoin.install('Pages', {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'pages' }, scopes: ['*public'] },
    ask: { type: 'each_page', in: { flow: '@on.flow', connection: 'SHOP', url: 'list' } },
    reply: { type: 'reply', in: { flow: '@ask.flow', value: '=ask.code' } },
  })
})
afterAll(async () => {
  await quoin?.close()
  for (const server of [shop, evil, tokens]) await server?.close()
})
beforeEach(async () => {
  for (const path of ['/_system/connections', '/_system/secrets', '/_system/alerts'])
    for (const record of objectsOf(await quoin.manage('POST', `${path}/search`, {})))
      await quoin.manage('DELETE', `${path}/${guidOf(record)}`)
  arrived = []
})

const host = (server: LocalServer) => `127.0.0.1:${server.port}`
const setSecret = async (hosts: string[] | null) =>
  guidOf(await quoin.manage('POST', '/_system/secrets', { name: 'KEY', value: SECRET, hosts }))
const connect = (as: string, fields: JsonObject) =>
  quoin.send('POST', '/_system/connections', { as, body: { name: 'SHOP', base_url: shop.url, ...fields } })
const signIns: readonly (readonly [string, () => JsonObject])[] = [
  ['bearer', () => ({ kind: 'bearer', secret: 'KEY' })],
  ['basic', () => ({ kind: 'basic', username: 'quoin', secret: 'KEY' })],
  ['header', () => ({ kind: 'header', header: 'x-key', secret: 'KEY' })],
  ['oauth2', () => ({ kind: 'oauth2', token_url: tokens.url, client_id: 'quoin', secret: 'KEY' })],
]

describe('naming a secret needs secrets_update besides connections_update', () => {
  test.each(signIns)('a new connection with %s', async (_kind, auth) => {
    await setSecret(null)
    const refused = await connect('connector', { auth: auth() })
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('secrets_update')])
    expect(await quoin.manage('POST', '/_system/connections/search', {})).toEqual([])
    expect((await connect('keeper', { auth: auth() })).status).toBe(200)
  })

  test.each<[string, () => JsonObject, number]>([
    ['another server', () => ({ base_url: evil.url }), 403],
    ['another path of the same server', () => ({ base_url: `${shop.url}/v2` }), 403],
    ['another server of tokens', () => ({ auth: { ...signIns[3]?.[1](), token_url: evil.url } }), 403],
    ['another secret', () => ({ auth: { ...signIns[3]?.[1](), secret: 'OTHER' } }), 403],
    ['another sign-in', () => ({ auth: { kind: 'bearer', secret: 'KEY' } }), 403],
    ['no sign-in', () => ({ auth: { kind: 'none' } }), 403],
    ['the same sign-in', () => ({ base_url: shop.url, auth: signIns[3]?.[1]() ?? {} }), 200],
    ['headers and a description', () => ({ headers: { 'x-a': '1' }, description: 'The shop' }), 200],
  ])('a stored connection: %s', async (_what, changes, status) => {
    await setSecret(null)
    const guid = guidOf((await connect('admin', { auth: signIns[3]?.[1]() ?? {} })).body)
    const path = `/_system/connections/${guid}`
    const before = await quoin.manage('GET', path)
    const reply = await quoin.send('PUT', path, { as: 'connector', body: changes() })
    expect(reply.status).toBe(status)
    if (status === 403) expect(await quoin.manage('GET', path)).toEqual(before)
    await quoin.send('POST', `${path}/try`, { as: 'connector', body: {} })
    expect(arrived).not.toContain('evil')
    expect((await quoin.send('PUT', path, { as: 'keeper', body: changes() })).status).toBe(200)
  })

  test('a connection without a secret needs no more than before', async () => {
    const guid = guidOf((await connect('connector', {})).body)
    const path = `/_system/connections/${guid}`
    expect((await quoin.send('PUT', path, { as: 'connector', body: { base_url: evil.url } })).status).toBe(
      200,
    )
    const named = await quoin.send('PUT', path, {
      as: 'connector',
      body: { auth: { kind: 'bearer', secret: 'KEY' } },
    })
    expect(named.status).toBe(403)
  })

  test('an alert whose webhook a secret signs', async () => {
    const path = '/_system/alerts'
    const alert = { name: 'PAGER', figure: 'dead_letters', threshold: 5, webhook: shop.url }
    const send = (method: 'POST' | 'PUT', guid: string, body: JsonObject) =>
      quoin.send(method, path + guid, { as: 'alerter', body })
    expect((await send('POST', '', { ...alert, secret: 'KEY' })).status).toBe(403)
    const guid = `/${guidOf((await send('POST', '', alert)).body)}`
    expect((await send('PUT', guid, { webhook: evil.url })).status).toBe(200)
    expect((await send('PUT', guid, { secret: 'KEY' })).status).toBe(403)
    await quoin.manage('PUT', path + guid, { secret: 'KEY' })
    expect((await send('PUT', guid, { webhook: shop.url })).status).toBe(403)
    expect((await send('PUT', guid, { secret: '' })).status).toBe(403)
    expect((await send('PUT', guid, { threshold: 6, webhook: evil.url, secret: 'KEY' })).status).toBe(200)
  })
})

describe('a secret is sent to the hosts of its list', () => {
  test.each(signIns)('%s: nothing arrives elsewhere, by no block and no try', async (kind, auth) => {
    const secret = await setSecret([host(tokens), '127.0.0.1'])
    const guid = guidOf((await connect('admin', { auth: auth() })).body)
    for (const path of ['/asks', '/downloads', '/pages'])
      expect([path, (await quoin.send('GET', path)).status]).toEqual([path, 500])
    const tried = async () => objectOf(await quoin.manage('POST', `/_system/connections/${guid}/try`, {}))
    expect(await tried()).toEqual({
      ok: false,
      problem: `The connection names the secret KEY, which may not be sent to ${host(shop)}: its list of hosts does not have it.`,
    })
    expect(arrived).toEqual([])
    const hosts = (list: string[] | null) =>
      quoin.manage('PUT', `/_system/secrets/${secret}`, { hosts: list })
    await hosts([host(shop), host(tokens)])
    // Without a bucket a cluster on PostgreSQL stores no file: 503 after the request.
    for (const path of ['/asks', '/downloads', '/pages'])
      expect([200, ...(path === '/downloads' ? [503] : [])]).toContain((await quoin.send('GET', path)).status)
    expect((await tried()).ok).toBe(true)
    expect(arrived.filter((name) => name === 'shop').length).toBe(4)
    // A stored token and a stored reply are no way around a shorter list.
    arrived = []
    for (const list of kind === 'oauth2' ? [[host(tokens)], [host(shop)], []] : [[host(evil)], []]) {
      await hosts(list)
      for (const path of ['/asks', '/downloads', '/pages'])
        expect([path, (await quoin.send('GET', path)).status]).toEqual([path, 500])
      expect((await tried()).ok).toBe(false)
    }
    expect(arrived).toEqual([])
  })

  test('a connection that leads elsewhere later sends nothing there', async () => {
    await setSecret([host(shop), host(tokens)])
    const guid = guidOf((await connect('admin', { auth: signIns[3]?.[1]() ?? {} })).body)
    expect((await quoin.send('GET', '/asks')).status).toBe(200)
    await quoin.manage('PUT', `/_system/connections/${guid}`, { base_url: evil.url })
    expect((await quoin.send('GET', '/asks')).status).toBe(500)
    expect(arrived).not.toContain('evil')
  })

  test('an alert gives its signature to no other host', async () => {
    await setSecret([host(shop)])
    const alert = { name: 'PAGER', figure: 'dead_letters', threshold: 5, secret: 'KEY' }
    for (const to of [evil, shop]) {
      const record = await quoin.manage('POST', '/_system/alerts', {
        ...alert,
        name: `P${to.port}`,
        webhook: to.url,
      })
      await quoin.manage('POST', `/_system/alerts/${guidOf(record)}/test`)
    }
    await expect.poll(() => arrived, { timeout: 20_000 }).toEqual(['shop'])
  })
})

test('a secret without a list works as before, and says that it goes anywhere', async () => {
  await setSecret(null)
  await connect('admin', { auth: { kind: 'bearer', secret: 'KEY' } })
  expect((await quoin.send('GET', '/asks')).status).toBe(200)
  expect(arrived).toEqual(['shop'])
  const [record] = objectsOf(await quoin.manage('POST', '/_system/secrets/search', {}))
  expect(record).toMatchObject({ name: 'KEY', hosts: null, sent_by: ['SHOP'] })
})
