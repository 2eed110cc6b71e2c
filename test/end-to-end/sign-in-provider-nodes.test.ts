/** A sign-in with a provider that begins on one node and comes back to another, as behind a load balancer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { clientId, clientSecret, type OidcServer, openBrowser, openOidcServer } from '../oidc-server.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

let temporary: TemporaryDatabase
let balancer: LocalServer
let oidc: OidcServer
const nodes: TestQuoin[] = []
const site = () => `http://127.0.0.1:${balancer.port}`
/** Which node took each path of the sign-in. */
const taken: string[] = []

/** The address that the provider leads back to is taken by the second node, all else by the first. */
async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headers } = request
  const { pathname } = new URL(url, 'http://nothing.invalid')
  const number = pathname.endsWith('/callback') ? 1 : 0
  taken.push(`${pathname} ${number}`)
  const payload = await buffer(request)
  const app = nodes[number]?.quoin.server.app
  const reply = await app?.inject({ method: method === 'POST' ? 'POST' : 'GET', url, headers, payload })
  response.writeHead(reply?.statusCode ?? 502, reply?.headers)
  response.end(reply?.rawPayload)
}

beforeAll(async () => {
  temporary = await openTemporaryDatabase(quoinTemplate)
  balancer = await startLocalServer((request, response) => void forward(request, response))
  oidc = await openOidcServer(site(), 'acme')
  for (const name of ['one', 'two'])
    nodes.push(
      await openTestQuoin({
        ...{ DATABASE_URL: temporary.url, QUOIN_NODE: name, QUOIN_RATE_LIMIT: '0', QUOIN_PUBLIC_URL: site() },
        ...{ QUOIN_SECRETS_KEY: '0f'.repeat(32), QUOIN_ALLOWED_HOSTS: `127.0.0.1:${oidc.port}` },
      }),
    )
  const [one] = nodes
  await one?.manage('POST', '/_system/secrets', { name: 'acme_client', value: clientSecret })
  await one?.manage('POST', '/_system/signin-providers', {
    ...{ name: 'acme', title: 'Acme', issuer: oidc.issuer, client_id: clientId, secret: 'acme_client' },
    ...{ scopes: 'openid email profile', create_users: true },
  })
})
afterAll(async () => {
  for (const node of nodes) await node.close()
  await oidc?.close()
  await balancer?.close()
  await temporary?.drop()
})

test('the callback signs in on a node that has not seen the start, once, and both nodes know the session', async () => {
  oidc.accounts.set('ada', { email: 'ada@acme.test', email_verified: true, given_name: 'Ada' })
  oidc.account = 'ada'
  const browser = openBrowser()
  const { url: callback } = await browser.visit(`${site()}/_signin/acme?next=%2Fdocs`, ({ pathname }) =>
    pathname.endsWith('/callback'),
  )
  // Another browser has not begun it.
  const other = openBrowser()
  await other.ask(callback)
  expect(other.cookie(new URL(site()).host, 'access_token')).toBeUndefined()

  const reply = await browser.ask(callback)
  expect(reply.to?.pathname).toBe('/docs')
  expect(taken.filter((one) => one.includes('_signin'))).toEqual([
    '/_signin/acme 0',
    ...['/_signin/acme/callback 1', '/_signin/acme/callback 1'],
  ])
  const token = browser.cookie(new URL(site()).host, 'access_token')
  const headers = { authorization: `Bearer ${token}` }
  for (const node of nodes)
    expect((await node.send('GET', '/users/me', { headers })).body).toMatchObject({ email: 'ada@acme.test' })
  // The code and the state work once.
  expect((await browser.ask(callback)).to?.pathname).toBe('/login')
})
