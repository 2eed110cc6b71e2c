/** The session of the studio on pages: a cookie with the same token. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TemporaryServer } from '../../../../test/temporary-server.ts'
import { openTemporaryServer } from '../../../../test/temporary-server.ts'

let server: TemporaryServer
beforeAll(async () => {
  server = await openTemporaryServer()
  await server.addUser('ann', [])
  await server.addUser('bob', [])
})
afterAll(() => server.close())

const here = { 'sec-fetch-site': 'same-origin' }
type Headers = Readonly<Record<string, string>>

async function share(headers: Headers, payload?: object) {
  const reply = await server.app.inject({
    ...{ method: 'POST', url: '/api/v1/auth/pages', headers },
    ...(payload && { payload }),
  })
  return { status: reply.statusCode, body: reply.json(), cookie: reply.headers['set-cookie'] }
}

const tokenOf = async (user: string) => (await server.as(user)).authorization.slice(7)
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const cookie = (token: string) => ({ cookie: `theme=dark; access_token=${token}` })

test('an anonymous caller, and a cookie from another site, get nothing', async () => {
  expect(await share(here)).toMatchObject({ status: 401, cookie: undefined })
  const token = await tokenOf('ann')
  expect(await share(cookie(token))).toMatchObject({ status: 401, cookie: undefined })
})

test.each([
  ['without a word of where it comes from', {}],
  ['from another site', { 'sec-fetch-site': 'cross-site' }],
  ['from a sister site', { 'sec-fetch-site': 'same-site' }],
  ['from another origin', { origin: 'https://evil.example' }],
])('no cookie is set for a request %s', async (_name, headers: Headers) => {
  const reply = await share({ ...bearer(await tokenOf('ann')), ...headers }, { replace: true })
  expect(reply).toEqual({ status: 200, body: { shared: false }, cookie: undefined })
})

test('the cookie is the session, for no script and no other site, until the browser is closed or for 14 days', async () => {
  const token = await tokenOf('ann')
  const usual = `access_token=${token}; Path=/; HttpOnly; SameSite=Lax`
  expect(await share({ ...bearer(token), ...here })).toEqual({
    ...{ status: 200, body: { shared: true }, cookie: usual },
  })
  expect((await share({ ...bearer(token), ...here }, { stay: true })).cookie).toBe(
    `${usual}; Max-Age=1209600`,
  )
  const tls = { ...here, 'x-forwarded-proto': 'https' }
  expect((await share({ ...bearer(token), ...tls })).status).toBe(200)
})

test('another live session on pages stays unless it is to be replaced; a dead one does not', async () => {
  const [ann, bob] = [await tokenOf('ann'), await tokenOf('bob')]
  const asked = { ...bearer(ann), ...here }
  expect(await share({ ...asked, ...cookie(bob) })).toMatchObject({
    body: { shared: false },
    cookie: undefined,
  })
  expect(await share({ ...asked, ...cookie(bob) }, { replace: true })).toMatchObject({
    ...{ body: { shared: true }, cookie: expect.stringContaining(ann) },
  })
  expect(await share({ ...asked, ...cookie('nonsense') })).toMatchObject({ body: { shared: true } })
  const me = await server.app.inject({ url: '/api/v1/users/me', headers: bearer(bob) })
  expect(me.statusCode).toBe(200)
})

test('signing out ends the session on pages and takes the cookie away; that of another session stays', async () => {
  const [ann, bob] = [await tokenOf('ann'), await tokenOf('bob')]
  const signOut = (headers: Headers) =>
    server.app.inject({ method: 'POST', url: '/api/v1/auth/signout', headers: { ...here, ...headers } })
  const out = await signOut({ ...bearer(ann), ...cookie(ann) })
  expect([out.statusCode, out.headers['set-cookie']]).toEqual([
    200,
    expect.stringContaining('access_token=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0'),
  ])
  expect((await server.app.inject({ url: '/api/v1/users/me', headers: cookie(ann) })).statusCode).toBe(401)
  const other = await tokenOf('ann')
  expect((await signOut({ ...bearer(other), ...cookie(bob) })).headers['set-cookie']).toBeUndefined()
  expect((await server.app.inject({ url: '/api/v1/users/me', headers: cookie(bob) })).statusCode).toBe(200)
})
