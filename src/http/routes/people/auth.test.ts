import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TemporaryServer } from '../../../../test/temporary-server.ts'
import { openTemporaryServer, userPassword } from '../../../../test/temporary-server.ts'

let server: TemporaryServer

beforeAll(async () => {
  server = await openTemporaryServer()
  await server.addUser('ann', [])
  await server.addUser('locked', [])
})
afterAll(() => server.close())

async function post(url: string, payload?: object, headers: Record<string, string> = {}) {
  server.clock.now += 1000
  return server.app.inject({
    method: 'POST',
    url: `/api/v1/auth/${url}`,
    headers,
    ...(payload && { payload }),
  })
}

const signIn = (username: string, password: string, url = 'signin') => post(url, { username, password })

describe('signing in', () => {
  it.each([
    ['no body', undefined, 400, 'NO_BODY_GIVEN'],
    ['no password', { username: 'ann' }, 400, 'INVALID_BODY'],
    ['an empty name', { username: '', password: 'a' }, 400, 'INVALID_BODY'],
    ['a name that is no text', { username: 1, password: 'a' }, 400, 'INVALID_BODY'],
    ['an unknown field', { username: 'ann', password: 'a', admin: true }, 400, 'INVALID_BODY'],
    ['a long body', { username: 'ann', password: 'a'.repeat(20_000) }, 413, 'FILE_TOO_BIG'],
    ['a wrong password', { username: 'ann', password: 'wrong password' }, 401, 'INVALID_CREDENTIALS'],
    ['an unknown user', { username: 'nobody', password: userPassword }, 401, 'INVALID_CREDENTIALS'],
  ])('is refused with %s', async (_name, payload, status, error) => {
    const reply = await post('signin', payload)
    expect([reply.statusCode, reply.json().error]).toEqual([status, error])
    expect(reply.headers['cache-control']).toBe('no-store')
  })

  it('tells an unknown user from a wrong password in nothing', async () => {
    const [one, two] = [await signIn('ann', 'wrong password'), await signIn('nobody', 'wrong password')]
    expect(one.json()).toEqual(two.json())
  })

  it('is refused for a locked user, also with the right password, and says for how long', async () => {
    for (let i = 0; i < 3; i++) await signIn('locked', 'wrong password')
    const reply = await signIn('locked', userPassword)
    expect([reply.statusCode, reply.json().error]).toEqual([429, 'TOO_MANY_LOGIN_ATTEMPTS'])
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
  })

  it.each(['signin', 'login'])('gives a token at /auth/%s', async (url) => {
    const reply = await signIn('ann', userPassword, url)
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['cache-control']).toBe('no-store')
    expect(reply.headers['set-cookie']).toBeUndefined()
    expect(reply.json()).toEqual({
      access_token: expect.any(String),
      expiry: Math.floor(server.clock.now / 1000) + 1_209_600,
      expiry_renew: 1_209_600,
      verified: true,
      user: {
        _meta: { guid: expect.any(String) },
        username: 'ann',
        email: null,
        firstname: '',
        lastname: '',
        language: 'en',
      },
      ip: '127.0.0.1',
    })
  })

  it('takes what older clients send with it', async () => {
    const payload = { username: 'ann', password: userPassword, entity: 1, request_refresh_token: true }
    expect((await post('signin', payload)).statusCode).toBe(200)
  })
})

describe('signing out', () => {
  it('needs a token', async () => {
    expect((await post('signout')).statusCode).toBe(401)
  })

  it.each([
    ['signout', 'header'],
    ['logout', 'header'],
    ['signout', 'query'],
  ])('kills the token at /auth/%s, sent in the %s, and no other one', async (url, place) => {
    const [token, other] = [await server.as('ann'), await server.as('ann')]
    const reply =
      place === 'header'
        ? await post(url, undefined, token)
        : await post(`${url}?access_token=${token.authorization.slice(7)}`)
    expect([reply.statusCode, reply.json()]).toEqual([200, { logout: true }])
    const me = (headers: Record<string, string>) => server.app.inject({ url: '/api/v1/users/me', headers })
    expect((await me(token)).statusCode).toBe(401)
    expect((await me(other)).statusCode).toBe(200)
  })

  it('takes an empty JSON body', async () => {
    const headers = { 'content-type': 'application/json', ...(await server.as('ann')) }
    expect((await post('signout', undefined, headers)).statusCode).toBe(200)
  })
})

describe('public routes', () => {
  it('answer 100 requests a second from one address, and others all the while', async () => {
    server.clock.now += 10_000
    const info = (remoteAddress: string) => server.app.inject({ url: '/api/v1/info', remoteAddress })
    for (let i = 0; i < 100; i++) expect((await info('203.0.113.7')).statusCode).toBe(200)
    const reply = await info('203.0.113.7')
    expect([reply.statusCode, reply.json().error, reply.headers['retry-after']]).toEqual([
      429,
      'RATE_LIMITED',
      '1',
    ])
    expect((await info('203.0.113.8')).statusCode).toBe(200)
    expect((await info('2001:db8:1:2::1')).statusCode).toBe(200)
    server.clock.now += 1000
    expect((await info('203.0.113.7')).statusCode).toBe(200)
  })

  it('count a customer’s IPv6 addresses as one, and mapped IPv4 as IPv4', async () => {
    server.clock.now += 10_000
    const info = (remoteAddress: string) => server.app.inject({ url: '/api/v1/info', remoteAddress })
    for (let i = 0; i < 100; i++) await info(`2001:db8:9:9::${i.toString(16)}`)
    expect((await info('2001:db8:9:9:ffff::1')).statusCode).toBe(429)
    expect((await info('2001:db8:9:8::1')).statusCode).toBe(200)
    for (let i = 0; i < 100; i++) await info('203.0.113.20')
    expect((await info('::ffff:203.0.113.20')).statusCode).toBe(429)
  })

  it('are not limited for this machine in development', async () => {
    const development = await openTemporaryServer({ settings: { environment: 'development', rateLimit: 1 } })
    const info = (remoteAddress: string) => development.app.inject({ url: '/api/v1/info', remoteAddress })
    for (let i = 0; i < 5; i++) expect((await info('127.0.0.1')).statusCode).toBe(200)
    expect((await info('203.0.113.7')).statusCode).toBe(200)
    expect((await info('203.0.113.7')).statusCode).toBe(429)
    await development.close()
  })

  it('need no token, and do not mind a bad one', async () => {
    const reply = await server.app.inject({ url: '/api/v1/info', headers: { 'x-token': 'nonsense' } })
    expect(reply.json()).toEqual({
      name: 'Quoin',
      version: '9.8.7',
      api: 'v1',
      environment: 'production',
      host: 'here',
      node: 'node-1',
      nodes: 1,
      started: 1_700_000_000,
      flags: { storage: 'sqlite' },
    })
  })
})
