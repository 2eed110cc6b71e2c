/** Sign-ins that are refused: states and codes of other browsers, tokens that lie, and providers that are wrong in one respect each. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { startLocalServer } from '../local-server.ts'
import { clientSecret, openBrowser, openOidcServer } from '../oidc-server.ts'
import { signInFixture } from './sign-in-provider-fixture.ts'

const { world, change, someone, start, userIn, refusal, logoutClaims, logout } = signInFixture()

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
  world.quoin.advance(16 * 60_000)
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
  world.oidc.lie = lie
  expect(await refusal(openBrowser())).toContain('The sign-in with Acme failed')
})

test('changed keys of the provider count at once, and keys of others never', async () => {
  someone()
  await openBrowser().visit(start())
  world.oidc.changeKeys()
  const browser = openBrowser()
  await browser.visit(start())
  expect(await userIn(browser)).toBeDefined()
  const other = await openOidcServer(world.site, 'acme')
  const token = other.signed({ ...logoutClaims(), sub: 'x' })
  await other.close()
  expect((await logout(token)).status).toBe(400)
  expect((await logout(world.oidc.signed({ ...logoutClaims(), sub: 'x' }))).status).toBe(200)
})

test('a refusal at the provider, and a provider that is gone, are said', async () => {
  world.oidc.account = undefined
  expect(await refusal(openBrowser())).toContain('did not let you in')
  const gone = await startLocalServer((_request, response) => response.end())
  await gone.close()
  await change({ issuer: `http://127.0.0.1:${gone.port}` })
  expect(await refusal(openBrowser())).toContain('cannot be reached')
  // This port of the machine is not among the hosts that the cluster allows.
  const log = JSON.stringify(await world.quoin.systemLog())
  expect(log).toContain('unless the cluster allows that host')
  expect(log).not.toContain(clientSecret)
})

test.each<[string, string, (response: ServerResponse) => void]>([
  ['a reply without an end', 'cannot be reached', (response) => void endless(response)],
  ['no reply', 'cannot be reached', (response) => response.destroy()],
  [
    'a redirect to another address',
    'failed',
    (response) => response.writeHead(302, { location: world.oidc.issuer }).end(),
  ],
  ['no JSON', 'failed', (response) => response.end('<html>')],
  [
    'the facts of another issuer',
    'failed',
    (response) => sendJson(response, { issuer: 'https://other.test' }),
  ],
  ['100,000 lists in lists', 'failed', (response) => response.end('['.repeat(100_000))],
])('a provider that answers with %s, which is said as %j, lets no one in', async (_, said, answer) => {
  world.answerAsGitHub = (_request, response) => answer(response)
  await change({ issuer: world.github.url })
  expect(await refusal(openBrowser())).toContain(said)
  await change({ issuer: world.oidc.issuer })
  const subject = someone()
  const browser = openBrowser()
  await browser.visit(start())
  expect(await userIn(browser)).toMatchObject({ email: `${subject}@acme.test` })
})
