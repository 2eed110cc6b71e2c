/** API keys at every door: management, endpoints, documents, streams and pages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textAt } from '../json-at.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let ann: string

const echo = (uri: string, scopes: readonly string[], trigger = 'on_startup_register_uri_get') => ({
  on: { type: trigger, in: { uri }, scopes },
  got: { type: 'httpconnection_current_request' },
  all: {
    type: 'object_new_fields',
    fields: { fields: ['user', 'headers'] },
    in: { user: '@got.user', headers: '@got.headers' },
  },
  reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: '@all.object' } },
})

beforeAll(async () => {
  quoin = await openTestQuoin()
  ann = await quoin.addUser('ann', ['stock', 'storages_view', 'users_view', 'users_update'])
  await quoin.addUser('bob', [])
  await quoin.install('stock', echo('stock', ['stock']))
  await quoin.install('in', echo('in', ['*loggedin']))
  await quoin.install('open', echo('open', ['*public']))
})
afterAll(() => quoin.close())

let number = 0
async function key(input: Record<string, unknown> = {}, as = 'ann') {
  number += 1
  const body = { name: `key ${number}`, scopes: ['*'], ...input }
  const made = await quoin.send('POST', '/users/me/keys', { as, body })
  if (made.status !== 200) throw new Error(made.text)
  expect(made.headers['cache-control']).toBe('no-store')
  const secret = textAt(made.body, 'key')
  const headers = { authorization: `Bearer ${secret}` }
  return { secret, guid: guidOf(made.body), headers }
}

const status = async (path: string, headers: Record<string, string>) =>
  (await quoin.send('GET', path, { headers })).status

describe('making keys', () => {
  test.each([
    ['POST', '/users/me/keys', { name: 'a' }],
    ['GET', '/users/me/keys', undefined],
    ['DELETE', '/users/me/keys/none', undefined],
  ] as const)('%s %s needs a token', async (method, path, body) => {
    expect((await quoin.send(method, path, body && { body })).status).toBe(401)
  })

  test.each([
    ['no name', {}, ['name']],
    ['an unknown field', { name: 'a', secret: 'b' }, ['secret']],
    ['an expiry of text', { name: 'a', expiry: 'soon' }, ['expiry']],
  ])('with %s is refused', async (_, body, fields) => {
    const reply = await quoin.send('POST', '/users/me/keys', { as: 'ann', body })
    expect([reply.status, objectOf(reply.body).fields]).toEqual([400, fields])
  })

  test('by a key, or signing out with one, is refused; so are a new password and more scopes', async () => {
    const { headers, guid } = await key()
    for (const [method, path, body] of [
      ['POST', '/users/me/keys', { name: 'child' }],
      ['PUT', `/users/me/keys/${guid}`, { scopes: ['*'] }],
      ['POST', `/users/me/keys/${guid}/rotate`, undefined],
      ['DELETE', `/users/me/keys/${guid}`, undefined],
      ['POST', `/users/${ann}/keys`, { name: 'child' }],
      ['PUT', '/users/me', { firstname: 'Eve' }],
      ['PUT', '/users/me', { password: 'another long password', current_password: 'a password of a user' }],
      ['PUT', `/users/${ann}`, { custom_scopes: ['stock'] }],
      ['POST', '/auth/signout', undefined],
    ] as const) {
      const reply = await quoin.send(method, path, { headers, ...(body && { body }) })
      expect([path, reply.status, objectOf(reply.body).error]).toEqual([
        path,
        403,
        'INSUFFICIENT_PERMISSIONS',
      ])
    }
    expect(await status('/users/me', headers)).toBe(200)
  })

  test('for another user needs users_update and all scopes of that user', async () => {
    const { body: bob } = await quoin.send('GET', '/users/me', { as: 'bob' })
    const path = `/users/${guidOf(bob)}/keys`
    const body = { name: 'for bob', scopes: [] }
    expect((await quoin.send('POST', path, { as: 'bob', body })).status).toBe(403)
    const made = await quoin.send('POST', path, { as: 'ann', body })
    expect(made.status).toBe(200)
    expect((await quoin.send('GET', path, { as: 'ann' })).body).toMatchObject([
      { name: 'for bob', created_by: { username: 'ann' }, last_used: 0 },
    ])
    const headers = { authorization: `Bearer ${textAt(made.body, 'key')}` }
    expect((await quoin.send('GET', '/users/me', { headers })).body).toMatchObject({ username: 'bob' })
    const { body: admin } = await quoin.send('GET', '/users/me', { as: 'admin' })
    expect((await quoin.send('POST', `/users/${guidOf(admin)}/keys`, { as: 'ann', body })).status).toBe(403)
    expect((await quoin.send('DELETE', `${path}/${guidOf(made.body)}`, { as: 'ann' })).status).toBe(200)
    expect(await status('/users/me', headers)).toBe(401)
  })
})

describe('a key opens', () => {
  test.each(['authorization', 'x-api-key', 'x-token'])(
    'doors in the header %s, and no flow sees it',
    async (name) => {
      const { secret } = await key()
      const headers = { [name]: name === 'authorization' ? `Bearer ${secret}` : secret }
      const reply = await quoin.send('GET', '/stock', { headers })
      expect(reply.body).toMatchObject({ user: { username: 'ann' } })
      expect(reply.text).not.toContain(secret.slice(0, 12))
      expect((await quoin.send('POST', '/_system/storages/search', { headers, body: {} })).status).toBe(200)
    },
  )

  test('nothing from an address or a cookie, nor beside another token', async () => {
    const { secret } = await key()
    expect(await status(`/users/me?access_token=${secret}`, {})).toBe(401)
    expect(await status('/users/me', { cookie: `access_token=${secret}` })).toBe(401)
    const { secret: other } = await key()
    const both = { authorization: `Bearer ${secret}`, 'x-api-key': other }
    expect(await status('/users/me', both)).toBe(401)
    expect(await status('/users/me', { ...both, 'x-api-key': secret })).toBe(200)
  })

  test('the credentials of a flow in x-api-key are left to it', async () => {
    const reply = await quoin.send('GET', '/open', { headers: { 'x-api-key': 'webhook secret' } })
    expect(reply.body).toMatchObject({ headers: { 'x-api-key': 'webhook secret' } })
  })

  test('what its scopes open, and what is open to every user', async () => {
    const { headers } = await key({ scopes: ['storages_view'] })
    expect(await status('/stock', headers)).toBe(404)
    expect(await status('/in', headers)).toBe(200)
    expect((await quoin.send('POST', '/users/search', { headers, body: {} })).status).toBe(403)
    expect((await quoin.send('POST', '/_system/storages/search', { headers, body: {} })).status).toBe(200)
  })

  test('only the endpoints of its list', async () => {
    const { headers, guid } = await key({ endpoints: ['GET /api/v1/stock', '/api/v1/_system/storages/*'] })
    expect(await status('/stock', headers)).toBe(200)
    // Hidden endpoints stay hidden, and public ones public.
    expect(await status('/in', headers)).toBe(404)
    expect((await quoin.send('GET', '/open', { headers })).body).not.toHaveProperty('user.username')
    const refused = await quoin.send('GET', '/users/me', { headers })
    expect([refused.status, objectOf(refused.body).error]).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    expect((await quoin.send('POST', '/_system/storages/search', { headers, body: {} })).status).toBe(200)
    await quoin.manage('PUT', `/users/${ann}/keys/${guid}`, { endpoints: [] })
    expect(await status('/users/me', headers)).toBe(200)
  })
})

describe('a key ends', () => {
  test('with its rotation, after the overlap', async () => {
    const { headers, guid } = await key()
    const reply = await quoin.send('POST', `/users/me/keys/${guid}/rotate`, {
      as: 'ann',
      body: { overlap: 3600 },
    })
    const renewed = { authorization: `Bearer ${textAt(reply.body, 'key')}` }
    for (const one of [headers, renewed]) expect(await status('/stock', one)).toBe(200)
    quoin.advance(3_601_000)
    expect(await status('/stock', headers)).toBe(404)
    expect(await status('/stock', renewed)).toBe(200)
  })

  test('when its owner loses the scope, is deactivated, or the key is removed', async () => {
    const { headers, guid } = await key()
    const change = (fields: object) => quoin.manage('PUT', `/users/${ann}`, { ...fields })
    const scopes = ['stock', 'storages_view', 'users_view', 'users_update']
    expect(await status('/stock', headers)).toBe(200)
    await change({ custom_scopes: scopes.slice(1) })
    expect(await status('/stock', headers)).toBe(404)
    await change({ custom_scopes: scopes })
    expect(await status('/stock', headers)).toBe(200)
    await change({ is_active: false })
    expect(await status('/stock', headers)).toBe(404)
    expect(await status('/users/me', headers)).toBe(401)
    await change({ is_active: true })
    // Signing ann in again: she was signed out everywhere.
    quoin.advance(1)
    expect(await status('/stock', headers)).toBe(200)
    await quoin.manage('DELETE', `/users/${ann}/keys/${guid}`)
    expect(await status('/stock', headers)).toBe(404)
  })
})

test('audit and user logs name the key and hold no secret', async () => {
  const { secret, headers, guid } = await key({ name: 'audited' })
  const before = await quoin.manage('POST', '/_system/auditlogs', { filters: { guid } })
  expect(before).toMatchObject([
    {
      category: 'api_keys',
      action: 'created',
      name: 'audited',
      user: { username: 'ann' },
      after: { scopes: ['*'] },
    },
  ])
  await quoin.manage('POST', `/users/${ann}/keys/${guid}/rotate`, {})
  await quoin.manage('DELETE', `/users/${ann}/keys/${guid}`)
  const all = await quoin.manage('POST', '/_system/auditlogs', { filters: { guid } })
  expect(all).toMatchObject([{ action: 'deleted' }, { action: 'updated' }, { action: 'created' }])
  expect(JSON.stringify(all)).not.toContain('key_hash')
  await quoin.send('GET', '/in', { headers })
  const logs = await quoin.manage('GET', '/_system/userlogs/search?limit=100')
  for (const text of [all, logs]) expect(JSON.stringify(text)).not.toContain(secret.slice(8))
})
