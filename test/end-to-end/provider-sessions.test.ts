/** Sessions that begin with a provider: where they end, how they are handed to the studio, and to `quoin login`. */
import { hash } from 'node:crypto'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/command.ts'
import { runBrowserLogin } from '../../src/cli/sign-in/run-login.ts'
import { readOptions } from '../../src/options/options.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { openBrowser } from '../oidc-server.ts'
import { signInFixture } from './sign-in-provider-fixture.ts'

const { world, change, someone, start, userIn, logoutClaims, logout } = signInFixture()

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
  for (const one of wrong) expect((await logout(world.oidc.signed(one))).status).toBe(400)
  for (const text of ['', 'x', `${world.oidc.signed(claims).slice(0, -8)}AAAAAAAA`])
    expect((await logout(text)).status).toBe(400)
  expect(await userIn(browser)).toBeDefined()
  expect((await logout(world.oidc.signed({ ...claims, sub: 'unknown' }))).status).toBe(200)
  expect(await userIn(browser)).toBeDefined()
  expect((await logout(world.oidc.signed(claims))).status).toBe(200)
  expect(await userIn(browser)).toBeUndefined()
  world.quoin.advance(120_000)
  const later = openBrowser()
  await later.visit(start())
  expect((await logout(world.oidc.signed(claims))).status).toBe(200)
  expect(await userIn(later)).toBeDefined()
})

/** Sends the form of a page as a browser does. */
async function sendForm(browser: ReturnType<typeof openBrowser>, page: URL, text: string) {
  const fields = [
    ...text.matchAll(/<input type="hidden"(?: form="[^"]+")? name="([^"]+)" value="([^"]*)"/g),
  ].map(([, name = '', value = '']) => [name, value])
  const action = /<form[^>]* action="([^"]*)"/.exec(text)?.[1] ?? ''
  const headers = { origin: page.origin }
  return browser.ask(new URL(action, page), { method: 'POST', body: new URLSearchParams(fields), headers })
}

async function signOut(browser: ReturnType<typeof openBrowser>) {
  const { url, text } = await browser.visit(`${world.site}/logout`)
  const reply = await sendForm(browser, url, text)
  expect(await userIn(browser)).toBeUndefined()
  return reply
}

/** Signs in step by step, to see the cookies of the last one. */
async function signIn(browser: ReturnType<typeof openBrowser>) {
  const { url } = await browser.visit(start(), ({ pathname }) => pathname.endsWith('/callback'))
  return browser.ask(url)
}

test('signing out on a page signs out at the provider too, where it is set, without a question', async () => {
  await change({ sign_out: true })
  const browser = openBrowser()
  someone()
  const { cookies } = await signIn(browser)
  const line = cookies.find((one) => one.startsWith('quoin_signout=')) ?? ''
  // Sealed, read by no script, and sent to the page of the sign-out alone.
  expect(line).toMatch(/^quoin_signout=v1\.[0-9a-f]{8}\.[\w-]+; Path=\/logout; HttpOnly; SameSite=Lax/)
  expect(line).not.toContain('eyJ')
  const reply = await signOut(browser)
  const { origin, pathname, searchParams } = reply.to ?? new URL('about:blank')
  expect([origin, pathname]).toEqual([world.oidc.issuer, '/session/end'])
  expect(Object.fromEntries(searchParams)).toEqual({
    id_token_hint: expect.stringMatching(/^eyJ/),
    client_id: 'quoin',
    post_logout_redirect_uri: `${world.site}/login`,
  })
  const page = await browser.ask(reply.to ?? '')
  expect(page.text).toMatch(/<script>document.forms\[0\].submit\(\)<\/script>$/)
  const end = await sendForm(browser, new URL(world.oidc.issuer), page.text)
  expect(end.to?.href).toBe(`${world.site}/login`)
  expect(browser.cookie(new URL(world.site).host, 'quoin_signout')).toBeUndefined()
  const next = someone()
  await browser.visit(start())
  expect(await userIn(browser)).toMatchObject({ username: `${next}@acme.test` })
  expect(JSON.stringify(await everythingWritten())).not.toContain(searchParams.get('id_token_hint'))
})

/** What operators can read of sign-ins. */
async function everythingWritten() {
  const read = (path: string) => world.quoin.manage('POST', path, { limit: 1000 })
  return [await read('/_system/systemlogs/search'), await read('/_system/auditlogs')]
}

test.each([
  ['that no key of the cluster has sealed', { sign_out: true }, 'v1.00000000.AAAA'],
  ['that was changed', { sign_out: true }, 'changed'],
  ['that is missing', { sign_out: true }, 'missing'],
  ['from before the setting was on', { sign_out: false }, ''],
])('with a token %s the provider is asked without it', async (_which, before, cookie) => {
  await change(before)
  const browser = openBrowser()
  someone()
  const { cookies } = await signIn(browser)
  const host = new URL(world.site).host
  const own = browser.cookie(host, 'quoin_signout')
  expect(own !== undefined).toBe(before.sign_out)
  expect(cookies.some((line) => line.startsWith('quoin_signout=;'))).toBe(!before.sign_out)
  await change({ sign_out: true })
  if (cookie === 'missing') browser.forget(host, 'quoin_signout')
  else if (own !== undefined)
    browser.keep(host, 'quoin_signout', cookie === 'changed' ? `${own.slice(0, -4)}AAAA` : cookie)
  const reply = await signOut(browser)
  expect([...(reply.to?.searchParams.keys() ?? [])]).toEqual(['post_logout_redirect_uri', 'client_id'])
  expect((await browser.ask(reply.to ?? '')).text).toContain('Yes, sign me out')
})

test('a sign-in that leads into the studio hands its session over once', async () => {
  someone()
  const browser = openBrowser()
  const { url } = await browser.visit(start('/studio/blueprints'), ({ pathname }) =>
    pathname.startsWith('/studio'),
  )
  expect([url.pathname, url.hash]).toEqual(['/studio/blueprints', expect.stringMatching(/^#session=qc_/)])
  const exchange = (origin: string) =>
    browser.ask(`${world.site}/api/v1/auth/exchange`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ code: url.hash.slice('#session='.length) }),
    })
  expect((await exchange('https://elsewhere.test')).status).toBe(401)
  const taken = await exchange(world.site)
  expect(JSON.parse(taken.text)).toMatchObject({ access_token: browser.cookie(url.host, 'access_token') })
  expect((await exchange(world.site)).status).toBe(401)
})

/** Signs in by the provider and signs out as the studio does. `before`: what happens between the two. */
async function signOutOfStudio(before: (browser: ReturnType<typeof openBrowser>) => unknown = () => {}) {
  someone()
  const browser = openBrowser()
  await signIn(browser)
  const host = new URL(world.site).host
  const authorization = `Bearer ${browser.cookie(host, 'access_token')}`
  await before(browser)
  const reply = await browser.ask(`${world.site}/api/v1/auth/signout`, {
    method: 'POST',
    headers: { authorization },
  })
  return { browser, host, body: JSON.parse(reply.text) }
}

test.each([
  ['the provider has no sign-out', false, () => {}],
  [
    'pages have another session',
    true,
    (browser: ReturnType<typeof openBrowser>) =>
      browser.keep(new URL(world.site).host, 'access_token', 'of-another'),
  ],
])('signing out of the studio goes nowhere where %s', async (_why, sign_out, before) => {
  await change({ sign_out })
  const { browser, body } = await signOutOfStudio(before)
  expect(body).toEqual({ logout: true })
  expect((await browser.ask(`${world.site}/logout`)).to?.pathname).toBe('/login')
})

test('signing out of the studio signs out at the provider too, once', async () => {
  await change({ sign_out: true })
  const { browser, host, body } = await signOutOfStudio()
  expect(body).toEqual({ logout: true, continue: '/logout' })
  expect(await userIn(browser)).toBeUndefined()
  const reply = await browser.ask(new URL(body.continue, world.site))
  expect([reply.status, reply.to?.origin, reply.to?.pathname]).toEqual([
    200,
    world.oidc.issuer,
    '/session/end',
  ])
  expect(reply.to?.searchParams.get('id_token_hint')).toMatch(/^eyJ/)
  for (const name of ['quoin_signout', 'quoin_leaving']) expect(browser.cookie(host, name)).toBeUndefined()
  expect((await browser.ask(`${world.site}/logout`)).to?.pathname).toBe('/login')
})

test('a provider that went meanwhile, or another user who signed in, ends nothing more', async () => {
  await change({ sign_out: true })
  const gone = await signOutOfStudio()
  await change({ sign_out: false })
  expect((await gone.browser.ask(`${world.site}/logout`)).to?.href).toBe(`${world.site}/login`)
  await change({ sign_out: true })
  const { browser } = await signOutOfStudio()
  someone()
  await signIn(browser)
  expect((await browser.ask(`${world.site}/logout`)).to).toBeUndefined()
  expect(await userIn(browser)).toBeDefined()
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
  const end = runBrowserLogin(world.site, terminal)
  const address = /http\S+$/.exec(await shown)?.[0] ?? ''
  expect((await browser.visit(address)).url.pathname).toBe('/login')
  await browser.visit(start())
  const { text } = await browser.visit(address)
  const back = new URL(/http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]+/.exec(text)?.[0] ?? '')
  const code = String(back.searchParams.get('code'))
  // What any page of this computer can ask ends nothing, and is no code.
  for (const [path, status] of [
    ['//', 404],
    ['/?code=x', 404],
    ['/?code=qc_of-elsewhere', 400],
  ] as const)
    expect((await fetch(new URL(back.origin + path))).status).toBe(status)
  for (const body of [{ code }, { code, verifier: 'x'.repeat(43) }])
    expect((await world.quoin.send('POST', '/auth/exchange', { body })).status).toBe(401)
  expect((await browser.ask(back)).text).toBe('You can close this window.')
  expect(await end).toBe(0)
  const stored = JSON.parse(await readFile(join(directory, 'quoin', 'sign-ins.json'), 'utf8'))
  expect(stored.servers[world.site].username).toBe(`${subject}@acme.test`)
  const wrong = await browser.visit(`${world.site}/_signin?port=22&challenge=${'x'.repeat(43)}`)
  expect(wrong.status).toBe(404)
})

test('a session that is handed to a program was confirmed no later, and ends with its provider as the first one', async () => {
  const subject = someone()
  const browser = openBrowser()
  await browser.visit(start())
  world.quoin.advance(240_000)
  const verifier = 'v'.repeat(43)
  const challenge = hash('sha256', verifier, 'base64url')
  const { text } = await browser.visit(`${world.site}/_signin?port=4022&challenge=${challenge}`)
  const code = /code=([\w-]+)/.exec(text)?.[1] ?? ''
  const { status, body } = await world.quoin.send('POST', '/auth/exchange', { body: { code, verifier } })
  expect(status).toBe(200)
  const headers = { authorization: `Bearer ${Object(body).access_token}` }
  const me = () => world.quoin.send('GET', '/users/me', { headers })
  expect((await me()).status).toBe(200)
  world.quoin.advance(120_000)
  const changed = await world.quoin.send('POST', '/users/me/second-factor', { headers })
  expect([changed.status, changed.body]).toMatchObject([403, { error: 'CONFIRMATION_REQUIRED' }])
  expect((await logout(world.oidc.signed({ ...logoutClaims(), sub: subject }))).status).toBe(200)
  expect((await me()).status).toBe(401)
})

test('who has no password confirms a session at the provider, which asks again; being signed in there confirms nothing', async () => {
  someone()
  const browser = openBrowser()
  await browser.visit(start())
  const asking = async (method: 'GET' | 'POST') => {
    const token = browser.cookie(new URL(world.site).host, 'access_token')
    const headers = { authorization: `Bearer ${token}` }
    return (await world.quoin.send(method, '/users/me/second-factor', { headers })).body
  }
  const interactions = () => world.oidc.asked.filter((path) => path.startsWith('/interaction/')).length
  const program = `${world.site}/_signin?port=4022&challenge=${'c'.repeat(43)}`
  expect(await asking('GET')).toMatchObject({ password: false })
  expect(await asking('POST')).toMatchObject({ challenge: expect.stringMatching(/^qc_/) })
  const signedInThere = Math.floor(world.quoin.now() / 1000)
  world.quoin.advance(3_600_000)
  world.oidc.lie = (claims) => ({ ...claims, auth_time: signedInThere })
  expect(await asking('POST')).toMatchObject({ error: 'CONFIRMATION_REQUIRED' })
  // An old session makes no new one for a program either.
  expect((await browser.visit(program)).url.pathname).toBe('/login')
  const before = interactions()
  await browser.visit(start())
  expect([interactions(), await asking('POST')]).toMatchObject([before, { error: 'CONFIRMATION_REQUIRED' }])
  const { text } = await browser.visit(`${world.site}/login?next=${encodeURIComponent('/docs')}`)
  const again = /href="(\/_signin\/acme[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect(again).toContain('again=1')
  world.oidc.lie = (claims) => ({ ...claims, auth_time: Math.floor(world.quoin.now() / 1000) })
  await browser.visit(new URL(again, world.site).href)
  expect([interactions(), await asking('POST')]).toMatchObject([
    before + 1,
    { challenge: expect.stringMatching(/^qc_/) },
  ])
  expect((await browser.visit(program)).text).toContain('http://127.0.0.1:4022/?code=')
})

test.each([
  ['the user signs out', 'POST', '/auth/signout', false],
  ['the user ends all other sessions', 'DELETE', '/users/me/sessions', true],
  ['the provider ends the session', '', '', false],
] as const)('a code for a program is refused once %s', async (_how, method, path, byAnother) => {
  const subject = someone()
  const browser = openBrowser()
  await browser.visit(start())
  const handed = async (verifier: string) => {
    const challenge = hash('sha256', verifier, 'base64url')
    const { text } = await browser.visit(`${world.site}/_signin?port=4022&challenge=${challenge}`)
    return { code: /code=([\w-]+)/.exec(text)?.[1] ?? '', verifier }
  }
  const exchange = async (body: JsonObject) => await world.quoin.send('POST', '/auth/exchange', { body })
  const other = await exchange(await handed('o'.repeat(43)))
  expect(other.status).toBe(200)
  const stolen = await handed('s'.repeat(43))
  const own = browser.cookie(new URL(world.site).host, 'access_token')
  const headers = { authorization: `Bearer ${byAnother ? Object(other.body).access_token : own}` }
  const ended =
    path === ''
      ? await logout(world.oidc.signed({ ...logoutClaims(), sub: subject }))
      : await world.quoin.send(method, path, { headers })
  expect(ended.status).toBe(200)
  expect(await userIn(browser)).toBeUndefined()
  expect((await exchange(stolen)).status).toBe(401)
})
