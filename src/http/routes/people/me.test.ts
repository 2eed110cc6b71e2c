import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TemporaryServer } from '../../../../test/temporary-server.ts'
import { openTemporaryServer, userPassword } from '../../../../test/temporary-server.ts'

let server: TemporaryServer
let headers: { authorization: string }
const newPassword = 'another good password'

beforeAll(async () => {
  server = await openTemporaryServer()
})
afterAll(() => server.close())

let count = 0
let username: string
beforeEach(async () => {
  username = `user-${++count}`
  await server.addUser(username, [])
  headers = await server.as(username)
})

const me = () => server.app.inject({ url: '/api/v1/users/me', headers })
const change = (payload: object) =>
  server.app.inject({ method: 'PUT', url: '/api/v1/users/me', headers, payload })

describe('one’s own record', () => {
  it.each([
    ['nothing', {}, undefined],
    ['scopes', { custom_scopes: ['*'] }, ['custom_scopes']],
    ['groups', { groups: [] }, ['groups']],
    ['the name to sign in with', { username: 'admin' }, ['username']],
    ['activity', { is_active: true }, ['is_active']],
    ['a time zone that does not exist', { timezone: 'Mars/Olympus' }, ['timezone']],
    ['a password without the current one', { password: newPassword }, ['current_password']],
    ['a wrong current password', { password: newPassword, current_password: 'guess' }, ['current_password']],
    ['a short password', { password: 'short', current_password: userPassword }, ['password']],
  ])('is not changed by %s', async (_name, payload, fields) => {
    const before = (await me()).json()
    const reply = await change(payload)
    expect([reply.statusCode, reply.json().error, reply.json().fields]).toEqual([400, 'INVALID_BODY', fields])
    // Wrong guesses are counted, and the count is all that changes.
    const { _meta, login_attempts, ...after } = (await me()).json()
    expect(before).toMatchObject(after)
    await server.as(username)
  })

  it('guesses at the password lock the user', async () => {
    for (let i = 0; i < 3; i++) await change({ password: newPassword, current_password: 'guess' })
    const reply = await change({ password: newPassword, current_password: userPassword })
    expect(reply.json().error).toBe('TOO_MANY_LOGIN_ATTEMPTS')
  })

  it('shows and changes what users may change', async () => {
    const payload = { first_name: 'Ann', lastname: 'Lee', language: 'nl-NL', timezone: 'Europe/Amsterdam' }
    const reply = await change(payload)
    const shown = { firstname: 'Ann', lastname: 'Lee', language: 'nl-NL', timezone: 'Europe/Amsterdam' }
    expect(reply.json()).toMatchObject({ username, ...shown })
    expect((await me()).json()).toMatchObject(shown)
  })

  it('a new password signs out everywhere and works from then on', async () => {
    const reply = await change({ password: newPassword, current_password: userPassword })
    expect(reply.statusCode).toBe(200)
    expect(reply.body).not.toContain('password')
    expect((await me()).statusCode).toBe(401)
    await expect(server.as(username)).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' })
    headers = await server.as(username, newPassword)
    expect((await me()).statusCode).toBe(200)
  })
})
