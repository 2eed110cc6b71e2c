import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TemporaryServer } from '../../../../test/temporary-server.ts'
import { openTemporaryServer, userPassword } from '../../../../test/temporary-server.ts'

let server: TemporaryServer
let headers: Record<'admin' | 'viewer' | 'manager' | 'nobody', { authorization: string }>
let ann: string
let admin: string

beforeAll(async () => {
  server = await openTemporaryServer()
  await server.addUser('viewer', ['users_view'])
  await server.addUser('manager', ['users_view', 'users_create', 'users_update', 'users_remove'])
  await server.addUser('nobody', [])
  ann = await server.addUser('ann', [])
  headers = {
    admin: await server.as('admin'),
    viewer: await server.as('viewer'),
    manager: await server.as('manager'),
    nobody: await server.as('nobody'),
  }
  admin = (await send('GET', '/users/me', 'admin')).json()._meta.guid
})
afterAll(() => server.close())

type Who = keyof typeof headers | undefined

async function send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, as: Who, payload?: object) {
  return server.app.inject({
    method,
    url: `/api/v1${url}`,
    headers: as === undefined ? {} : headers[as],
    ...(payload && { payload }),
  })
}

const routes = [
  ['POST', '/users/search', 'users_view'],
  ['POST', '/users', 'users_create'],
  ['GET', '/users/none', 'users_view'],
  ['PUT', '/users/none', 'users_update'],
  ['DELETE', '/users/none', 'users_remove'],
  ['POST', '/users/none/reset-login-attempts', 'users_update'],
] as const

describe('managing users', () => {
  it.each(routes)('%s %s is refused without a token, and without %s', async (method, url, scope) => {
    const [stranger, nobody] = [await send(method, url, undefined), await send(method, url, 'nobody')]
    expect([stranger.statusCode, stranger.json().error]).toEqual([401, 'INVALID_ACCESS_TOKEN'])
    expect([nobody.statusCode, nobody.json().error]).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    expect(nobody.json().message).toContain(scope)
  })

  it.each([
    ['GET', '/users/me'],
    ['PUT', '/users/me'],
  ] as const)('%s %s needs a token', async (method, url) => {
    expect((await send(method, url, undefined)).statusCode).toBe(401)
  })

  it.each([
    ['GET', '/users/none', undefined],
    ['PUT', '/users/none', { firstname: 'A' }],
    ['DELETE', '/users/none', undefined],
    ['POST', '/users/none/reset-login-attempts', undefined],
    ['GET', "/users/'%20or%201=1", undefined],
  ] as const)('%s %s is 404', async (method, url, payload) => {
    const reply = await send(method, url, 'manager', payload)
    expect([reply.statusCode, reply.json().error]).toEqual([404, 'NOT_FOUND'])
  })

  it.each([
    ['nothing', {}, ['username']],
    ['no password', { username: 'x' }, ['password']],
    ['a short password', { username: 'x', password: 'short' }, ['password']],
    ['a hash', { username: 'x', password: userPassword, password_hash: 'x' }, ['password_hash']],
    ['a wrong type', { username: 'x', password: userPassword, groups: 'a' }, ['groups']],
  ])('a new user is refused with %s', async (_name, payload, fields) => {
    const reply = await send('POST', '/users', 'manager', payload)
    expect(reply.json()).toMatchObject({ error: 'INVALID_BODY', fields })
  })

  it('users cannot grant scopes that they do not hold, or change a user who holds more', async () => {
    const payload = { username: 'x', password: userPassword, custom_scopes: ['*'] }
    expect((await send('POST', '/users', 'manager', payload)).statusCode).toBe(403)
    expect((await send('PUT', `/users/${ann}`, 'manager', { custom_scopes: ['*'] })).statusCode).toBe(403)
    expect((await send('PUT', `/users/${admin}`, 'manager', { password: userPassword })).statusCode).toBe(403)
    expect((await send('DELETE', `/users/${admin}`, 'manager')).statusCode).toBe(403)
    expect((await send('DELETE', `/users/${admin}`, 'admin')).json().error).toBe('CONFLICT')
  })

  it('one’s own password needs the current one by this path too', async () => {
    const own = await server.addUser('selfish', ['users_update', 'users_view'])
    const before = await server.as('selfish')
    const put = (payload: object) =>
      server.app.inject({ method: 'PUT', url: `/api/v1/users/${own}`, headers: before, payload })
    const password = 'another password'
    for (const sent of [{ password }, { password, current_password: 'guess' }]) {
      const refused = await put(sent)
      expect([refused.statusCode, refused.json().fields]).toEqual([400, ['current_password']])
    }
    // Nothing was changed: the password that was, and the token, still work.
    await server.as('selfish')
    expect((await put({ firstname: 'Sel' })).statusCode).toBe(200)
    expect((await put({ password, current_password: userPassword })).statusCode).toBe(200)
    expect((await put({ firstname: 'Gone' })).statusCode).toBe(401)
    // Of others it does not: their manager does not know it.
    expect((await send('PUT', `/users/${own}`, 'admin', { password: 'a third password' })).statusCode).toBe(
      200,
    )
    await send('DELETE', `/users/${own}`, 'admin')
  })

  it.each([
    ['1234567890', 'digits in a row'],
    ['aaaaaaaaaa', 'repeat'],
    ['password123', 'common password'],
    ['my name is weakling', 'user name'],
  ])('the password %s is refused', async (password, words) => {
    const made = await send('POST', '/users', 'admin', { username: 'weakling', password })
    expect([made.statusCode, made.json().fields]).toEqual([400, ['password']])
    expect(made.json().message).toContain(words)
    const changed = await send('PUT', `/users/${ann}`, 'manager', {
      password: password.replace('weakling', 'ann'),
    })
    if (words !== 'user name')
      expect([changed.statusCode, changed.json().fields]).toEqual([400, ['password']])
  })

  it('a user is created, read, changed, locked, unlocked and removed', async () => {
    const made = await send('POST', '/users', 'manager', {
      username: 'Zoë',
      password: userPassword,
      first_name: 'Zoë',
    })
    expect(made.json()).toMatchObject({ username: 'Zoë', firstname: 'Zoë', is_active: true })
    expect(made.body).not.toMatch(/argon|password_hash|_key/)
    const { guid } = made.json()._meta
    expect((await send('GET', `/users/${guid}`, 'viewer')).json()).toEqual(made.json())
    const taken = await send('POST', '/users', 'manager', { username: 'zoë', password: userPassword })
    expect([taken.statusCode, taken.json().error]).toEqual([409, 'CONFLICT'])

    // A record that was fetched can be sent back whole.
    const changed = await send('PUT', `/users/${guid}`, 'manager', {
      ...made.json(),
      email: 'zoe@example.com',
    })
    expect(changed.json()).toMatchObject({ email: 'zoe@example.com', firstname: 'Zoë' })

    for (let i = 0; i < 3; i++)
      await server.access
        .signIn({ username: 'zoë', password: 'wrong', ip: '127.0.0.1' })
        .catch(() => undefined)
    await expect(server.as('zoë')).rejects.toMatchObject({ code: 'TOO_MANY_LOGIN_ATTEMPTS' })
    const unlocked = await send('POST', `/users/${guid}/reset-login-attempts`, 'manager')
    expect(unlocked.json()).toMatchObject({ username: 'Zoë', login_attempts: 0 })
    await server.as('zoë')

    const removed = await send('DELETE', `/users/${guid}`, 'manager')
    expect(removed.json()).toEqual({ guid, removed: true })
    expect((await send('GET', `/users/${guid}`, 'viewer')).statusCode).toBe(404)
  })
})

describe('searching users', () => {
  const names = (reply: Awaited<ReturnType<typeof send>>) =>
    reply.json().map((user: { username: string }) => user.username)

  it.each([
    [{ filters: { password_hash: 'a' } }, 'INVALID_QUERY'],
    [{ sort: [{ username_key: 'asc' }] }, 'INVALID_QUERY'],
    [{ filters: { is_active: 'true' } }, 'INVALID_QUERY'],
    [{ after: 'nonsense' }, 'INVALID_QUERY'],
    [{ limit: 1001 }, 'INVALID_BODY'],
    [{ beyond: 0 }, 'INVALID_BODY'],
  ])('refuses %j', async (payload, error) => {
    const reply = await send('POST', '/users/search', 'viewer', payload)
    expect([reply.statusCode, reply.json().error]).toEqual([400, error])
  })

  it('finds nothing by what is hidden', async () => {
    expect((await send('POST', '/users/search', 'viewer', { query: 'argon2id' })).json()).toEqual([])
  })

  it('pages through all users with cursors, each once', async () => {
    const seen: string[] = []
    let after: string | undefined
    do {
      const payload = { sort: [{ username: 'asc' }], limit: 2, ...(after && { after }) }
      const reply = await send('POST', '/users/search', 'viewer', payload)
      expect(reply.headers['x-total-count']).toBe('5')
      seen.push(...names(reply))
      after = reply.headers['x-next-cursor']?.toString()
    } while (after)
    expect(seen).toEqual(['admin', 'ann', 'manager', 'nobody', 'viewer'])
  })

  it('filters, searches text, counts and works without a body', async () => {
    const search = (payload?: object) => send('POST', '/users/search', 'viewer', payload)
    expect(names(await search({ filters: { custom_scopes: 'users_create' } }))).toEqual(['manager'])
    expect(names(await search({ query: 'ann' }))).toEqual(['ann'])
    expect((await search({ count: true })).json()).toEqual({ count: 5 })
    expect((await search({ filters: { username: ['ann', 'x'] }, count: true })).json()).toEqual({ count: 1 })
    expect(names(await search())).toHaveLength(5)
    expect(names(await search({ limit: 0 }))).toEqual([])
  })
})
