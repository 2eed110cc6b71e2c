/**
 * Secrets and guids of one space at each door of another one that checks its caller itself: sessions, keys, links, codes, endpoints, pages,
 * agents, SCIM. Each reply is the one to what was never made, and in its own space it is another.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { textAt } from '../json-at.ts'
import { type MailServer, openMailServer, partOf } from '../mail-server.ts'
import { guidOf, objectOf, objectsOf, userPassword } from './harness.ts'
import { uploadTo } from './space-contents.ts'
import { openTestCluster, type TestCluster, type TestSpace } from './space-fixture.ts'

let place: AssetPlace
let mails: MailServer
let cluster: TestCluster
let red: TestSpace
let blue: TestSpace
beforeAll(async () => {
  place = await openAssetPlace()
  mails = await openMailServer({ authOptional: true, hideSTARTTLS: true })
  cluster = await openTestCluster({
    ...place.settings,
    QUOIN_PUBLIC_URL: 'https://quoin.example.test',
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'quoin@example.test',
    QUOIN_RATE_LIMIT: '0',
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
  })
  red = await cluster.addSpace('red')
  blue = await cluster.addSpace('blue')
  for (const space of [red, blue]) await space.install('Desk', desk)
})
afterAll(async () => {
  await cluster?.close()
  await mails?.close()
  await place?.close()
})

const signedIn = { scopes: ['*loggedin'] }
const open = { scopes: ['*public'] }
const found = (from: string) => ({
  type: 'function_get_document',
  in: { flow: `@${from}.flow`, storage: 'notes' },
})
/** The same in both, so that only what is sent can tell them apart. */
const desk: JsonObject = {
  add: {
    type: 'on_startup_register_uri_post',
    in: { uri: 'add' },
    fields: { idempotent: true },
    ...open,
  },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@add.flow', storage: 'notes', set: '=({ text: body.text })' },
  },
  added: { type: 'reply', in: { flow: '@create.flow', value: '=create.document.text' } },
  list: { type: 'on_startup_register_uri_get', in: { uri: 'list' }, ...open },
  search: { type: 'function_search', in: { flow: '@list.flow', storage: 'notes' } },
  listed: { type: 'reply', in: { flow: '@search.flow', value: '=search.documents.map(one => one.text)' } },
  by_path: { type: 'on_startup_register_uri_get', in: { uri: 'notes/{guid}' }, ...open },
  in_path: { ...found('by_path'), in: { ...found('by_path').in, guid: '=params.guid' } },
  of_path: { type: 'reply', in: { flow: '@in_path.flow', value: '=in_path.document.text' } },
  by_query: { type: 'on_startup_register_uri_get', in: { uri: 'note' }, ...open },
  in_query: { ...found('by_query'), in: { ...found('by_query').in, guid: '=query.guid' } },
  of_query: { type: 'reply', in: { flow: '@in_query.flow', value: '=in_query.document.text' } },
  by_body: { type: 'on_startup_register_uri_post', in: { uri: 'note' }, ...open },
  in_body: { ...found('by_body'), in: { ...found('by_body').in, guid: '=body.guid' } },
  of_body: { type: 'reply', in: { flow: '@in_body.flow', value: '=in_body.document.text' } },
  of_file: { type: 'on_startup_register_uri_post', in: { uri: 'read' }, ...open },
  read: { type: 'read_file', in: { flow: '@of_file.flow', file: '=body.guid' } },
  was_read: { type: 'reply', in: { flow: '@read.flow', value: '=read.text' } },
  page: { type: 'state_page', in: { title: 'Note', url: 'notes/{guid}' }, ...open },
  on_page: { ...found('page'), in: { ...found('page').in, guid: '=params.guid' } },
  heading: { type: 'state_h1', in: { text: '=on_page.document.text' } },
  show: { type: 'state_render_page', in: { flow: '@on_page.flow', state: '@heading.state' } },
  file: { type: 'on_startup_register_uri_post', in: { uri: 'file' }, ...signedIn },
  write: { type: 'write_file', in: { flow: '@file.flow', content: 'private', name: 'a.txt' } },
  link: { type: 'link_file', in: { flow: '@write.flow', file: '@write.file', valid_for: '1h' } },
  linked: { type: 'reply', in: { flow: '@link.flow', value: '@link.url' } },
  ask: { type: 'on_startup_register_uri_post', in: { uri: 'ask' }, ...signedIn },
  wait: {
    type: 'wait_for_approval',
    in: { flow: '@ask.flow', title: 'May it?', for: '1d', scopes: ['approvers'] },
  },
  asked: { type: 'reply', in: { flow: '@wait.now', value: '@wait.link' } },
  hook: { type: 'on_startup_register_uri_post', in: { uri: 'hook' }, ...signedIn },
  webhook: { type: 'wait_for_webhook', in: { flow: '@hook.flow', for: '1d' } },
  hooked: { type: 'reply', in: { flow: '@webhook.now', value: '@webhook.url' } },
}

interface Proof {
  /** What is sent to the host of either space. */
  readonly path: (secret: string) => string
  readonly headers?: (secret: string, space: TestSpace) => Headers | Promise<Headers>
  readonly method?: string
  readonly body?: (secret: string, space: TestSpace) => JsonValue
  /** Of red. */
  readonly secret: () => Promise<string>
}
type Headers = Record<string, string>

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const me = () => '/api/v1/users/me'
const session = () => red.signIn()
let keys = 0
const keyOf = async (space: TestSpace) => {
  keys += 1
  const made = await space.manage('POST', '/users/me/keys', { name: `k${keys}`, scopes: ['*'] })
  return textAt(made, 'key')
}
const key = () => keyOf(red)
const byKey = async (space: TestSpace) => bearer(await keyOf(space))
const mcp = { accept: 'application/json, text/event-stream' }
const post = async (path: string) => {
  const { status, body, text } = await red.send('POST', path, { token: await red.signIn(), body: {} })
  if (status >= 300) throw new Error(text)
  return String(body)
}
const note = async () => {
  await red.send('POST', '/add', { body: { text: 'of red' } })
  const storages = await red.manage('POST', '/_system/storages/search', { filters: { name: 'notes' } })
  const path = `/_system/storages/${guidOf(objectsOf(storages)[0])}/documents/search`
  return guidOf(objectsOf(await red.manage('POST', path, { limit: 1 }))[0])
}
const call = (method: string, params: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: 1, method, params })
const initialize = call('initialize', {
  ...{ protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
})
const agent = { clientId: 'https://agent.example.org/a.json', redirectUri: 'https://agent.example.org/back' }
const verifier = 'v'.repeat(43)
const sha = (text: string) => createHash('sha256').update(text).digest('base64url')
let consents = 0
/** As an agent has it when its user has agreed. */
async function agentCode(): Promise<string> {
  const { access } = await red.enter()
  const by = await access.identify(await red.signIn())
  if (!by) throw new Error('No one is signed in.')
  consents += 1
  const terms = { clientName: 'Agent', scopes: ['users_view'], seconds: 3_600, once: `${consents}` }
  return access.agents.consent(by, { ...agent, challenge: sha(verifier), ...terms })
}
const tokenForm = (space: TestSpace, fields: Headers) =>
  new URLSearchParams({
    client_id: agent.clientId,
    resource: `https://${space.host}/mcp`,
    ...fields,
  }).toString()
const asForm = () => ({ 'content-type': 'application/x-www-form-urlencoded' })
const code = (secret: string) =>
  TOTP.generate({ secret: new TOTP({ secret }).secret, timestamp: cluster.operator.now() })
/** Of the app of the user whose challenge it is. */
let app = ''

const proofs: Readonly<Record<string, Proof>> = {
  'a session in the header': { path: me, headers: bearer, secret: session },
  'a session in x-token': { path: me, headers: (token) => ({ 'x-token': token }), secret: session },
  'a session in x-authtoken': { path: me, headers: (token) => ({ 'x-authtoken': token }), secret: session },
  'a session in the address': { path: (token) => `${me()}?access_token=${token}`, secret: session },
  'a session in the cookie': {
    path: () => '/login',
    headers: (token) => ({ cookie: `access_token=${token}`, accept: 'text/html' }),
    secret: session,
  },
  'an API key': { path: me, headers: bearer, secret: key },
  'an API key in x-api-key': { path: me, headers: (one) => ({ 'x-api-key': one }), secret: key },
  'a key of SCIM': { path: () => '/scim/v2/Users', headers: bearer, secret: key },
  'a key of an agent': {
    ...{ path: () => '/mcp', method: 'POST', body: () => initialize, secret: key },
    headers: (one) => ({ ...bearer(one), ...mcp }),
  },
  'a link of an invitation': {
    path: (link) => `/password/set?link=${link}`,
    async secret() {
      const before = mails.taken.length
      await red.manage('POST', '/users/invite', { email: 'bob@example.test' })
      await expect.poll(() => mails.taken.length).toBeGreaterThan(before)
      const mail = mails.taken[before]
      const url = /https:\/\/red\.example\.test\S+/.exec(mail ? partOf(mail, 'text/plain') : '')
      return new URL(url?.[0] ?? '').searchParams.get('link') ?? ''
    },
  },
  'a link to an approval': {
    path: (link) => link,
    headers: () => ({ accept: 'text/html' }),
    secret: async () => pathOf(await post('/ask')),
  },
  'the address of a webhook that a run waits for': {
    ...{ path: (address) => address, method: 'POST', body: () => ({}) },
    secret: async () => pathOf(await post('/hook')),
  },
  'a signed link to a file': { path: (link) => link, secret: async () => pathOf(await post('/file')) },
  'the challenge of a second factor': {
    ...{ path: () => '/api/v1/auth/second-factor', method: 'POST' },
    body: (challenge) => ({ challenge, code: code(app) }),
    async secret() {
      await red.addUser('fac', [])
      const token = await red.signIn('fac', userPassword)
      const begun = objectOf((await red.send('POST', '/users/me/second-factor', { token })).body)
      app = String(begun.secret)
      const body = { challenge: String(begun.challenge), code: code(app) }
      const { status, text } = await red.send('PUT', '/users/me/second-factor', { token, body })
      if (status !== 200) throw new Error(text)
      cluster.operator.advance(60_000)
      const asked = await red.send('POST', '/auth/signin', {
        body: { username: 'fac', password: userPassword },
      })
      return textAt(asked.body, 'details', 'challenge')
    },
  },
  'the code of a program that signs in by the browser': {
    ...{ path: () => '/api/v1/auth/exchange', method: 'POST' },
    body: (secret) => ({ code: secret, verifier }),
    async secret() {
      const { access } = await red.enter()
      const by = await access.identify(await red.signIn())
      if (!by) throw new Error('No one is signed in.')
      return access.handovers.toProgram(by, sha(verifier))
    },
  },
  'the code of an agent': {
    ...{ path: () => '/_oauth/token', method: 'POST', headers: asForm, secret: agentCode },
    body: (secret, space) =>
      tokenForm(space, {
        ...{ grant_type: 'authorization_code', code: secret },
        ...{ redirect_uri: agent.redirectUri, code_verifier: verifier },
      }),
  },
  'the refresh token of an agent': {
    ...{ path: () => '/_oauth/token', method: 'POST', headers: asForm },
    body: (secret, space) => tokenForm(space, { grant_type: 'refresh_token', refresh_token: secret }),
    async secret() {
      const { access } = await red.enter()
      const issued = await access.agents.redeem({ ...agent, code: await agentCode(), verifier })
      return issued.refreshToken
    },
  },
  'a document in the path of an endpoint': { path: (guid) => `/api/v1/notes/${guid}`, secret: note },
  'a document in the query of an endpoint': { path: (guid) => `/api/v1/note?guid=${guid}`, secret: note },
  'a document in the body of an endpoint': {
    ...{ path: () => '/api/v1/note', method: 'POST', secret: note },
    body: (guid) => ({ guid }),
  },
  'a document in a form': {
    ...{ path: () => '/api/v1/note', method: 'POST', secret: note, headers: asForm },
    body: (guid) => `guid=${guid}`,
  },
  'a document in the address of a page': {
    ...{ path: (guid) => `/notes/${guid}`, secret: note, headers: () => ({ accept: 'text/html' }) },
  },
  'a file in the body of an endpoint': {
    ...{ path: () => '/api/v1/read', method: 'POST' },
    body: (guid) => ({ guid }),
    secret: () => uploadTo(cluster, red, 'file.txt'),
  },
  'the name of a file that is public': {
    path: (name) => `/static/${name}`,
    async secret() {
      await uploadTo(cluster, red, 'public-of-red.txt', 'public')
      return 'public-of-red.txt'
    },
  },
  'a user in the address of SCIM': {
    path: (guid) => `/scim/v2/Users/${guid}`,
    headers: (_guid, space) => byKey(space),
    secret: () => red.addUser('in-scim', []),
  },
  'a user in a group of SCIM': {
    ...{ path: () => '/scim/v2/Groups', method: 'POST' },
    body: (guid) => ({ displayName: `Group of ${guid}`, members: [{ value: guid }] }),
    headers: async (_guid, space) => ({ ...(await byKey(space)), 'content-type': 'application/scim+json' }),
    secret: () => red.addUser('in-a-group', []),
  },
  'a blueprint that a tool of agents reads': {
    ...{ path: () => '/mcp', method: 'POST' },
    body: (guid) => call('tools/call', { name: 'read', arguments: { kind: 'blueprint', name: guid } }),
    headers: async (_guid, space) => ({ ...(await byKey(space)), ...mcp }),
    secret: () =>
      red.install('Read by tools', {
        get: { ...open, type: 'on_startup_register_uri_get', in: { uri: 'tools' } },
      }),
  },
}

/** As long, of the same letters, and never made. */
function neverMade(secret: string): string {
  const last = secret.slice(-12)
  return (
    secret.slice(0, -12) +
    [...last]
      .reverse()
      .join('')
      .replace(/./, (one) => (one === 'a' ? 'b' : 'a'))
  )
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url, 'https://red.example.test')
  return pathname + search
}

async function answer(space: TestSpace, { path, headers, method = 'GET', body }: Proof, secret: string) {
  const sent = { ...(body && { 'content-type': 'application/json' }), ...(await headers?.(secret, space)) }
  const { status, text } = await cluster.ask(space.host, method, path(secret), sent, body?.(secret, space))
  return [
    status,
    text
      .replaceAll(secret, '<secret>')
      .replaceAll(encodeURIComponent(secret), '<secret>')
      .replace(/"request":"[^"]*"|nonce="[^"]*"|value="[^"]{20,}"|"run":"[^"]*"|data [0-9a-f]{16}/g, ''),
  ]
}

test.each(Object.entries(proofs))('%s of another space is one that was never made', async (_name, proof) => {
  const secret = await proof.secret()
  const other = neverMade(secret)
  expect(other).not.toBe(secret)
  const unknown = await answer(blue, proof, other)
  expect(unknown[0]).not.toBe(500)
  expect(await answer(blue, proof, secret)).toEqual(unknown)
  // In its own space it is another matter.
  const taken = await answer(red, proof, secret)
  expect(taken).not.toEqual(await answer(red, proof, other))
  expect(taken[0]).toBeLessThan(400)
})

test('the page of an approval of another space is as one that was never made, also for an administrator', async () => {
  const [path = ''] = pathOf(await post('/ask')).split('?')
  expect(path).toMatch(/^\/_approvals\//)
  const token = await blue.signIn()
  const seen = async (space: TestSpace, as: string, to: string) => {
    const headers = { cookie: `access_token=${as}`, accept: 'text/html' }
    const { status, text } = await cluster.ask(space.host, 'GET', to, headers)
    return [status, text.includes('May it?')]
  }
  const unknown = await seen(blue, token, '/_approvals/0190a6e0-0000-7000-8000-000000000000')
  expect(await seen(blue, token, path)).toEqual(unknown)
  expect(await seen(red, await red.signIn(), path)).toEqual([200, true])
})

test('an idempotency-key of another space repeats nothing', async () => {
  const headers = { 'idempotency-key': 'the-same', 'content-type': 'application/json' }
  const add = (space: TestSpace, text: string) =>
    cluster.ask(space.host, 'POST', '/api/v1/add', headers, { text })
  expect((await add(red, 'of red')).body).toBe('of red')
  expect((await add(red, 'of red')).headers['idempotent-replay']).toBe('true')
  const other = await add(blue, 'of blue')
  expect([other.status, other.body, other.headers['idempotent-replay']]).toEqual([200, 'of blue', undefined])
})

test('a cursor, and the last event of a stream, of another space lead to what is one’s own', async () => {
  for (const space of [red, blue])
    for (const text of ['one', 'two'])
      await space.send('POST', '/add', { body: { text: `${text} of ${space.host}` } })
  const pageOf = async (space: TestSpace, after?: string) => {
    const storages = await space.manage('POST', '/_system/storages/search', { filters: { name: 'notes' } })
    const path = `/_system/storages/${guidOf(objectsOf(storages)[0])}/documents/search`
    const body = { sort: [{ text: 'desc' }], limit: 1, ...(after !== undefined && { after }) }
    return space.send('POST', path, { token: await space.signIn(), body })
  }
  const { headers } = await pageOf(red)
  const cursor = String(headers['x-next-cursor'])
  expect((await pageOf(red, cursor)).text).toContain('of red')
  const other = await pageOf(blue, cursor)
  expect([other.status, other.text.includes('of red')]).toEqual([200, false])
  const first = await firstEvent(red)
  expect(first).toContain('of red.example.test')
  const [, id = ''] = /^id: ?(.*)$/m.exec(first) ?? []
  const seen = await firstEvent(blue, id)
  expect([seen.includes('of blue.example.test'), seen.includes('of red')]).toEqual([true, false])
})

/** What a stream of the list sends first. */
async function firstEvent({ host }: TestSpace, lastId?: string): Promise<string> {
  const headers = { host, accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) }
  const sent = request({ host: '127.0.0.1', port: cluster.port, path: '/api/v1/list', headers }).end()
  const [reply]: IncomingMessage[] = await once(sent, 'response')
  let text = ''
  for await (const chunk of reply ?? []) {
    text += String(chunk)
    if (/^data:.*\n\n/m.test(text)) break
  }
  return text
}

describe('doors that look a space up', () => {
  const root = '/api/v1/_system/spaces'
  const operatorHost = 'quoin.example.test'
  const asked = async (host: string, method: string, path: string, token?: string, body?: JsonValue) => {
    const headers = {
      ...(token !== undefined && bearer(token)),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    return (await cluster.ask(host, method, path, headers, body)).status
  }
  const routes: [string, string, string, JsonObject?][] = [
    ['POST', `${root}/search`, 'spaces_view', {}],
    ['GET', `${root}/<guid>`, 'spaces_view'],
    ['PUT', `${root}/<guid>`, 'spaces_update', { suspended: true }],
    ['GET', `${root}/<guid>/usage`, 'spaces_view'],
    ['GET', `${root}/<guid>/health`, 'spaces_view'],
    ['POST', `${root}/<guid>/backup`, 'spaces_update'],
    ['DELETE', `${root}/<guid>?confirm=red`, 'spaces_remove'],
    ['GET', '/api/v1/_system/previews', 'applications_view'],
  ]
  const made = new Set<string>()
  test.each(routes)('%s %s: no wrong caller comes to a space by it', async (method, path, scope, body) => {
    const { operator } = cluster
    const to = path.replace('<guid>', red.guid)
    const name = `all-but-${scope}`
    const verbs = ['view', 'create', 'update', 'remove'].flatMap((one) => [
      `spaces_${one}`,
      `applications_${one}`,
    ])
    if (!made.has(name))
      await operator.addUser(
        name,
        verbs.filter((one) => one !== scope),
      )
    made.add(name)
    const ofOperator = await operator.tokenOf('admin')
    expect([
      // Refused: an anonymous caller, a made-up token, an administrator of a space at the operator's host, and the operator in a space.
      await asked(operatorHost, method, to, undefined, body),
      await asked(operatorHost, method, to, 'x'.repeat(43), body),
      await asked(operatorHost, method, to, await red.signIn(), body),
      await asked(red.host, method, to, ofOperator, body),
      // The wrong role.
      await asked(operatorHost, method, to, await operator.tokenOf(name), body),
      // A space has no spaces.
      await asked(red.host, method, to, await red.signIn(), body),
    ]).toEqual([401, 401, 401, expect.toSatisfy((one) => one === 401 || one === 404), 403, 404])
    expect((await red.send('GET', '/info')).status).toBe(200)
  })
})
