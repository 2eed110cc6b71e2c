/** A request over a connection in a deployed flow: signed in, traced without its secret, its use audited. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const secret = 'shop-key-Vk42-onyx'
let quoin: TestQuoin
let shop: LocalServer
let blueprint = ''
let requests = 0
let key: JsonValue = null
beforeAll(async () => {
  shop = await startLocalServer((request, response) => {
    requests += 1
    const { url, headers } = request
    response.writeHead(url?.includes('gone') ? 410 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ url, sent: headers.authorization }))
  })
  quoin = await openTestQuoin({
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${shop.port}`,
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
  })
  key = await quoin.manage('POST', '/_system/secrets', { name: 'SHOP_KEY', value: secret })
  const auth = { kind: 'bearer', secret: 'SHOP_KEY' }
  await quoin.manage('POST', '/_system/connections', { name: 'SHOP', base_url: `${shop.url}/v1`, auth })
  blueprint = await quoin.install('Asks', {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'asks/{what}' }, scopes: ['*public'] },
    ask: {
      type: 'http_request',
      in: { flow: '@on.flow', connection: 'SHOP', url: '=params.what' },
      fields: { retries: 1 },
    },
    length: {
      type: 'reply',
      in: { flow: '@ask.flow', value: '={ url: ask.body.url, sent: ask.body.sent == null }' },
    },
    refused: { type: 'reply', in: { flow: '@ask.failed', code: 502, value: '={ code: ask.code }' } },
  })
  await quoin.manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true })
})
afterAll(async () => {
  await quoin.close()
  await shop.close()
})

test('it is signed in, and takes the way failed', async () => {
  expect((await quoin.send('GET', '/asks/orders')).body).toEqual({ url: '/v1/orders', sent: false })
  const gone = await quoin.send('GET', '/asks/gone')
  expect([gone.status, gone.body]).toEqual([502, { code: 410 }])
})

test('traces have dots where the other server sent the secret back, and its use is audited', async () => {
  const runs = async () => objectsOf(await quoin.manage('GET', '/runs'))
  await expect.poll(async () => (await runs()).length, { timeout: 30_000 }).toBe(2)
  for (const { guid } of await runs()) {
    const text = JSON.stringify(await quoin.manage('GET', `/runs/${guid}`))
    expect([text.includes('http_request'), text.includes('Bearer'), text.includes(secret)]).toEqual([
      true,
      true,
      false,
    ])
  }
  const used = { filters: { category: 'secrets', action: 'used' } }
  const uses = async () => objectsOf(await quoin.manage('POST', '/_system/auditlogs', used))
  await expect.poll(uses, { timeout: 30_000 }).toMatchObject([{ name: 'SHOP_KEY', after: { blueprint } }])
})

test('a flow that keeps replies sends a request once, and again with a changed secret', async () => {
  await quoin.install('Keeps', {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'keeps/{what}' }, scopes: ['*public'] },
    ask: {
      type: 'http_request',
      in: { flow: '@on.flow', connection: 'SHOP', url: '=params.what' },
      fields: { keep_seconds: 3_600 },
    },
    asked: {
      type: 'reply',
      in: { flow: '@ask.flow', value: '={ kept: ask.from_cache, url: ask.body.url }' },
    },
    refused: { type: 'reply', in: { flow: '@ask.failed', code: 502, value: '={ kept: ask.from_cache }' } },
  })
  requests = 0
  const asked = async (what: string) => (await quoin.send('GET', `/keeps/${what}`)).body
  const orders = { url: '/v1/orders' }
  expect([await asked('orders'), await asked('orders')]).toEqual([
    { kept: false, ...orders },
    { kept: true, ...orders },
  ])
  expect([await asked('gone'), await asked('gone')]).toEqual([{ kept: false }, { kept: false }])
  expect(requests).toBe(3)
  await quoin.manage('PUT', `/_system/secrets/${guidOf(key)}`, { value: 'another-key' })
  await expect.poll(() => asked('orders'), { timeout: 30_000 }).toEqual({ kept: false, ...orders })
})
