/** Sign-in with a real provider of OpenID Connect, and with providers that are wrong in one respect each. */
import { mkdtemp, readFile } from 'node:fs/promises'
import type { RequestListener, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/command.ts'
import { runBrowserLogin } from '../../src/cli/sign-in/run-login.ts'
import { readOptions } from '../../src/options/options.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { findAll } from '../../src/storage/find-documents.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { clientId, clientSecret, type OidcServer, openBrowser, openOidcServer } from '../oidc-server.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

let fixture: TestQuoin
let site: string
let oidc: OidcServer
let provider: string
let github: LocalServer
let answerAsGitHub: RequestListener = (_request, response) => response.end()
/** Another in each run: a retry finds the users of before. */
const run = Date.now().toString(36)
let users = 0
beforeAll(async () => {
  const port = await freePort()
  site = `http://127.0.0.1:${port}`
  oidc = await openOidcServer(site, 'acme')
  github = await startLocalServer((request, response) => answerAsGitHub(request, response))
  fixture = await openTestQuoin({
    ...{ QUOIN_PORT: String(port), QUOIN_HOST: '127.0.0.1', QUOIN_PUBLIC_URL: site, QUOIN_RATE_LIMIT: '0' },
    ...{
      QUOIN_SECRETS_KEY: '0f'.repeat(32),
      QUOIN_ALLOWED_HOSTS: `127.0.0.1:${oidc.port},127.0.0.1:${github.port}`,
    },
  })
  await fixture.quoin.server.listen()
  await fixture.manage('POST', '/_system/secrets', { name: 'acme_client', value: clientSecret })
  const made = await fixture.manage('POST', '/_system/signin-providers', {
    ...{ name: 'acme', title: 'Acme', issuer: oidc.issuer, client_id: clientId, secret: 'acme_client' },
    scopes: 'openid email profile groups',
  })
  provider = guidOf(made)
})
afterAll(async () => {
  await fixture?.close()
  await oidc?.close()
  await github?.close()
})
beforeEach(async () => {
  oidc.lie = undefined
  await change({ create_users: true, domains: [], required_domains: [], groups: [], groups_expression: '' })
  await change({
    trusts_factor: false,
    sign_out: false,
    is_active: true,
    issuer: oidc.issuer,
    client_id: clientId,
  })
})
const change = (fields: JsonObject) => fixture.manage('PUT', `/_system/signin-providers/${provider}`, fields)

/** Someone new at the provider, who signs in next. */
function someone(claims: JsonObject = {}): string {
  const subject = `s${++users}-${run}`
  oidc.accounts.set(subject, {
    email: `${subject}@acme.test`,
    email_verified: true,
    given_name: 'Ada',
    ...claims,
  })
  oidc.account = subject
  return subject
}
const start = (next = '/docs') => `${site}/_signin/acme?next=${encodeURIComponent(next)}`
/** Of the session of a browser; undefined where there is none. */
async function userIn(browser: ReturnType<typeof openBrowser>): Promise<JsonObject | undefined> {
  const token = browser.cookie(new URL(site).host, 'access_token')
  if (token === undefined) return undefined
  const reply = await fixture.send('GET', '/users/me', { headers: { authorization: `Bearer ${token}` } })
  return reply.status === 200 ? objectOf(reply.body) : undefined
}
/** What the sign-in page says, and that no one is signed in. */
async function refusal(browser: ReturnType<typeof openBrowser>, address = start()): Promise<string> {
  const { url, text } = await browser.visit(address)
  expect([url.pathname, await userIn(browser)]).toEqual(['/login', undefined])
  return /role="(?:alert|status)"[^>]*>(?:<[^>]*>)*([^<]+)/.exec(text)?.[1] ?? text
}
/** 64 MB of blanks, or as much of them as the other side reads. */
async function endless(response: ServerResponse): Promise<void> {
  const piece = Buffer.alloc(1024 * 1024, ' ')
  response.writeHead(200, { 'content-type': 'application/json' })
  for (let sent = 0; sent < 64 && !response.destroyed; sent += 1)
    await new Promise((written) => response.write(piece, written))
  response.end()
}
function sendJson(response: ServerResponse, value: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
const atCallback = (url: URL) => url.pathname.endsWith('/callback')

test('a new user signs in with the provider and goes on where the address said', async () => {
  const subject = someone()
  const browser = openBrowser()
  expect((await browser.visit(`${site}/login?next=%2Fdocs`)).text).toContain('Sign in with Acme')
  const { url, status } = await browser.visit(start())
  expect([url.pathname, status]).toEqual(['/docs', 200])
  expect(await userIn(browser)).toMatchObject({ username: `${subject}@acme.test`, firstname: 'Ada' })
  const again = openBrowser()
  await again.visit(start())
  expect(guidOf(await userIn(again))).toBe(guidOf(await userIn(browser)))
  const audit = objectsOf(await fixture.manage('POST', '/_system/auditlogs', { limit: 20 }))
  expect(audit.map(({ category, action }) => `${category} ${action}`)).toContain('provider_accounts created')
  expect(JSON.stringify(audit)).not.toContain(clientSecret)
})

test('a provider that may create no users refuses unknown ones, and those of other domains', async () => {
  someone()
  await change({ create_users: false })
  expect(await refusal(openBrowser())).toContain('has no access here')
  await change({ create_users: true, domains: ['other.test'] })
  expect(await refusal(openBrowser())).toContain('has no access here')
  await change({ domains: ['acme.test'] })
  someone({ email_verified: false })
  expect(await refusal(openBrowser())).toContain('has no access here')
})

test('an account is linked only when the provider and the user have both confirmed its address', async () => {
  const subject = someone()
  const email = `${subject}@acme.test`
  const body = { username: subject, email, password: userPassword }
  const guid = guidOf(await fixture.manage('POST', '/users', body))
  expect(await refusal(openBrowser())).toContain('was not confirmed')
  const session = fixture.quoin.database.session()
  await session.update(systemStorages.users, guid, [{ op: 'set', field: 'confirmed_email', value: email }])
  await session.transaction.commit()
  oidc.accounts.set(subject, { email, email_verified: false })
  const unverified = openBrowser()
  await unverified.visit(start())
  expect(guidOf(await userIn(unverified))).not.toBe(guid)
  // The same address at another account of the provider, verified there.
  const other = someone({ email })
  const browser = openBrowser()
  await browser.visit(start())
  expect(guidOf(await userIn(browser))).toBe(guid)
  const ofUser = { kind: 'term', field: 'user_guid', value: guid } as const
  const stored = await findAll(fixture.quoin.database.session(), systemStorages.providerAccounts, ofUser, 10)
  expect(stored).toMatchObject([{ subject: other }])
})

test('a state of another browser, an old one and none are refused', async () => {
  someone()
  const [attacker, victim] = [openBrowser(), openBrowser()]
  const { url } = await attacker.visit(start(), atCallback)
  expect(await refusal(victim, url.href)).toContain('in another browser window')
  await victim.visit(start(), atCallback)
  expect(await refusal(victim, url.href)).toContain('in another browser window')
  url.searchParams.delete('state')
  expect(await refusal(attacker, url.href)).toContain('in another browser window')
  const late = openBrowser()
  const begun = await late.visit(start(), atCallback)
  fixture.advance(16 * 60_000)
  expect(await refusal(late, begun.url.href)).toContain('too long ago')
})

test('a code works once, also in the same browser', async () => {
  someone()
  const browser = openBrowser()
  const { url } = await browser.visit(start(), atCallback)
  const cookie = `quoin_signin=${browser.cookie(url.host, 'quoin_signin')}`
  const first = await fetch(url, { headers: { cookie }, redirect: 'manual' })
  expect(first.headers.get('location')).toBe('/docs')
  const second = await fetch(url, { headers: { cookie }, redirect: 'manual' })
  expect(second.headers.get('location')).toMatch(/^\/login/)
})

test.each<[string, (claims: JsonObject) => JsonObject]>([
  ['another issuer', (claims) => ({ ...claims, iss: 'https://elsewhere.test' })],
  ['another audience', (claims) => ({ ...claims, aud: 'another client' })],
  ['another nonce', (claims) => ({ ...claims, nonce: 'x' })],
  [
    'a clock of tomorrow',
    (claims) => ({ ...claims, iat: Number(claims.iat) + 86_400, nbf: Number(claims.iat) + 86_400 }),
  ],
  ['a clock of yesterday', (claims) => ({ ...claims, exp: Number(claims.iat) - 86_400 })],
  ['no subject', ({ sub: _sub, ...claims }) => claims],
])('a token with %s signs no user in', async (_name, lie) => {
  someone()
  oidc.lie = lie
  expect(await refusal(openBrowser())).toContain('The sign-in with Acme failed')
})

test('changed keys of the provider count at once, and keys of others never', async () => {
  someone()
  await openBrowser().visit(start())
  oidc.changeKeys()
  const browser = openBrowser()
  await browser.visit(start())
  expect(await userIn(browser)).toBeDefined()
  const other = await openOidcServer(site, 'acme')
  const token = other.signed({ ...logoutClaims(), sub: 'x' })
  await other.close()
  expect((await logout(token)).status).toBe(400)
  expect((await logout(oidc.signed({ ...logoutClaims(), sub: 'x' }))).status).toBe(200)
})

test('a refusal at the provider, and a provider that is gone, are said', async () => {
  oidc.account = undefined
  expect(await refusal(openBrowser())).toContain('did not let you in')
  const gone = await startLocalServer((_request, response) => response.end())
  await gone.close()
  await change({ issuer: `http://127.0.0.1:${gone.port}` })
  expect(await refusal(openBrowser())).toContain('cannot be reached')
  // This port of the machine is not among the hosts that the cluster allows.
  const log = JSON.stringify(await fixture.systemLog())
  expect(log).toContain('unless the cluster allows that host')
  expect(log).not.toContain(clientSecret)
})

test.each<[string, string, (response: ServerResponse) => void]>([
  ['a reply without an end', 'cannot be reached', (response) => void endless(response)],
  ['no reply', 'cannot be reached', (response) => response.destroy()],
  [
    'a redirect to another address',
    'failed',
    (response) => response.writeHead(302, { location: oidc.issuer }).end(),
  ],
  ['no JSON', 'failed', (response) => response.end('<html>')],
  [
    'the facts of another issuer',
    'failed',
    (response) => sendJson(response, { issuer: 'https://other.test' }),
  ],
  ['100,000 lists in lists', 'failed', (response) => response.end('['.repeat(100_000))],
])('a provider that answers with %s, which is said as %j, lets no one in', async (_, said, answer) => {
  answerAsGitHub = (_request, response) => answer(response)
  await change({ issuer: github.url })
  expect(await refusal(openBrowser())).toContain(said)
  await change({ issuer: oidc.issuer })
  const subject = someone()
  const browser = openBrowser()
  await browser.visit(start())
  expect(await userIn(browser)).toMatchObject({ email: `${subject}@acme.test` })
})

test('groups follow an expression over the claims, within the groups of the provider', async () => {
  const group = async (name: string) =>
    guidOf(
      await fixture.manage('POST', '/_system/authentication-groups', {
        name: `${name} ${run} ${users}`,
        scopes: [],
      }),
    )
  const nameOf = (name: string, at = users) => `${name} ${run} ${at}`
  const at = users
  const [sales, staff, own] = [await group('Sales'), await group('Staff'), await group('Own')]
  await change({ groups: [sales, staff], groups_expression: 'claims.groups' })
  const subject = someone({ groups: [nameOf('sales', at), nameOf('Own', at), 'unknown'] })
  const browser = openBrowser()
  await browser.visit(start())
  const user = objectOf(await userIn(browser))
  expect(user.groups).toEqual([sales])
  await fixture.manage('PUT', `/users/${guidOf(user)}`, { groups: [sales, own] })
  oidc.accounts.set(subject, { groups: [nameOf('Staff', at)] })
  await openBrowser().visit(start())
  expect(objectOf(await fixture.manage('GET', `/users/${guidOf(user)}`)).groups).toEqual([own, staff])
  oidc.accounts.set(subject, {})
  await openBrowser().visit(start())
  expect(objectOf(await fixture.manage('GET', `/users/${guidOf(user)}`)).groups).toEqual([own])
  // An expression that fails takes no group away.
  await change({ groups_expression: '1 / claims.nothing.x' })
  oidc.accounts.set(subject, { nothing: { x: 'y' } })
  expect(await refusal(openBrowser())).toContain('cannot be reached')
  expect(objectOf(await fixture.manage('GET', `/users/${guidOf(user)}`)).groups).toEqual([own])
})

test('the second factor of a user is asked for, unless the provider asks itself', async () => {
  const id = guidOf(
    await fixture.manage('POST', '/_system/authentication-groups', {
      ...{ name: `Factor ${run} ${++users}`, scopes: [], second_factor_days: 0 },
    }),
  )
  await change({ groups: [id] })
  someone()
  const browser = openBrowser()
  const { url } = await browser.visit(start())
  expect([url.pathname, url.searchParams.get('next')]).toEqual(['/login/code', '/docs'])
  expect(await userIn(browser)).toBeUndefined()
  await change({ trusts_factor: true })
  const trusted = openBrowser()
  expect((await trusted.visit(start())).url.pathname).toBe('/docs')
})

test('a domain that requires the provider takes no passwords, but those of administrators', async () => {
  const add = async (scopes: readonly string[]) => {
    const username = `u${++users}-${run}`
    const body = {
      username,
      email: `${username}@acme.test`,
      password: userPassword,
      custom_scopes: [...scopes],
    }
    await fixture.manage('POST', '/users', body)
    return { username, password: userPassword }
  }
  const [plain, boss] = [await add([]), await add(['*'])]
  const signIn = async (body: JsonObject) => (await fixture.send('POST', '/auth/signin', { body })).status
  expect(await signIn(plain)).toBe(200)
  await change({ required_domains: ['acme.test'] })
  expect([await signIn(plain), await signIn(boss)]).toEqual([403, 200])
  // A wrong password says nothing of the domain.
  expect(await signIn({ ...plain, password: 'a wrong password' })).toBe(401)
})

function logoutClaims() {
  return {
    ...{ iss: oidc.issuer, aud: clientId, iat: Math.floor(fixture.now() / 1000), jti: 'j1' },
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  }
}
function logout(token: string) {
  const body = new URLSearchParams({ logout_token: token })
  return fetch(`${site}/_signin/acme/logout`, { method: 'POST', body })
}

test('the provider ends sessions of a user who is removed there, and no later ones', async () => {
  const subject = someone()
  const browser = openBrowser()
  await browser.visit(start())
  const claims = { ...logoutClaims(), sub: subject }
  const now = claims.iat
  const wrong: JsonObject[] = [
    { ...claims, iss: 'https://elsewhere.test' },
    { ...claims, aud: 'another' },
    { ...claims, iat: now - 3600 },
    { ...claims, nonce: 'n' },
    { ...claims, events: {} },
    Object.fromEntries(Object.entries(claims).filter(([name]) => name !== 'sub')),
  ]
  for (const one of wrong) expect((await logout(oidc.signed(one))).status).toBe(400)
  for (const text of ['', 'x', `${oidc.signed(claims).slice(0, -8)}AAAAAAAA`])
    expect((await logout(text)).status).toBe(400)
  expect(await userIn(browser)).toBeDefined()
  expect((await logout(oidc.signed({ ...claims, sub: 'unknown' }))).status).toBe(200)
  expect(await userIn(browser)).toBeDefined()
  expect((await logout(oidc.signed(claims))).status).toBe(200)
  expect(await userIn(browser)).toBeUndefined()
  fixture.advance(120_000)
  const later = openBrowser()
  await later.visit(start())
  expect((await logout(oidc.signed(claims))).status).toBe(200)
  expect(await userIn(later)).toBeDefined()
})

test('signing out on a page signs out at the provider too, where it is set', async () => {
  await change({ sign_out: true })
  someone()
  const browser = openBrowser()
  await browser.visit(start())
  const { text } = await browser.visit(`${site}/logout`)
  const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
    ([, n = '', v = '']) => [n, v],
  )
  const body = new URLSearchParams(fields)
  const reply = await browser.ask(`${site}/logout`, { method: 'POST', body, headers: { origin: site } })
  expect(reply.to?.href).toMatch(`${oidc.issuer}/session/end?post_logout_redirect_uri=`)
  expect(await userIn(browser)).toBeUndefined()
})

test('a provider gives only groups whose scopes its manager holds, and has no address without TLS', async () => {
  const username = `m${++users}-${run}`
  await fixture.addUser(username, ['signin_providers_update', 'signin_providers_view'])
  const path = `/_system/signin-providers/${provider}`
  const as = username
  expect((await fixture.send('GET', path, { as })).status).toBe(200)
  const boss = { name: `Boss ${run} ${users}`, scopes: ['*'] }
  const groups = [guidOf(await fixture.manage('POST', '/_system/authentication-groups', boss))]
  expect((await fixture.send('PUT', path, { as, body: { groups } })).status).toBe(403)
  for (const issuer of [
    'http://acme.test',
    'https://a:b@acme.test',
    'https://acme.test/.well-known/openid-configuration',
  ]) {
    const body = { issuer }
    expect((await fixture.send('PUT', path, { as: 'admin', body })).body).toMatchObject({
      fields: ['issuer'],
    })
  }
  const body = { groups_expression: 'claim.groups' }
  expect((await fixture.send('PUT', path, { as: 'admin', body })).body).toMatchObject({
    fields: ['groups_expression'],
  })
})

test('a sign-in that leads into the studio hands its session over once', async () => {
  someone()
  const browser = openBrowser()
  const { url } = await browser.visit(start('/studio/blueprints'), ({ pathname }) =>
    pathname.startsWith('/studio'),
  )
  expect([url.pathname, url.hash]).toEqual(['/studio/blueprints', expect.stringMatching(/^#session=qc_/)])
  const exchange = (origin: string) =>
    browser.ask(`${site}/api/v1/auth/exchange`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ code: url.hash.slice('#session='.length) }),
    })
  expect((await exchange('https://elsewhere.test')).status).toBe(401)
  const taken = await exchange(site)
  expect(JSON.parse(taken.text)).toMatchObject({ access_token: browser.cookie(url.host, 'access_token') })
  expect((await exchange(site)).status).toBe(401)
})

test('GitHub, which has no OpenID Connect: the verified primary address counts', async () => {
  const asked: string[] = []
  let emails: JsonObject[] = []
  const id = 1_000_000 + (Date.now() % 1_000_000)
  answerAsGitHub = (request, response) => {
    const url = new URL(request.url ?? '', 'http://local')
    asked.push(`${url.pathname} ${request.headers.authorization ?? ''}`.trim())
    response.setHeader('content-type', 'application/json')
    if (url.pathname === '/login/oauth/access_token')
      response.end(
        JSON.stringify({ access_token: 'gho_x', token_type: 'bearer', scope: 'read:user,user:email' }),
      )
    else
      response.end(
        JSON.stringify(url.pathname === '/api/v3/user' ? { id, login: 'octo', name: 'Octo' } : emails),
      )
  }
  await fixture.manage('POST', '/_system/signin-providers', {
    ...{
      name: `github-${run}`,
      title: 'GitHub',
      kind: 'github',
      issuer: github.url,
      client_id: 'x',
      secret: 'acme_client',
    },
    ...{ scopes: 'read:user user:email', create_users: true },
  })
  const browser = openBrowser()
  const { url } = await browser.visit(
    `${site}/_signin/github-${run}`,
    ({ port }) => port === String(github.port),
  )
  expect([
    url.pathname,
    url.searchParams.get('scope'),
    url.searchParams.get('code_challenge_method'),
  ]).toEqual([...['/login/oauth/authorize', 'read:user user:email', 'S256']])
  emails = [
    { email: `other-${id}@acme.test`, primary: false, verified: true },
    { email: `octo-${id}@acme.test`, primary: true, verified: true },
  ]
  await browser.visit(`${site}/_signin/github-${run}/callback?code=c&state=${url.searchParams.get('state')}`)
  expect(await userIn(browser)).toMatchObject({ username: `octo-${id}@acme.test`, firstname: 'Octo' })
  expect(asked.slice(-2)).toEqual(['/api/v3/user Bearer gho_x', '/api/v3/user/emails Bearer gho_x'])
})

test('quoin login signs in by a browser, and only with what it holds itself', async () => {
  const subject = someone()
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const browser = openBrowser()
  const { promise: shown, resolve } = Promise.withResolvers<string>()
  const refuse = async () => {
    throw new Error('Nothing is read.')
  }
  const terminal: Terminal = {
    ...{ complain: resolve, announce: resolve, print: resolve, readLine: refuse, readSecret: refuse },
    options: () => readOptions({ XDG_CONFIG_HOME: directory }),
    clock: Date.now,
    random: (bytes) => void crypto.getRandomValues(bytes),
  }
  const end = runBrowserLogin(site, terminal)
  const address = /http\S+$/.exec(await shown)?.[0] ?? ''
  expect((await browser.visit(address)).url.pathname).toBe('/login')
  await browser.visit(start())
  const { text } = await browser.visit(address)
  const back = new URL(/http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]+/.exec(text)?.[0] ?? '')
  const code = String(back.searchParams.get('code'))
  for (const body of [{ code }, { code, verifier: 'x'.repeat(43) }])
    expect((await fixture.send('POST', '/auth/exchange', { body })).status).toBe(401)
  expect((await browser.ask(back)).text).toBe('You can close this window.')
  expect(await end).toBe(0)
  const stored = JSON.parse(await readFile(join(directory, 'quoin', 'sign-ins.json'), 'utf8'))
  expect(stored.servers[site].username).toBe(`${subject}@acme.test`)
  const wrong = await browser.visit(`${site}/_signin?port=22&challenge=${'x'.repeat(43)}`)
  expect(wrong.status).toBe(404)
})
