/** API keys at every door: management, endpoints, documents, streams and pages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { textAt } from '../json-at.ts'
import { adminPassword, guidOf, objectOf, openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

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

/** Of all operations about people that change something: what a key sends, even with every scope. */
const aboutPeople =
  /^(Users|Sessions|Sign-in|Second factor|Passkeys|Sign-in providers|API keys|Agents|Authentication groups)$/
// Tools are called, and drafts described, with a key as by `/mcp`.
const reads = /^(search|explain|callTool$|describeNeed$)/
const credential = { id: 'a', rawId: 'a', type: 'public-key' }
const created = { ...credential, response: { clientDataJSON: 'a', attestationObject: 'a' } }
const asserted = {
  ...credential,
  response: { clientDataJSON: 'a', authenticatorData: 'a', signature: 'a' },
}
const bodies: Readonly<Record<string, JsonObject>> = {
  sharePageSession: {},
  updateMe: { firstname: 'Eve' },
  createUser: { username: 'child', password: 'a long password of a child' },
  updateUser: { custom_scopes: ['stock'] },
  inviteUser: { email: 'child@example.org' },
  confirmSession: { password: userPassword },
  addSecondFactor: { challenge: 'a', code: '123456' },
  confirmSessionWithPasskey: { passkey: asserted },
  addPasskey: { name: 'mine', passkey: created },
  renameMyPasskey: { name: 'mine' },
  createSignInProvider: { name: 'a', title: 'A', issuer: 'https://a.example', client_id: 'a' },
  updateSignInProvider: { title: 'B' },
  createMyApiKey: { name: 'child' },
  createApiKey: { name: 'child' },
  updateMyApiKey: { scopes: ['*'] },
  updateApiKey: { scopes: ['*'] },
  createGroup: { name: 'child' },
  updateGroup: { scopes: ['stock'] },
}

/** What a first try has left has another name than what the second one makes. */
let tries = 0

test('a key of an administrator changes no user, group, key, session, factor or provider', async () => {
  const name = `target-${++tries}`
  const group = guidOf(await quoin.manage('POST', '/_system/authentication-groups', { name }))
  const provider = guidOf(
    await quoin.manage('POST', '/_system/signin-providers', { ...bodies.createSignInProvider, name }),
  )
  const target = await quoin.addUser(name, [])
  const own = await key({}, 'admin')
  const targets: Readonly<Record<string, string>> = {
    'authentication-groups': group,
    'signin-providers': provider,
    users: target,
  }
  const everything = async () => ({
    groups: await quoin.documents('_groups'),
    keys: await quoin.documents('_api_keys'),
    providers: await quoin.documents('_signin_providers'),
    users: await quoin.documents('_users'),
  })
  const before = await everything()
  const { paths } = objectOf(await quoin.manage('GET', '/openapi.json'))
  const replies: string[] = []
  for (const [path, methods] of Object.entries(objectOf(paths)))
    for (const [method, operation] of Object.entries(objectOf(methods))) {
      const { tags, operationId, security } = objectOf(operation)
      const id = String(operationId)
      const isPublic = !Array.isArray(security) || security.length === 0
      if (!aboutPeople.test(String(tags)) || method === 'get' || isPublic || reads.test(id)) continue
      const [, family = ''] = /([a-z-]+)\/\{guid\}/.exec(path) ?? []
      const address = path
        .replace('/api/v1', '')
        .replace('{guid}', targets[family] ?? 'none')
        .replace('{key}', own.guid)
        .replace(/\{[a-z]+\}/, 'none')
      const body = bodies[id]
      const sent = { headers: own.headers, ...(body && { body }) }
      const reply = await quoin.send(methodNamed(method), address, sent)
      replies.push(`${id}: ${reply.status} ${String(objectOf(reply.body).error)}`)
    }
  for (const [path, body] of [
    ['/users/me', { password: 'another long password', current_password: adminPassword }],
    [`/users/${target}`, { password: 'another long password' }],
  ] as const) {
    const reply = await quoin.send('PUT', path, { headers: own.headers, body })
    replies.push(`a password at ${path}: ${reply.status} ${String(objectOf(reply.body).error)}`)
  }
  expect(replies.length).toBeGreaterThan(35)
  expect(replies.filter((reply) => !reply.endsWith(': 403 INSUFFICIENT_PERMISSIONS'))).toEqual([])
  expect(await everything()).toEqual(before)
  expect(await status('/users/me', own.headers)).toBe(200)
})

function methodNamed(name: string): 'POST' | 'PUT' | 'DELETE' {
  if (name === 'post') return 'POST'
  return name === 'put' ? 'PUT' : 'DELETE'
}

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
