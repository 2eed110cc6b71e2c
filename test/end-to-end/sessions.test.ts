/** Where users are signed in: who sees and ends which session, and what is refused afterwards. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const HOUR = 3_600_000
let quoin: TestQuoin
let ann: string

beforeAll(async () => {
  quoin = await openTestQuoin()
  ann = String(
    objectOf(
      objectOf(await quoin.manage('POST', '/users', { username: 'ann', password: 'a password of ann' }))
        ._meta,
    ).guid,
  )
  await quoin.addUser('helper', ['users_view', 'users_update'])
})
afterAll(() => quoin.close())

async function signIn(agent: string, username = 'ann', password = 'a password of ann') {
  const answer = await quoin.send('POST', '/auth/signin', {
    body: { username, password },
    headers: { 'user-agent': agent },
  })
  return { authorization: `Bearer ${String(objectOf(answer.body).access_token)}` }
}
const status = async (headers: Record<string, string>) =>
  (await quoin.send('GET', '/users/me', { headers })).status
const list = async (headers: Record<string, string>) =>
  objectsOf((await quoin.send('GET', '/users/me/sessions', { headers })).body ?? null)
const guidOf = (session: unknown) => String(objectOf(objectOf(session as never)._meta).guid)
const ended = async () =>
  objectsOf(
    await quoin.manage('POST', '/_system/auditlogs', { filters: { category: 'sessions' }, limit: 100 }),
  )

test('anonymous callers and those without the scope see and end nothing', async () => {
  const own = await signIn('ann 1')
  const [session] = await list(own)
  for (const [method, path] of [
    ['GET', '/users/me/sessions'],
    ['DELETE', '/users/me/sessions'],
    ['DELETE', `/users/me/sessions/${guidOf(session)}`],
  ] as const)
    expect((await quoin.send(method, path)).status, path).toBe(401)
  const admin = String(objectOf(objectOf(await quoin.manage('GET', '/users/me'))._meta).guid)
  for (const [method, path] of [
    ['GET', `/users/${admin}/sessions`],
    ['DELETE', `/users/${admin}/sessions`],
    ['DELETE', `/users/${admin}/sessions/x`],
  ] as const)
    expect((await quoin.send(method, path, { headers: own })).status, path).toBe(403)
  // Another user's session is not one of the caller's.
  const other = await signIn('admin', 'admin', adminPassword)
  const [theirs] = await list(other)
  expect((await quoin.send('DELETE', `/users/me/sessions/${guidOf(theirs)}`, { headers: own })).status).toBe(
    404,
  )
  // Scopes of the user that the helper does not hold.
  for (const path of [`/users/${admin}/sessions`, `/users/${admin}/sessions/${guidOf(theirs)}`])
    expect((await quoin.send('DELETE', path, { as: 'helper' })).status).toBe(403)
  expect([await status(own), await status(other)]).toEqual([200, 200])
  expect(await ended()).toEqual([])
})

test('a session has when it was made and used, from where and with what, and no token', async () => {
  const own = await signIn('Browser/1\u0007')
  quoin.advance(2 * HOUR)
  await status(own)
  const answer = await quoin.send('GET', '/users/me/sessions', { headers: own })
  const [first, second] = objectsOf(answer.body ?? null)
  expect(first).toMatchObject({ agent: expect.stringContaining('Browser/1'), ip: '127.0.0.1', current: true })
  expect(Number(first?.last_used) - Number(first?.created)).toBeGreaterThanOrEqual(7_200)
  expect(second).toMatchObject({ agent: 'ann 1', current: false })
  expect(answer.text).not.toMatch(/token_hash|q1_/)
})

test('one ends, then all others, then all by an administrator; the audit log has each', async () => {
  const [a, b, c] = [await signIn('a'), await signIn('b'), await signIn('c')]
  const ofB = (await list(b)).find(({ current }) => current)
  expect((await quoin.send('DELETE', `/users/me/sessions/${guidOf(ofB)}`, { headers: a })).status).toBe(200)
  expect([await status(a), await status(b), await status(c)]).toEqual([200, 401, 200])
  expect((await quoin.send('DELETE', `/users/me/sessions/${guidOf(ofB)}`, { headers: a })).status).toBe(404)
  const others = (await list(a)).length - 1
  expect((await quoin.send('DELETE', '/users/me/sessions', { headers: a })).body).toEqual({ ended: others })
  expect([await status(a), await status(c)]).toEqual([200, 401])
  expect(
    objectsOf((await quoin.send('GET', `/users/${ann}/sessions`, { as: 'helper' })).body ?? null),
  ).toMatchObject([{ agent: 'a', current: false }])
  expect((await quoin.send('DELETE', `/users/${ann}/sessions`, { as: 'helper' })).body).toEqual({ ended: 1 })
  expect(await status(a)).toBe(401)
  const log = await ended()
  expect(log).toHaveLength(others + 2)
  expect(log.map(({ user }) => objectOf(user ?? null).username)).toEqual(
    expect.arrayContaining(['ann', 'helper']),
  )
  expect(log[0]).toMatchObject({ action: 'deleted', category: 'sessions' })
  expect(JSON.stringify(log)).not.toMatch(/token_hash/)
})

test('an API key ends no session', async () => {
  const own = await signIn('keys')
  const made = await quoin.send('POST', '/users/me/keys', {
    headers: own,
    body: { name: 'key', scopes: ['*'] },
  })
  const headers = { authorization: `Bearer ${String(objectOf(made.body).key)}` }
  expect((await quoin.send('DELETE', '/users/me/sessions', { headers })).status).toBe(403)
  expect(objectsOf((await quoin.send('GET', '/users/me/sessions', { headers })).body ?? null)).toMatchObject([
    { current: false },
  ])
  expect(await status(own)).toBe(200)
})
