import { afterAll, beforeAll, expect, test } from 'vitest'
import { textAt } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'
import { installBlueprint } from '../../../flows/blueprints/install-blueprint.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'

const root = '/_system/connections'
let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  await fixture.addUser('keeper', [
    ...['view', 'create', 'update', 'remove'].map((verb) => `connections_${verb}`),
    'secrets_update',
  ])
  await fixture.addUser('without_scopes', ['secrets_view'])
})
afterAll(() => fixture.close())

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonValue) =>
  fixture.send(method, `${root}${path}`, 'keeper', body)
const find = (name: string) => fixture.flows.connections.find(name)

test.each([
  ['POST', '/search', 'view'],
  ['POST', '', 'create'],
  ['GET', '/none', 'view'],
  ['PUT', '/none', 'update'],
  ['DELETE', '/none', 'remove'],
  ['POST', '/none/try', 'update'],
] as const)('%s %s needs a token and the scope to %s', async (method, path, verb) => {
  expect((await fixture.send(method, `${root}${path}`, '')).status).toBe(401)
  const refused = await fixture.send(method, `${root}${path}`, 'without_scopes')
  expect([refused.status, textAt(refused.body, 'message')]).toEqual([
    403,
    expect.stringContaining(`connections_${verb}`),
  ])
})

const shop = { name: 'SHOP', base_url: 'https://shop.example/v1' }
test.each<[string, JsonObject]>([
  ['no address', { name: 'SHOP' }],
  ['an address of another kind', { ...shop, base_url: 'ftp://shop.example' }],
  ['an address that is none', { ...shop, base_url: 'https://' }],
  ['an address with a password', { ...shop, base_url: 'https://a:b@shop.example' }],
  ['an address with a query', { ...shop, base_url: 'https://shop.example?key=1' }],
  ['an unknown sign-in', { ...shop, auth: { kind: 'digest', secret: 'A' } }],
  ['a secret itself', { ...shop, auth: { kind: 'bearer', secret: 'sk_live.51' } }],
  [
    'a token address with a password',
    { ...shop, auth: { kind: 'oauth2', token_url: 'https://a:b@c.example', client_id: 'x', secret: 'A' } },
  ],
  ['a header that is none', { ...shop, auth: { kind: 'header', header: 'a b', secret: 'A' } }],
  ['a name that is none', { ...shop, name: 'a-b' }],
])('%s is refused', async (_what, body) => {
  expect((await send('POST', '', body)).status).toBe(400)
  expect(fixture.flows.connections.names()).toEqual([])
})

test('it is created, listed, changed and removed, and audited', async () => {
  const auth = { kind: 'bearer', secret: 'SHOP_KEY' }
  const made = await send('POST', '', { ...shop, auth, headers: { 'x-shop': '1' } })
  expect([made.status, made.body]).toMatchObject([200, { ...shop, auth, headers: { 'x-shop': '1' } }])
  const guid = textAt(made.body, '_meta', 'guid')
  expect(find('SHOP')).toMatchObject({ auth, headers: { 'x-shop': '1' } })
  const before = find('SHOP')
  expect(before?.baseUrl.href).toBe('https://shop.example/v1/')
  expect(find('SHOP')).toBe(before)
  expect((await send('POST', '', shop)).status).toBe(409)
  const changed = await send('PUT', `/${guid}`, { base_url: 'https://shop.example/v2/' })
  expect(changed.body).toMatchObject({ base_url: 'https://shop.example/v2/', auth })
  expect([find('SHOP')?.baseUrl.href, find('SHOP') === before]).toEqual(['https://shop.example/v2/', false])
  expect((await send('POST', '/search', { query: 'shop' })).body).toMatchObject([{ name: 'SHOP' }])
  expect((await send('DELETE', `/${guid}`)).status).toBe(200)
  expect(find('SHOP')).toBeUndefined()
  const audited = await fixture.send('POST', '/_system/auditlogs', 'admin', {
    filters: { category: 'connections' },
  })
  const actions = Array.isArray(audited.body) ? audited.body.map((one) => textAt(one, 'action')) : []
  expect(actions.sort()).toEqual(['created', 'removed', 'updated'])
})

test('a blueprint names one that is there or gets a warning; no wire and no expression', async () => {
  await send('POST', '', shop)
  const blocks = (connection: string): JsonObject => ({
    take: { type: 'on_startup_register_uri_get', in: { uri: 'asks' }, scopes: ['*public'] },
    ask: { type: 'http_request', in: { flow: '@take.flow', connection, url: 'orders' } },
    reply: { type: 'reply', in: { flow: '@ask.flow', value: '@ask.body' } },
  })
  const by = { guid: '', username: 'builder' }
  for (const wrong of ["='SHOP'", '@take.connection'])
    await expect(
      installBlueprint(fixture.flows, { name: 'Wrong', blocks: blocks(wrong) }, by),
    ).rejects.toThrow()
  const guid = await installBlueprint(fixture.flows, { name: 'Asks', blocks: blocks('SHOPS') }, by)
  expect(fixture.flows.live.table().blueprints.get(guid)?.compiled.notes).toMatchObject([
    { message: 'There is no connection SHOPS: the block fails until it is set. Did you mean SHOP?' },
  ])
  expect((await fixture.send('GET', '/asks', '')).status).toBe(500)
})
