import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TemporaryServer } from '../../../test/temporary-server.ts'
import { openTemporaryServer } from '../../../test/temporary-server.ts'

const writing = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

let server: TemporaryServer
let token: string
let other: string

beforeAll(async () => {
  server = await openTemporaryServer({
    api: [
      (app, tools) => {
        const config = { permission: 'signed-in' } as const
        app.get('/users/a', { config }, (request) => ({ query: request.query }))
        app.route({
          method: [...writing],
          url: '/users/a',
          config,
          handler: (request) => ({ user: request.identity?.username }),
        })
        app.get('/users/open', { config: { permission: 'public' } }, async (request) => ({
          user: (await tools.identify(request))?.username ?? null,
        }))
      },
    ],
  })
  token = (await server.as('admin')).authorization.slice(7)
  other = (await server.as('admin')).authorization.slice(7)
})
afterAll(() => server.close())

const places = (value: string) => ({
  authorization: { authorization: `Bearer ${value}` },
  'authorization in lower case': { authorization: `bearer   ${value}` },
  'x-authtoken': { 'x-authtoken': value },
  'x-token': { 'x-token': value },
  'x-token with Bearer': { 'x-token': `Bearer ${value}` },
  cookie: { cookie: `theme=dark; access_token=${value}; a=b` },
  'quoted cookie': { cookie: `access_token="${value}"` },
})

const get = (headers: Record<string, string>, url = '/api/v1/users/a') => server.app.inject({ url, headers })

describe('the access token', () => {
  it.each(Object.keys(places('')))('is refused in %s when it is unknown', async (place) => {
    const reply = await get(Object.entries(places('nonsense')).find(([name]) => name === place)?.[1] ?? {})
    expect(reply.statusCode).toBe(401)
    expect(reply.json()).toMatchObject({ error: 'INVALID_ACCESS_TOKEN', code: 401 })
    expect(reply.headers['www-authenticate']).toBe('Bearer')
  })

  it.each([
    ['nothing', {}],
    ['an empty one', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['another cookie', { cookie: 'xaccess_token=1' }],
  ])('is missing in %s', async (_name, headers: Record<string, string>) => {
    const reply = await get(headers)
    expect(reply.statusCode).toBe(401)
    expect(reply.json().message).toMatch(/auth\/signin/)
  })

  it('is refused when it is absurdly long', async () => {
    expect((await get({ 'x-token': 'a'.repeat(600) })).statusCode).toBe(401)
  })

  it('is refused when two places contradict each other', async () => {
    const both = { authorization: `Bearer ${token}` }
    const contradictions = [
      await get({ ...both, 'x-token': other }),
      await get({ cookie: `access_token=${other}` }, `/api/v1/users/a?access_token=${token}`),
      await get(both, `/api/v1/users/a?access_token=${other}`),
      await get({}, `/api/v1/users/a?access_token=${token}&access_token=${other}`),
    ]
    for (const reply of contradictions) {
      expect(reply.statusCode).toBe(401)
      expect(reply.json().message).toMatch(/two different access tokens/)
    }
  })

  it('is refused on an open route too when it is bad, where a handler asks for the caller', async () => {
    expect((await get({ 'x-token': 'nonsense' }, '/api/v1/users/open')).statusCode).toBe(401)
    expect((await get({}, '/api/v1/users/open')).json()).toEqual({ user: null })
    expect((await get({ 'x-token': token }, '/api/v1/users/open')).json()).toEqual({ user: 'admin' })
  })

  it.each(Object.keys(places('')))('is found in %s', async (place) => {
    const reply = await get(Object.entries(places(token)).find(([name]) => name === place)?.[1] ?? {})
    expect(reply.statusCode).toBe(200)
  })

  it('is found in the query, and taken out of it', async () => {
    const reply = await get({}, `/api/v1/users/a?access_token=${token}&b=1`)
    expect(reply.statusCode).toBe(200)
    expect(reply.json()).toEqual({ query: { b: '1' } })
  })

  it('in a header counts before one in a cookie, which the browser adds by itself', async () => {
    const bad = { cookie: 'access_token=nonsense' }
    expect((await get({ authorization: `Bearer ${token}`, ...bad })).statusCode).toBe(200)
    expect(
      (await get({ authorization: 'Bearer nonsense', cookie: `access_token=${token}` })).statusCode,
    ).toBe(401)
  })

  it('may come twice when it is the same', async () => {
    expect((await get({ 'x-token': token, cookie: `access_token=${token}` })).statusCode).toBe(200)
  })
})

describe.each(writing)('a cookie that writes with %s', (method) => {
  const write = (headers: Record<string, string>) =>
    server.app.inject({
      method,
      url: '/api/v1/users/a',
      headers: { host: 'quoin.example:8080', cookie: `access_token=${token}`, ...headers },
    })

  it.each([
    ['without a word of where it comes from', {}],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from a sister site', { 'sec-fetch-site': 'same-site' }],
    ['from an address that was typed', { 'sec-fetch-site': 'none' }],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another port', { origin: 'http://quoin.example:9090' }],
    ['from nowhere', { origin: 'null' }],
    [
      'from another site with our origin',
      { origin: 'http://quoin.example:8080', 'sec-fetch-site': 'cross-site' },
    ],
  ])('is refused %s', async (_name, headers: Record<string, string>) => {
    expect((await write(headers)).statusCode).toBe(401)
  })

  it.each([
    ['from our pages', { 'sec-fetch-site': 'same-origin' }],
    ['from our origin', { origin: 'http://quoin.example:8080' }],
    ['from our origin behind TLS', { origin: 'https://quoin.example:8080' }],
    ['with the token in a header as well', { 'x-token': 'same' }],
  ])('is taken %s', async (_name, headers: Record<string, string>) => {
    const input = 'x-token' in headers ? { 'x-token': token } : headers
    expect((await write(input)).json()).toEqual({ user: 'admin' })
  })
})
