/** Agents that users let in by OAuth: the flow of the official client, and what is refused. */
import { createHash, randomBytes } from 'node:crypto'
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { draftScopes } from '../../src/shared/management-scopes.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { eras, use } from '../mcp-agent.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const redirect = 'https://agent.example.org/callback'
let quoin: TestQuoin
let site = ''
let documents: LocalServer
/** What the server of documents answers, by path. */
const answers: Record<string, () => unknown> = {}
let fetched: string[] = []

beforeAll(async () => {
  documents = await startLocalServer((request, response) => {
    fetched.push(request.url ?? '')
    const answer = answers[request.url ?? '']?.()
    if (typeof answer === 'string') return void response.writeHead(302, { location: answer }).end()
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? {}))
  })
  const port = await freePort()
  site = `http://127.0.0.1:${port}`
  quoin = await openTestQuoin({
    ...{ QUOIN_PORT: String(port), QUOIN_HOST: '127.0.0.1', QUOIN_PUBLIC_URL: site, QUOIN_RATE_LIMIT: '0' },
    ...{ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${documents.port}`, QUOIN_SECRETS_KEY: '0f'.repeat(32) },
  })
  await quoin.quoin.server.listen()
  const client = (name: string, more: object = {}) => {
    const id = `${documents.url}/${name}.json`
    answers[`/${name}.json`] = () => ({
      ...{ client_id: id, client_name: `Agent ${name}`, redirect_uris: [redirect, 'http://127.0.0.1/back'] },
      ...more,
    })
  }
  client('one', { client_uri: 'x'.repeat(16_000) })
  client('two')
  client('foreign', { client_id: `${documents.url}/one.json` })
  client('secret', { token_endpoint_auth_method: 'client_secret_basic' })
  client('script', { redirect_uris: ['javascript:alert(1)', 'http://agent.example.org/plain'] })
  client('nameless', { client_name: ' ' })
  client('long', { client_uri: 'x'.repeat(20_000) })
  // More bytes than are read, of fewer characters.
  client('wide', { client_uri: 'é'.repeat(10_000) })
  answers['/moved.json'] = () => `${documents.url}/one.json`
})
afterAll(async () => {
  await quoin?.close()
  await documents?.close()
})
beforeEach(() => {
  fetched = []
})

const idOf = (name: string) => `${documents.url}/${name}.json`
const sha = (text: string) => createHash('sha256').update(text).digest('base64url')
const newVerifier = () => randomBytes(32).toString('base64url')

type Parameters = Readonly<Record<string, string | undefined>>

function authorizeUrl(verifier: string, changes: Parameters = {}): string {
  const parameters = {
    ...{ response_type: 'code', client_id: idOf('one'), redirect_uri: redirect, state: 's 1&2' },
    ...{ code_challenge: sha(verifier), code_challenge_method: 'S256', resource: `${site}/mcp` },
    ...changes,
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value)
  return `${site}/_oauth/authorize?${query}`
}

async function browser(username = 'admin') {
  const cookie = `access_token=${await quoin.tokenOf(username)}`
  const open = (url: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(url, { headers: { cookie, ...headers }, redirect: 'manual' })
  const post = (url: string, fields: Parameters, headers: Readonly<Record<string, string>> = {}) => {
    const body = new URLSearchParams()
    for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, value)
    const own = { cookie, 'sec-fetch-site': 'same-origin', ...headers }
    return fetch(url, { method: 'POST', headers: own, body, redirect: 'manual' })
  }
  return { open, post }
}

/** Where the page goes on to by itself. */
function goesTo(page: Response): URL {
  expect(page.status).toBe(200)
  return new URL(page.headers.get('refresh')?.replace(/^0; url=/, '') ?? '')
}

/** The hidden fields of the form with the button. */
async function fieldsOf(page: Response): Promise<Record<string, string>> {
  const html = await page.text()
  const form = /<form[^>]*>(?:(?!<\/form>)[\s\S])*name="_once"[\s\S]*?<\/form>/.exec(html)?.[0] ?? ''
  const inputs = [...form.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
    /name="([^"]*)"/.exec(input)?.[1] ?? '',
    /value="([^"]*)"/.exec(input)?.[1] ?? '',
  ])
  return Object.fromEntries(inputs)
}

async function agree(verifier: string, changes: Parameters = {}, username = 'admin'): Promise<URL> {
  const { open, post } = await browser(username)
  const url = authorizeUrl(verifier, changes)
  const page = await open(url)
  expect(page.status).toBe(200)
  return goesTo(await post(url, { ...(await fieldsOf(page)), _button: 'allow ' }))
}

async function tokens(fields: Parameters, headers: Readonly<Record<string, string>> = {}) {
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, value)
  const reply = await fetch(`${site}/_oauth/token`, { method: 'POST', body, headers })
  return { status: reply.status, body: objectOf(JSON.parse(await reply.text())), headers: reply.headers }
}

const codeFields = (code: string, verifier: string, changes: Parameters = {}): Parameters => ({
  ...{ grant_type: 'authorization_code', code, redirect_uri: redirect, client_id: idOf('one') },
  ...{ code_verifier: verifier, resource: `${site}/mcp`, ...changes },
})

async function issued(changes: Parameters = {}, username?: string) {
  const verifier = newVerifier()
  const back = await agree(verifier, changes, username)
  const { body } = await tokens(codeFields(back.searchParams.get('code') ?? '', verifier))
  return { access: String(body.access_token), refresh: String(body.refresh_token), body }
}

const refreshed = (token: string, client = 'one') =>
  tokens({ grant_type: 'refresh_token', refresh_token: token, client_id: idOf(client) })

const mcp = (token: string) =>
  fetch(`${site}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })

const grants = async () => objectsOf(await quoin.manage('GET', '/users/me/agents'))

class Agent implements OAuthClientProvider {
  readonly redirectUrl = redirect
  readonly clientMetadata = { client_name: 'test', redirect_uris: [redirect] }
  asked: URL | undefined
  saved: StoredOAuthTokens | undefined
  #verifier = ''
  clientInformation() {
    return { client_id: idOf('one') }
  }
  state() {
    return 'of the agent'
  }
  tokens() {
    return this.saved
  }
  saveTokens(saved: StoredOAuthTokens) {
    this.saved = saved
  }
  redirectToAuthorization(url: URL) {
    this.asked = url
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }
  codeVerifier() {
    return this.#verifier
  }
}

describe.each(eras)('%s', (_, mode) => {
  test('the official client finds its way, is let in, works, refreshes, and is shown out', async () => {
    const agent = new Agent()
    const connect = async () => {
      const transport = new StreamableHTTPClientTransport(new URL(`${site}/mcp`), { authProvider: agent })
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      return { transport, client, done: client.connect(transport) }
    }
    const first = await connect()
    await expect(first.done).rejects.toThrow(/unauthorized/i)
    const { open, post } = await browser()
    const url = String(agent.asked)
    const back = goesTo(await post(url, { ...(await fieldsOf(await open(url))), _button: 'allow ' }))
    expect([back.origin + back.pathname, back.searchParams.get('state')]).toEqual([redirect, 'of the agent'])
    await first.transport.finishAuth(back.searchParams)
    const second = await connect()
    await second.done
    expect((await use(second.client, 'search', { in: 'drafts' })).isError).toBe(false)
    expect((await use(second.client, 'search', { in: 'logs' })).text).toContain('Refused with 403')
    const before = agent.saved?.access_token
    quoin.advance(1_000_000)
    expect((await use(second.client, 'search', { in: 'drafts' })).isError).toBe(false)
    expect(agent.saved?.access_token).not.toBe(before)
    const [grant] = await grants()
    expect(grant).toMatchObject({ client: 'Agent one', scopes: [...draftScopes] })
    await quoin.manage('DELETE', `/users/me/agents/${grant?.guid}`)
    await expect(use(second.client, 'search', { in: 'drafts' })).rejects.toThrow()
    await second.client.close()
  })
})

test('the page names client, address, scopes and end, is in no frame, and sends its form only here', async () => {
  const page = await (await browser()).open(
    authorizeUrl(newVerifier(), { scope: 'drafts_view agents_deploy' }),
  )
  const html = await page.text()
  for (const text of ['Agent one', idOf('one'), 'agent.example.org', 'drafts_view', 'agents_deploy', 'Until'])
    expect(html).toContain(text)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("form-action 'self';")
  expect(page.headers.get('cache-control')).toContain('no-store')
})

test('a visitor signs in first, and no document is read for one who has not', async () => {
  const reply = await fetch(authorizeUrl(newVerifier()), { redirect: 'manual' })
  expect([reply.status, reply.headers.get('location'), fetched]).toEqual([
    303,
    expect.stringContaining('/login?next=%2F_oauth%2Fauthorize'),
    [],
  ])
})

test.each<[string, Parameters]>([
  ['another redirect address', { redirect_uri: 'https://evil.example.org/callback' }],
  ['a redirect address with more behind it', { redirect_uri: `${redirect}/../evil` }],
  ['a redirect address of a script', { redirect_uri: 'javascript:alert(1)' }],
  ['no redirect address', { redirect_uri: undefined }],
  ['a loopback address with another path', { redirect_uri: 'http://127.0.0.1:4/evil' }],
  ['a client without an address', { client_id: 'one' }],
  ['a client on a private address', { client_id: 'https://169.254.169.254/latest/meta-data' }],
  ['a client on another port of this machine', { client_id: 'http://127.0.0.1:1/one.json' }],
])('%s is refused on the page, and sends the browser nowhere', async (_, changes) => {
  const page = await (await browser()).open(authorizeUrl(newVerifier(), changes))
  expect([page.status, page.headers.get('location')]).toEqual([400, null])
})

test('no request goes to a server of this machine that is not allowed', async () => {
  let requests = 0
  const closed = await startLocalServer((_request, response) => {
    requests += 1
    response.end(JSON.stringify({}))
  })
  const { open } = await browser()
  const page = await open(authorizeUrl(newVerifier(), { client_id: `${closed.url}/one.json` }))
  await closed.close()
  expect([page.status, requests]).toEqual([400, 0])
})

test.each(['foreign', 'secret', 'script', 'nameless', 'long', 'wide', 'moved', 'missing'])(
  'the document %s is refused on the page',
  async (name) => {
    const page = await (await browser()).open(authorizeUrl(newVerifier(), { client_id: idOf(name) }))
    expect([page.status, page.headers.get('location')]).toEqual([400, null])
    expect(fetched).toEqual([`/${name}.json`])
  },
)

test.each<[string, Parameters, string]>([
  ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
  ['another response', { response_type: 'token' }, 'unsupported_response_type'],
  ['another audience', { resource: 'https://other.example.org/mcp' }, 'invalid_target'],
  ['every scope', { scope: '*' }, 'invalid_scope'],
])('%s goes back to the client as an error', async (_, changes, error) => {
  const reply = await (await browser()).open(authorizeUrl(newVerifier(), changes))
  const back = new URL(reply.headers.get('location') ?? '')
  expect([back.origin, back.searchParams.get('error'), back.searchParams.get('state')]).toEqual([
    'https://agent.example.org',
    error,
    's 1&2',
  ])
  expect(back.searchParams.get('code')).toBeNull()
})

test('a program may come back at any port of this machine', async () => {
  const verifier = newVerifier()
  const back = await agree(verifier, { redirect_uri: 'http://127.0.0.1:54321/back' })
  expect([back.origin, back.searchParams.get('iss')]).toEqual(['http://127.0.0.1:54321', site])
})

test.each<[string, Parameters, Readonly<Record<string, string>>, number]>([
  ['a form of another site', {}, { 'sec-fetch-site': 'cross-site' }, 403],
  ['a form of another origin', {}, { 'sec-fetch-site': '', origin: 'https://evil.example.org' }, 403],
  ['a form without its token', { _csrf: undefined }, {}, 422],
  ['a form with the token of another session', { _csrf: 'x'.repeat(43) }, {}, 422],
  ['a form without a button', { _button: undefined }, {}, 422],
])('%s agrees to nothing', async (_, changes, headers, status) => {
  const { open, post } = await browser()
  const url = authorizeUrl(newVerifier())
  const fields = { ...(await fieldsOf(await open(url))), _button: 'allow ', ...changes }
  const reply = await post(url, fields, headers)
  expect([reply.status, reply.headers.get('refresh')]).toEqual([status, null])
})

test('a form that is sent twice agrees once, and one that is denied gives no code', async () => {
  const { open, post } = await browser()
  const url = authorizeUrl(newVerifier())
  const fields = { ...(await fieldsOf(await open(url))), _button: 'allow ' }
  const [first, second] = [await post(url, fields), await post(url, fields)]
  expect([first.status, second.status, second.headers.get('refresh')]).toEqual([200, 422, null])
  const denied = await post(url, { ...(await fieldsOf(await open(url))), _button: 'deny ' })
  const back = goesTo(denied).searchParams
  expect([back.get('error'), back.get('code')]).toEqual(['access_denied', null])
})

test('an API key agrees to nothing', async () => {
  const key = objectOf(await quoin.manage('POST', '/users/me/keys', { name: 'k', scopes: ['*'] })).key
  const reply = await fetch(authorizeUrl(newVerifier()), { headers: { authorization: `Bearer ${key}` } })
  expect(reply.status).toBe(403)
})

test.each<[string, Parameters, string]>([
  ['another verifier', { code_verifier: newVerifier() }, 'invalid_grant'],
  ['no verifier', { code_verifier: undefined }, 'invalid_request'],
  ['another redirect address', { redirect_uri: 'http://127.0.0.1/back' }, 'invalid_grant'],
  ['another client', { client_id: `${'http://127.0.0.1:1'}/two.json` }, 'invalid_grant'],
  ['another audience', { resource: 'https://other.example.org/mcp' }, 'invalid_target'],
  ['a code that was never given', { code: `qc_${'x'.repeat(65)}` }, 'invalid_grant'],
  ['a secret', { client_secret: 'x' }, 'invalid_client'],
  ['another grant', { grant_type: 'password' }, 'unsupported_grant_type'],
])('a code with %s gives no tokens', async (_, changes, error) => {
  const verifier = newVerifier()
  const code = (await agree(verifier)).searchParams.get('code') ?? ''
  const { status, body, headers } = await tokens(codeFields(code, verifier, changes))
  expect([status, body.error, headers.get('cache-control')]).toEqual([400, error, 'no-store'])
})

test('a code that is a minute old gives no tokens', async () => {
  const verifier = newVerifier()
  const code = (await agree(verifier)).searchParams.get('code') ?? ''
  quoin.advance(61_000)
  expect((await tokens(codeFields(code, verifier))).body.error).toBe('invalid_grant')
})

test('a code that comes twice ends the grant', async () => {
  const verifier = newVerifier()
  const code = (await agree(verifier)).searchParams.get('code') ?? ''
  const { body } = await tokens(codeFields(code, verifier))
  expect((await mcp(String(body.access_token))).status).toBe(200)
  expect((await tokens(codeFields(code, verifier))).body.error).toBe('invalid_grant')
  expect((await mcp(String(body.access_token))).status).toBe(401)
  expect((await refreshed(String(body.refresh_token))).body.error).toBe('invalid_grant')
})

test('a refresh token works once; when it comes again, the grant ends', async () => {
  const { access, refresh } = await issued()
  const next = await refreshed(refresh)
  expect([next.status, next.body.token_type, next.body.expires_in]).toEqual([200, 'Bearer', 900])
  expect((await mcp(access)).status).toBe(401)
  expect((await mcp(String(next.body.access_token))).status).toBe(200)
  expect((await refreshed(String(next.body.refresh_token), 'two')).body.error).toBe('invalid_grant')
  expect((await refreshed(refresh)).body.error).toBe('invalid_grant')
  expect((await mcp(String(next.body.access_token))).status).toBe(401)
  expect((await refreshed(String(next.body.refresh_token))).body.error).toBe('invalid_grant')
})

test('of five who redeem one code at once, and of five who use one refresh token, at most one gets tokens', async () => {
  const verifier = newVerifier()
  const code = (await agree(verifier)).searchParams.get('code') ?? ''
  const redeemed = await Promise.all(Array.from({ length: 5 }, () => tokens(codeFields(code, verifier))))
  const { refresh } = await issued()
  const next = await Promise.all(Array.from({ length: 5 }, () => refreshed(refresh)))
  const again = [() => tokens(codeFields(code, verifier)), () => refreshed(refresh)]
  for (const [at, replies] of [redeemed, next].entries()) {
    const got = replies.filter(({ status }) => status === 200)
    expect(got.length).toBeLessThanOrEqual(1)
    expect(replies.filter(({ status }) => status >= 500)).toEqual([])
    // Those who lost the race come again with what was used: then the client that was first is out, too.
    expect((await again[at]?.())?.status).toBe(400)
    for (const { body } of got) expect((await mcp(String(body.access_token))).status).toBe(401)
  }
})

const form = 'application/x-www-form-urlencoded'
test.each<[string, string, string, string | undefined, string]>([
  ['no body', 'POST', '/_oauth/token', undefined, form],
  ['a list', 'POST', '/_oauth/token', '[]', 'application/json'],
  ['a number', 'POST', '/_oauth/token', '1', 'application/json'],
  ['lists for texts', 'POST', '/_oauth/token', '{"grant_type":["refresh_token"]}', 'application/json'],
  ['a name twice', 'POST', '/_oauth/token', 'grant_type=refresh_token&grant_type=x', form],
  ['names of objects', 'POST', '/_oauth/token', '__proto__=1&constructor=2&client_id=toString', form],
  ['broken escapes', 'POST', '/_oauth/token', 'grant_type=%zz&client_id=%ff', form],
  ['ten kilobytes', 'POST', '/_oauth/token', `code=${'x'.repeat(10_000)}`, form],
  ['XML', 'POST', '/_oauth/token', '<a/>', 'text/xml'],
  ['another method', 'GET', '/_oauth/token', undefined, form],
  ['no token', 'POST', '/_oauth/revoke', undefined, form],
  ['a list of tokens', 'POST', '/_oauth/revoke', '{"token":[1]}', 'application/json'],
  ['broken escapes in the address', 'GET', '/_oauth/authorize?client_id=%zz&state=%ff%00', undefined, form],
  ['parameters that come twice', 'GET', '/_oauth/authorize?client_id=a&client_id=b', undefined, form],
  ['a form without an address', 'POST', '/_oauth/authorize', '_button=allow+', form],
  ['another method', 'POST', '/.well-known/oauth-authorization-server', undefined, form],
])('%s: %s %s is no fault of the server', async (_, method, path, body, type) => {
  const cookie = `access_token=${await quoin.tokenOf('admin')}`
  const headers = { cookie, 'content-type': type, 'sec-fetch-site': 'same-origin' }
  const sent = { method, headers, redirect: 'manual', ...(body !== undefined && { body }) } as const
  const { status } = await fetch(`${site}${path}`, sent)
  expect([status < 500, status === 303]).toEqual([true, false])
})

test('a state with line breaks goes back as it came, in one line', async () => {
  const state = 'a\r\nset-cookie: x=1; url=https://evil.example.org'
  const back = await agree(newVerifier(), { state })
  expect([back.origin, back.searchParams.get('state')]).toEqual(['https://agent.example.org', state])
})

test('tokens are over after a quarter of an hour, and the grant after 30 days', async () => {
  const { access, refresh } = await issued()
  quoin.advance(870_000)
  expect((await mcp(access)).status).toBe(200)
  quoin.advance(31_000)
  expect((await mcp(access)).status).toBe(401)
  const next = String((await refreshed(refresh)).body.refresh_token)
  quoin.advance(30 * 86_400_000)
  expect((await refreshed(next)).body.error).toBe('invalid_grant')
})

test('a token opens /mcp alone, in a header alone', async () => {
  const { access } = await issued({ scope: 'users_view drafts_view' })
  expect((await mcp(access)).status).toBe(200)
  const bearer = { authorization: `Bearer ${access}` }
  expect((await quoin.send('GET', '/_system/drafts', { headers: bearer })).status).toBe(403)
  expect((await quoin.send('GET', '/users/me', { headers: bearer })).status).toBe(403)
  const inAddress = await fetch(`${site}/mcp?access_token=${access}`, { method: 'POST' })
  expect(inAddress.status).toBe(401)
  const cookie = await fetch(`${site}/mcp`, { method: 'POST', headers: { cookie: `access_token=${access}` } })
  expect(cookie.status).toBe(401)
})

test('a user gives no scope that they do not hold, and takes back what they lose', async () => {
  const guid = await quoin.addUser('grace', ['drafts_view'])
  const { access, body } = await issued({ scope: 'drafts_view users_view' }, 'grace')
  expect(body.scope).toBe('drafts_view')
  const headers = { authorization: `Bearer ${access}` }
  const connect = async () => {
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${site}/mcp`), { requestInit: { headers } }),
    )
    return use(client, 'search', { in: 'drafts' })
  }
  expect((await connect()).isError).toBe(false)
  await quoin.manage('PUT', `/users/${guid}`, { custom_scopes: [] })
  expect((await connect()).text).toContain('Refused with 403')
  await quoin.manage('PUT', `/users/${guid}`, { password: 'correct battery horse' })
  expect((await mcp(access)).status).toBe(401)
})

test('a client and a user end a grant, each only their own, and the audit log has it without tokens', async () => {
  const revoke = (token: string, client: string) =>
    fetch(`${site}/_oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token, client_id: idOf(client) }),
    })
  const { access, refresh } = await issued()
  expect((await revoke(refresh, 'two')).status).toBe(200)
  expect((await mcp(access)).status).toBe(200)
  expect((await revoke(refresh, 'one')).status).toBe(200)
  expect((await mcp(access)).status).toBe(401)
  const other = await issued()
  const [grant] = await grants()
  await quoin.addUser('hugo', [])
  const foreign = await quoin.send('DELETE', `/users/me/agents/${grant?.guid}`, { as: 'hugo' })
  expect([foreign.status, (await mcp(other.access)).status]).toEqual([404, 200])
  await quoin.manage('DELETE', `/users/me/agents/${grant?.guid}`)
  expect((await mcp(other.access)).status).toBe(401)
  const log = JSON.stringify(await quoin.manage('POST', '/_system/auditlogs', { limit: 50 }))
  expect(log).toContain('agent_grants')
  for (const secret of ['qa_', 'qr_', 'qc_', 'code_hash', 'access_hash', 'refresh_hash'])
    expect(log).not.toContain(secret)
})

test('without a public address there is no OAuth, and a caller without a key is only refused', async () => {
  const bare = await openTestQuoin()
  try {
    const at = await bare.quoin.server.listen()
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource/mcp',
    ])
      expect((await fetch(`${at}${path}`)).status).toBe(404)
    const { status, headers } = await fetch(`${at}/mcp`, { method: 'POST' })
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  } finally {
    await bare.close()
  }
})
