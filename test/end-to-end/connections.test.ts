/** A request over a connection in a deployed flow: signed in, traced without its secret, its use audited. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

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
    const refused = url?.includes('refused')
    const code = refused ? 422 : url?.includes('gone') ? 410 : 200
    const cookie = refused ? { 'set-cookie': 'sid=Zp81-cookie' } : {}
    response.writeHead(code, { 'content-type': 'application/json', ...cookie })
    const error = refused ? 'amount must be integer cents' : undefined
    response.end(JSON.stringify({ url, sent: headers.authorization, error, token: refused && 'Zp82-token' }))
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

test('the reply of another server that is an error is in the run, traced or not, masked, and in its replay', async () => {
  const pays = await quoin.install('Pays', {
    on: { type: 'on_startup_register_uri_post', in: { uri: 'pays' }, scopes: ['*public'] },
    ask: { type: 'http_request', in: { flow: '@on.flow', connection: 'SHOP', url: 'refused' } },
    done: { type: 'reply', in: { flow: '@ask.flow', value: '=ask.body' } },
  })
  const ends = async (guid: string) => {
    const { steps } = objectOf(await quoin.manage('GET', `/runs/${guid}`))
    return objectsOf(steps).find(({ type }) => type === 'http_request')
  }
  const runs = async () => objectsOf(await quoin.manage('GET', `/runs?blueprint=${pays}&status=failed`))
  const shown = {
    in: { connection: '(connection SHOP)' },
    out: {
      code: 422,
      headers: { 'content-type': 'application/json', 'set-cookie': '•••' },
      body: { error: 'amount must be integer cents', sent: 'Bearer ***', token: '•••' },
    },
    error: 'the other server replied with status 422',
  }
  expect((await quoin.send('POST', '/pays')).text).not.toContain('integer cents')
  await expect.poll(async () => (await runs()).length, { timeout: 30_000 }).toBe(1)
  await quoin.manage('PUT', `/blueprints/${pays}/tracing`, { on: true })
  await quoin.send('POST', '/pays')
  await expect.poll(async () => (await runs()).length, { timeout: 30_000 }).toBe(2)
  const all = await runs()
  expect(all.map((run) => run.recorded_as).toSorted()).toEqual(['failed', 'traced'])
  for (const { guid } of all) expect(await ends(String(guid))).toMatchObject(shown)

  const traced = all.find((run) => run.recorded_as === 'traced')
  const asked = requests
  const again = objectOf(await quoin.manage('POST', `/runs/${traced?.guid}/replay`))
  expect(requests).toBe(asked)
  expect(await ends(String(again.guid))).toMatchObject({ out: shown.out, error: shown.error })
  expect(again.compared).toMatchObject({ same: true })
})
