/** A cluster with a real provider of OpenID Connect, one that a test answers for, and browsers that sign in with them. */
import type { RequestListener } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { clientId, clientSecret, type OidcServer, type openBrowser, openOidcServer } from '../oidc-server.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

type Browser = ReturnType<typeof openBrowser>

interface Opened {
  readonly quoin: TestQuoin
  readonly site: string
  readonly oidc: OidcServer
  /** Guid of the record of that provider. */
  readonly provider: string
  /** Another provider, which replies as `answerAsGitHub` says. */
  readonly github: LocalServer
}

/** Opened before the tests of the file that calls it, and closed behind them. */
class SignInWorld {
  /** Another in each run: a retry finds the users of before. */
  readonly run = Date.now().toString(36)
  answerAsGitHub: RequestListener = (_request, response) => response.end()
  #opened: Opened | undefined
  #count = 0

  get #parts(): Opened {
    if (!this.#opened) throw new Error('It is not open yet.')
    return this.#opened
  }
  get quoin(): TestQuoin {
    return this.#parts.quoin
  }
  get site(): string {
    return this.#parts.site
  }
  get oidc(): OidcServer {
    return this.#parts.oidc
  }
  get provider(): string {
    return this.#parts.provider
  }
  get github(): LocalServer {
    return this.#parts.github
  }

  /** A number that no user or group has. */
  count(): number {
    this.#count += 1
    return this.#count
  }

  counted(): number {
    return this.#count
  }

  async open(): Promise<void> {
    const port = await freePort()
    const site = `http://127.0.0.1:${port}`
    const oidc = await openOidcServer(site, 'acme')
    const github = await startLocalServer((request, response) => this.answerAsGitHub(request, response))
    const quoin = await openTestQuoin({
      ...{ QUOIN_PORT: String(port), QUOIN_HOST: '127.0.0.1', QUOIN_PUBLIC_URL: site, QUOIN_RATE_LIMIT: '0' },
      ...{
        QUOIN_SECRETS_KEY: '0f'.repeat(32),
        QUOIN_ALLOWED_HOSTS: `127.0.0.1:${oidc.port},127.0.0.1:${github.port}`,
      },
    })
    await quoin.quoin.server.listen()
    await quoin.manage('POST', '/_system/secrets', { name: 'acme_client', value: clientSecret })
    const made = await quoin.manage('POST', '/_system/signin-providers', {
      ...{ name: 'acme', title: 'Acme', issuer: oidc.issuer, client_id: clientId, secret: 'acme_client' },
      scopes: 'openid email profile groups',
    })
    this.#opened = { quoin, site, oidc, github, provider: guidOf(made) }
  }

  async close(): Promise<void> {
    await this.#opened?.quoin.close()
    await this.#opened?.oidc.close()
    await this.#opened?.github.close()
  }
}

/** `world`: what is open. The others are what each test of sign-in does with it. */
export function signInFixture() {
  const world = new SignInWorld()
  const change = (fields: JsonObject) =>
    world.quoin.manage('PUT', `/_system/signin-providers/${world.provider}`, fields)
  beforeAll(() => world.open())
  afterAll(() => world.close())
  beforeEach(async () => {
    // Its clock goes with that of the cluster.
    world.oidc.lie = ({ auth_time: at, ...claims }) => {
      const ahead = Math.round((world.quoin.now() - Date.now()) / 1000)
      return typeof at === 'number' ? { ...claims, auth_time: at + ahead } : claims
    }
    await change({ create_users: true, domains: [], required_domains: [], groups: [], groups_expression: '' })
    await change({
      ...{ external_id_claim: '', trusts_factor: false, sign_out: false, is_active: true },
      ...{ issuer: world.oidc.issuer, client_id: clientId },
    })
  })

  /** A new user at the provider, who signs in next. */
  function someone(claims: JsonObject = {}): string {
    const subject = `s${world.count()}-${world.run}`
    const email = `${subject}@acme.test`
    world.oidc.accounts.set(subject, { email, email_verified: true, given_name: 'Ada', ...claims })
    world.oidc.account = subject
    return subject
  }
  const start = (next = '/docs') => `${world.site}/_signin/acme?next=${encodeURIComponent(next)}`
  /** Of the session of a browser; undefined where there is none. */
  async function userIn(browser: Browser): Promise<JsonObject | undefined> {
    const token = browser.cookie(new URL(world.site).host, 'access_token')
    if (token === undefined) return undefined
    const headers = { authorization: `Bearer ${token}` }
    const reply = await world.quoin.send('GET', '/users/me', { headers })
    return reply.status === 200 ? objectOf(reply.body) : undefined
  }
  /** What the sign-in page says, and that no user is signed in. */
  async function refusal(browser: Browser, address = start()): Promise<string> {
    const { url, text } = await browser.visit(address)
    expect([url.pathname, await userIn(browser)]).toEqual(['/login', undefined])
    return /role="(?:alert|status)"[^>]*>(?:<[^>]*>)*([^<]+)/.exec(text)?.[1] ?? text
  }
  function logoutClaims() {
    return {
      ...{ iss: world.oidc.issuer, aud: clientId, iat: Math.floor(world.quoin.now() / 1000), jti: 'j1' },
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    }
  }
  function logout(token: string) {
    const body = new URLSearchParams({ logout_token: token })
    return fetch(`${world.site}/_signin/acme/logout`, { method: 'POST', body })
  }
  return { world, change, someone, start, userIn, refusal, logoutClaims, logout }
}
