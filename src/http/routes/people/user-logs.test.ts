import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonAt, recordsIn } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'

let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  await fixture.addUser('viewer', ['userlogs_view'])
  await fixture.addUser('ann', [])
})
afterAll(() => fixture.close())

const logs = async (filters: object) => {
  const query = new URLSearchParams({ filters: JSON.stringify(filters) })
  return recordsIn((await fixture.send('GET', `/_system/userlogs/search?${query}`, 'viewer')).body)
}

describe('user logs', () => {
  it('are for those who hold userlogs_view', async () => {
    expect((await fixture.send('GET', '/_system/userlogs/search', '')).status).toBe(401)
    expect((await fixture.send('GET', '/_system/userlogs/search', 'ann')).status).toBe(403)
  })

  it.each(['filters=nonsense', 'filters={"password":"x"}', 'sort=[{"secret":"asc"}]', 'limit=abc', 'from=1'])(
    'refuse ?%s',
    async (query) => {
      const reply = await fixture.send('GET', `/_system/userlogs/search?${query}`, 'viewer')
      expect([reply.status, jsonAt(reply.body, 'error')]).toEqual([400, 'INVALID_QUERY'])
    },
  )

  it('tell of sign-ins, failures and sign-outs with address and agent', async () => {
    const from = { ip: '203.0.113.7', agent: 'Browser/1' }
    const { access_token } = await fixture.access.signIn({
      username: 'Ann',
      password: 'correct horse battery',
      ...from,
    })
    await fixture.access.signOut(access_token, { ip: '203.0.113.8', agent: 'Browser/2' })
    await fixture.access.signIn({ username: 'ann', password: 'wrong', ...from }).catch(() => undefined)
    const user = { guid: expect.any(String), username: 'ann' }
    const ofAnn = await logs({ 'user.username': 'ann', event: { not: 'request' } })
    expect(ofAnn).toMatchObject([
      { event: 'sign_in_failed', user, ...from },
      { event: 'sign_out', user, ip: '203.0.113.8', agent: 'Browser/2' },
      { event: 'sign_in', user, ...from },
      { event: 'sign_in', user, ip: '192.0.2.1' },
    ])
  })

  it('keep no name without a user: it may be a password', async () => {
    const attempt = { username: 'my secret password', password: 'x', ip: '203.0.113.9' }
    await fixture.access.signIn(attempt).catch(() => undefined)
    const found = await logs({ ip: '203.0.113.9' })
    expect(found).toMatchObject([{ event: 'sign_in_failed', user: null }])
    expect(JSON.stringify(found)).not.toContain('secret')
  })

  it('tell of requests of signed-in users, without query or body, and of no others', async () => {
    await fixture.send('GET', '/users/me?access_token=', 'ann')
    await fixture.send('PUT', '/users/me', 'ann', { firstname: 'a secret name' })
    await fixture.send('POST', '/users/search', 'ann')
    await fixture.send('GET', '/users/me?nobody', '')
    const found = await logs({ 'user.username': 'ann', event: 'request' })
    expect(found.map(({ method, path, status }) => [method, path, status])).toEqual([
      ['POST', '/api/v1/users/search', 403],
      ['PUT', '/api/v1/users/me', 200],
      ['GET', '/api/v1/users/me', 200],
      ['GET', '/api/v1/_system/userlogs/search', 403],
    ])
    expect(found[0]).toMatchObject({ ip: '127.0.0.1', agent: 'test agent', milliseconds: expect.any(Number) })
    expect(JSON.stringify(found)).not.toMatch(/secret|access_token|nobody/)
  })

  it('tell which requests the studio has sent by itself, so that a list is without them', async () => {
    await fixture.addUser('bob', [])
    const studio = { 'x-quoin-studio': '1' }
    await fixture.send('GET', '/users/me', 'bob', undefined, studio)
    await fixture.send('GET', '/users/me', 'bob')
    const ofBob = { 'user.username': 'bob', event: 'request' }
    expect(await logs({ ...ofBob, studio: true })).toMatchObject([{ studio: true, times: 1 }])
    const others = await logs({ ...ofBob, studio: { exists: false } })
    expect(others.map((one) => jsonAt(one, 'times'))).toEqual([1])
  })

  it('are one record for what a user sends at once, with all paths, and a further one for more than 100', async () => {
    const one = { user: { guid: 'g', username: 'busy' }, ip: '::1', method: 'PUT', status: 200 }
    for (let n = 0; n <= 100; n++)
      fixture.access.logRequest({ ...one, path: `/things/${n}`, milliseconds: n })
    for (const status of [404, 200])
      fixture.access.logRequest({ ...one, path: '/things/0', status, milliseconds: 1 })
    fixture.access.logRequest({ ...one, path: '/things/0', method: 'GET', milliseconds: 1 })
    const found = await logs({ 'user.username': 'busy' })
    const kinds = found.map(({ method, status, times, path }) => [
      method,
      status,
      times,
      [path].flat().length,
    ])
    expect(kinds).toHaveLength(4)
    expect(kinds).toEqual(
      expect.arrayContaining([
        ['PUT', 200, 100, 100],
        ['PUT', 200, 2, 2],
        ['PUT', 404, 1, 1],
        ['GET', 200, 1, 1],
      ]),
    )
    expect(await logs({ 'user.username': 'busy', path: '/things/77' })).toMatchObject([{ milliseconds: 99 }])
  })

  it('are counted and paged', async () => {
    const counted = await fixture.send('GET', '/_system/userlogs/search?count=true', 'viewer')
    expect(jsonAt(counted.body, 'count')).toBeGreaterThan(5)
    const page = await fixture.send('GET', '/_system/userlogs/search?limit=2', 'viewer')
    expect(page.body).toHaveLength(2)
    expect(page.headers['x-next-cursor']).toEqual(expect.any(String))
  })
})
