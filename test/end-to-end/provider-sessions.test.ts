/** Sessions that begin with a provider: where they end, how they are handed to the studio, and to `quoin login`. */
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

test('signing out on a page signs out at the provider too, where it is set', async () => {
  await change({ sign_out: true })
  someone()
  const browser = openBrowser()
  await browser.visit(start())
  const { text } = await browser.visit(`${world.site}/logout`)
  const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
    ([, n = '', v = '']) => [n, v],
  )
  const body = new URLSearchParams(fields)
  const reply = await browser.ask(`${world.site}/logout`, {
    method: 'POST',
    body,
    headers: { origin: world.site },
  })
  expect(reply.to?.href).toMatch(`${world.oidc.issuer}/session/end?post_logout_redirect_uri=`)
  expect(await userIn(browser)).toBeUndefined()
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
  for (const body of [{ code }, { code, verifier: 'x'.repeat(43) }])
    expect((await world.quoin.send('POST', '/auth/exchange', { body })).status).toBe(401)
  expect((await browser.ask(back)).text).toBe('You can close this window.')
  expect(await end).toBe(0)
  const stored = JSON.parse(await readFile(join(directory, 'quoin', 'sign-ins.json'), 'utf8'))
  expect(stored.servers[world.site].username).toBe(`${subject}@acme.test`)
  const wrong = await browser.visit(`${world.site}/_signin?port=22&challenge=${'x'.repeat(43)}`)
  expect(wrong.status).toBe(404)
})
