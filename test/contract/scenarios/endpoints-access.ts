/** Endpoints of sign-in, users, groups, logs and the cluster itself. */
import { expect } from 'vitest'
import { adminPassword, guidOf, objectOf, objectsOf } from '../../end-to-end/harness.ts'
import { eventually, found, guarded, nobody } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'

const password = 'a password of a user'

/** A user of its own, and what signs it in. */
async function somebody(fixture: ContractFixture) {
  const username = fixture.name()
  const guid = guidOf(await fixture.manage('POST', '/users', { username, password }))
  const signIn = (tried = password) =>
    fixture.send('POST', '/auth/signin', { body: { username, password: tried } })
  return { username, guid, signIn }
}

const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` })

const signsIn: Scenario = async (fixture) => {
  const { username, guid, signIn } = await somebody(fixture)
  const wrong = await signIn('not the password')
  expect(wrong).toMatchObject({ status: 401, body: { error: 'INVALID_CREDENTIALS' } })
  const unknown = { username: fixture.name(), password }
  expect((await fixture.send('POST', '/auth/signin', { body: unknown })).body).toEqual(wrong.body)
  const body = { username: 'admin', password: adminPassword, more: 1 }
  expect((await fixture.send('POST', '/auth/signin', { body })).status).toBe(400)
  const signed = await signIn()
  expect(signed).toMatchObject({ status: 200, body: { user: { username, _meta: { guid } } } })
  const headers = bearer(objectOf(signed.body).access_token)
  expect((await fixture.send('GET', '/users/me', { headers })).body).toMatchObject({ username })
}

/** Only the token that the request carries dies. */
const signsOut: Scenario = async (fixture) => {
  const { signIn } = await somebody(fixture)
  const tokens = [await signIn(), await signIn()].map(({ body }) => bearer(objectOf(body).access_token))
  const [first = {}, second = {}] = tokens
  expect((await fixture.send('POST', '/auth/signout')).status).toBe(401)
  const out = await fixture.send('POST', '/auth/signout', { headers: first })
  expect(out).toMatchObject({ status: 200, body: { logout: true } })
  expect((await fixture.send('GET', '/users/me', { headers: first })).status).toBe(401)
  expect((await fixture.send('GET', '/users/me', { headers: second })).status).toBe(200)
}

const info: Scenario = async (fixture) => {
  const { status, body, text } = await fixture.send('GET', '/info')
  expect([status, body]).toEqual([
    200,
    {
      name: 'Quoin',
      version: fixture.quoin.version,
      api: 'v1',
      environment: expect.any(String),
      host: expect.any(String),
      node: expect.any(String),
      nodes: 1,
      started: expect.any(Number),
      flags: { storage: fixture.quoin.database.capabilities.engine, passkeys: '' },
    },
  ])
  expect(text).not.toMatch(/stranger|quoin-test-|postgres:\/\//)
}

const usersSearch: Scenario = async (fixture) => {
  const path = '/users/search'
  await guarded(fixture, 'POST', path, 'users_view')
  const { username } = await somebody(fixture)
  const users = await found(fixture, path, { filters: { username } })
  expect(users).toMatchObject([{ username, is_active: true }])
  expect(JSON.stringify(users)).not.toMatch(/password|argon/)
  expect(await fixture.manage('POST', path, { filters: { username }, count: true })).toEqual({ count: 1 })
  const wrong = await fixture.send('POST', path, { as: 'admin', body: { filters: { password_hash: 'x' } } })
  expect(wrong).toMatchObject({ status: 400, body: { error: 'INVALID_QUERY' } })
}

async function lockedOut(fixture: ContractFixture) {
  const user = await somebody(fixture)
  for (let failed = 0; failed < 3; failed++) await user.signIn('not the password')
  const locked = await user.signIn()
  expect(locked).toMatchObject({ status: 429, body: { error: 'TOO_MANY_LOGIN_ATTEMPTS' } })
  return user
}

const resetsAttempts: Scenario = async (fixture) => {
  const { guid, signIn } = await lockedOut(fixture)
  const path = `/users/${guid}/reset-login-attempts`
  await guarded(fixture, 'POST', path, 'users_update')
  expect((await signIn()).status).toBe(429)
  await fixture.manage('POST', path)
  expect((await signIn()).status).toBe(200)
  const unknown = await fixture.send('POST', `/users/${nobody}/reset-login-attempts`, { as: 'admin' })
  expect(unknown).toMatchObject({ status: 404, body: { error: 'NOT_FOUND' } })
}

const unlocks: Scenario = async (fixture) => {
  const { guid, signIn } = await lockedOut(fixture)
  expect(await fixture.manage('GET', `/users/${guid}`)).toMatchObject({ login_attempts: 3 })
  await fixture.manage('POST', `/users/${guid}/reset-login-attempts`)
  expect(await fixture.manage('GET', `/users/${guid}`)).toMatchObject({ login_attempts: 0, locked_until: 0 })
  // Counted from zero: two more failures do not lock.
  await signIn('not the password')
  await signIn('not the password')
  expect((await signIn()).status).toBe(200)
}

const groupsSearch: Scenario = async (fixture) => {
  const path = '/_system/authentication-groups/search'
  await guarded(fixture, 'POST', path, 'authentication_groups_view')
  const name = fixture.name()
  await fixture.manage('POST', '/_system/authentication-groups', { name, scopes: ['stock'] })
  expect(await found(fixture, path, { filters: { name } })).toMatchObject([{ name, scopes: ['stock'] }])
  expect(await found(fixture, path, { filters: { name: fixture.name() } })).toEqual([])
}

const userLogs: Scenario = async (fixture) => {
  const path = '/_system/userlogs/search'
  await guarded(fixture, 'GET', path, 'userlogs_view')
  const { username, signIn } = await somebody(fixture)
  await signIn('not the password')
  await signIn()
  const query = new URLSearchParams({ filters: JSON.stringify({ 'user.username': username }) })
  const events = async () => {
    const logs = objectsOf(await fixture.manage('GET', `${path}?${query}`))
    return logs.map(({ event, ip }) => `${event} from ${ip}`)
  }
  await eventually(events, ['sign_in from 127.0.0.1', 'sign_in_failed from 127.0.0.1'])
}

const systemLogs: Scenario = async (fixture) => {
  const path = '/_system/systemlogs/search'
  await guarded(fixture, 'POST', path, 'systemlogs_view')
  const word = fixture.name()
  const blueprint = await fixture.run({
    on: { type: 'on_startup_register_uri_get', in: { uri: word } },
    log: { type: 'function_console_log', in: { flow: '@on.flow', value: word, level: 'warn' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@log.flow', value: 1 } },
  })
  await fixture.send('GET', `/${word}`)
  const logged = async () => (await found(fixture, path, { query: word })).map((entry) => entry.level)
  await eventually(logged, ['warn'])
  expect(await found(fixture, path, { filters: { blueprint, level: 'error' } })).toEqual([])
}

const auditLogs: Scenario = async (fixture) => {
  const path = '/_system/auditlogs'
  await guarded(fixture, 'POST', path, 'auditlogs_view')
  const { guid, username } = await somebody(fixture)
  await fixture.manage('PUT', `/users/${guid}`, { firstname: 'Ann', password: 'another password' })
  const audited = await found(fixture, path, { filters: { guid } })
  expect(audited).toMatchObject([
    { action: 'updated', before: { firstname: '' }, after: { firstname: 'Ann' } },
    { action: 'created', name: username, user: { username: 'admin' }, before: null },
  ])
  expect(JSON.stringify(audited)).not.toMatch(/argon|another password/)
  for (const method of ['PUT', 'DELETE'] as const)
    expect((await fixture.send(method, `${path}/${guidOf(audited[0])}`, { as: 'admin' })).status).toBe(404)
}

export const scenarios: Scenarios = {
  'POST /auth/signin': signsIn,
  'POST /auth/signout': signsOut,
  'GET /info': info,
  'POST /users/search': usersSearch,
  'POST /users/{guid}/reset-login-attempts': resetsAttempts,
  'user: locked out to unlocked': unlocks,
  'POST /_system/authentication-groups/search': groupsSearch,
  'GET /_system/userlogs/search': userLogs,
  'POST /_system/systemlogs/search': systemLogs,
  'POST /_system/auditlogs': auditLogs,
}
