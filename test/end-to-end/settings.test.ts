/** Options that change without a restart: who may set them, what is refused, what counts, and that it counts everywhere at once. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { optionTable } from '../../src/options/options.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { startLocalServer } from '../local-server.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, startProcess, type TestQuoin } from './harness.ts'

const onPostgres = inject('engine') === 'postgres'
const root = '/_system/settings'
const metricsToken = 'a-token-of-the-metrics'
/** Goes through as many elements as it is sent, each of which counts as a block. */
const counting: JsonObject = {
  on: { type: 'on_startup_register_uri_post', in: { uri: 'counted' }, scopes: ['*public'] },
  reply: { type: 'reply', in: { flow: '@on.flow', value: '=body.map(one => one + 1)' } },
}
const many = { body: Array(500).fill(1) }

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin({
    QUOIN_STREAMS: '1234',
    QUOIN_METRICS_TOKEN: metricsToken,
    QUOIN_ENVIRONMENT: 'production',
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
  })
  for (const verb of ['view', 'update', 'remove']) await quoin.addUser(verb, [`settings_${verb}`])
  await quoin.addUser('without_scopes', ['environment_update'])
  await quoin.install('Counted', counting)
})
afterAll(() => quoin.close())

const put = (name: string, value: JsonValue, as = 'update') =>
  quoin.send('PUT', `${root}/${name}`, { as, body: { value } })
const unset = (name: string) => quoin.send('DELETE', `${root}/${name}`, { as: 'remove' })
const read = async (name: string) =>
  objectOf((await quoin.send('GET', `${root}/${name}`, { as: 'view' })).body)
const counted = async () => (await quoin.send('POST', '/counted', many)).status
/** Of an endpoint, the API and a sign-in, which has 16 KiB: what each replies to a body of so many bytes. */
async function padded(bytes: number): Promise<number[]> {
  const token = await quoin.tokenOf('admin')
  const post = async (path: string, payload: string, headers = {}) => {
    const url = `/api/v1${path}`
    const type = { 'content-type': 'application/json', ...headers }
    const whole = payload.padEnd(bytes)
    return (await quoin.quoin.server.app.inject({ method: 'POST', url, headers: type, payload: whole }))
      .statusCode
  }
  return [
    await post('/counted', '[1]'),
    // Edits without an action are refused once the body was read, which is what counts here.
    await post(`/blueprints/${'0'.repeat(32)}/edits`, '{"edits":[]}', { authorization: `Bearer ${token}` }),
    await post('/users/search', '{}', { authorization: `Bearer ${token}` }),
    await post('/auth/signin', '{"username":"nobody","password":"wrong password"}'),
  ]
}

test('the start in production says that an administrator has no second factor', async () => {
  const messages = (await quoin.systemLog()).map(({ message }) => String(message))
  expect(messages.filter((message) => message.includes('no second factor'))).toHaveLength(1)
})

describe('what is refused', () => {
  test.each([
    ['GET', '', 'view'],
    ['GET', '/QUOIN_RATE_LIMIT', 'view'],
    ['PUT', '/QUOIN_RATE_LIMIT', 'update'],
    ['DELETE', '/QUOIN_RATE_LIMIT', 'remove'],
  ] as const)('%s %s needs a token and the scope to %s', async (method, path, verb) => {
    const body = method === 'PUT' ? { body: { value: '1' } } : {}
    expect((await quoin.send(method, `${root}${path}`, body)).status).toBe(401)
    const others = ['view', 'update', 'remove'].filter((one) => one !== verb)
    for (const as of ['without_scopes', ...others])
      expect((await quoin.send(method, `${root}${path}`, { as, ...body })).status).toBe(403)
    expect(await read('QUOIN_RATE_LIMIT')).toMatchObject({ source: 'default', value: '100', stored: null })
  })

  test.each([
    ['QUOIN_RATE_LIMIT', 'many', 'QUOIN_RATE_LIMIT is "many"; it must be a whole number from 0 to 1000000.'],
    ['QUOIN_RATE_LIMIT', '-1', 'a whole number'],
    ['QUOIN_RATE_LIMIT', '1000001', 'a whole number'],
    ['QUOIN_RATE_LIMIT', '', 'QUOIN_RATE_LIMIT is empty'],
    ['QUOIN_RATE_LIMIT', ' ', 'QUOIN_RATE_LIMIT is empty'],
    ['QUOIN_RUN_DEADLINE', '9', 'a whole number from 10 to'],
    ['QUOIN_LOCKOUT_ATTEMPTS', '0', 'a whole number from 1 to'],
    ['QUOIN_BODY_LIMIT', '1023', 'a whole number from 1024 to'],
    ['QUOIN_BODY_LIMIT', '16777217', 'a whole number from 1024 to 16777216'],
    ['QUOIN_KEEP_LOGS', '0', 'a whole number from 1 to'],
    ['QUOIN_MAIL_FROM', 'nobody', 'an address such as'],
  ])('%s=%j: 400 with the reason', async (name, value, message) => {
    const reply = await put(name, value)
    expect([reply.status, reply.body]).toMatchObject([
      400,
      { fields: ['value'], message: expect.stringContaining(message) },
    ])
    expect(await read(name)).toMatchObject({ source: 'default', stored: null })
  })

  test.each<JsonValue>([5, null, ['5']])('a value that is no text: %j', async (value) => {
    expect((await put('QUOIN_RATE_LIMIT', value)).status).toBe(400)
  })

  test.each([
    ['QUOIN_RATE_LIMITS', 404, 'Did you mean QUOIN_RATE_LIMIT?'],
    ['rateLimit', 404, 'no setting'],
    ['__proto__', 404, 'no setting'],
    ['QUOIN_TOKEN', 404, 'no setting'],
    ['QUOIN_PORT', 409, 'needs a restart'],
    ['QUOIN_TRUST_PROXY', 409, 'needs a restart'],
    ['QUOIN_ALLOWED_HOSTS', 403, 'settings_network'],
    ['QUOIN_SECRETS_KEY', 409, 'needs a restart'],
    ['QUOIN_STREAMS', 409, 'The environment of this node sets QUOIN_STREAMS'],
  ])('%s: %i', async (name, status, message) => {
    const reply = await put(name, '5')
    expect([reply.status, reply.body]).toMatchObject([status, { message: expect.stringContaining(message) }])
    if (status === 404) expect((await quoin.send('GET', `${root}/${name}`, { as: 'view' })).status).toBe(404)
  })

  test('only a closed list changes without a restart', async () => {
    const all = objectsOf((await quoin.send('GET', root, { as: 'view' })).body)
    expect(all.filter(({ changeable }) => changeable === true).map(({ name }) => name)).toEqual([
      'QUOIN_LOG_LEVEL',
      'QUOIN_BACKUP_SCHEDULE',
      'QUOIN_BACKUP_KEEP',
      'QUOIN_BODY_LIMIT',
      'QUOIN_RATE_LIMIT',
      'QUOIN_CONNECTIONS',
      'QUOIN_STREAMS',
      'QUOIN_STREAMS_PER_ADDRESS',
      'QUOIN_STREAMS_PER_USER',
      'QUOIN_REPLY_MEMORY',
      'QUOIN_RUN_DEADLINE',
      'QUOIN_RUN_BUDGET',
      'QUOIN_KEEP_LOGS',
      'QUOIN_KEEP_RUNS',
      'QUOIN_KEEP_HISTORY',
      'QUOIN_KEEP_REMOVED',
      'QUOIN_MAIL_FROM',
      'QUOIN_PUSH_APPROVAL',
      'QUOIN_ALLOWED_HOSTS',
      'QUOIN_ASSISTANT_CONNECTION',
      'QUOIN_ASSISTANT_MODEL',
      'QUOIN_ASSISTANT_TOKENS_PER_RUN',
      'QUOIN_ASSISTANT_TOKENS_PER_DAY',
      'QUOIN_ASSISTANT_MONEY_PER_DAY',
      'QUOIN_ASSISTANT_PRICES',
      'QUOIN_PROOF_ABOVE',
      'QUOIN_LOCKOUT_ATTEMPTS',
      'QUOIN_LOCKOUT_SECONDS',
    ])
  })
})

test('every option of a server is listed, and no secret is shown', async () => {
  const reply = await quoin.send('GET', root, { as: 'view' })
  const all = objectsOf(reply.body)
  const ofCommands = ['QUOIN_TOKEN', 'XDG_CONFIG_HOME']
  const variables = Object.values(optionTable).map(({ variable }) => String(variable))
  expect(all.map(({ name }) => name)).toEqual(variables.filter((name) => !ofCommands.includes(name)))
  for (const secret of [metricsToken, 'correct horse battery staple', 'postgres://quoin'])
    expect(reply.text).not.toContain(secret)
  const secrets = all.filter(({ secret }) => secret === true)
  expect(secrets.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'QUOIN_METRICS_TOKEN',
      'QUOIN_ADMIN_PASSWORD',
      'DATABASE_URL',
      'QUOIN_SECRETS_KEY',
    ]),
  )
  expect(new Set(secrets.map(({ value }) => value))).toEqual(new Set([null]))
  expect(await read('QUOIN_METRICS_TOKEN')).toMatchObject({
    source: 'environment',
    value: null,
    stored: null,
  })
  expect(await read('QUOIN_STREAMS')).toMatchObject({ source: 'environment', value: '1234' })
})

test('a budget of runs counts from the next run on, and its default again when it is removed', async () => {
  expect(await counted()).toBe(200)
  const reply = await put('QUOIN_RUN_BUDGET', ' 100 ')
  expect([reply.status, reply.body]).toMatchObject([200, { source: 'setting', value: '100', stored: '100' }])
  expect(await counted()).toBe(503)
  expect((await put('QUOIN_RUN_BUDGET', '100000')).status).toBe(200)
  expect(await counted()).toBe(200)
  await put('QUOIN_RUN_BUDGET', '100')
  expect(await counted()).toBe(503)
  const removed = await unset('QUOIN_RUN_BUDGET')
  expect([removed.status, removed.body]).toMatchObject([200, { source: 'default', stored: null }])
  expect(await counted()).toBe(200)
  expect((await unset('QUOIN_RUN_BUDGET')).status).toBe(200)
})

test('a rate limit counts from the next request on', async () => {
  await put('QUOIN_RATE_LIMIT', '2')
  const statuses = await Promise.all(Array.from({ length: 20 }, counted))
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  await put('QUOIN_RATE_LIMIT', '0')
  expect(new Set(await Promise.all(Array.from({ length: 150 }, counted)))).toEqual(new Set([200]))
  await unset('QUOIN_RATE_LIMIT')
})

test('a limit of bodies counts from the next request on, in endpoints and the API; a route keeps its own', async () => {
  await put('QUOIN_BODY_LIMIT', '2000')
  expect(await padded(2000)).toEqual([200, 400, 200, 401])
  expect(await padded(2001)).toEqual([413, 413, 413, 401])
  const refused = await quoin.send('POST', '/counted', { body: 'x'.repeat(3000) })
  expect(refused.body).toEqual({ error: 'The body is larger than 2000 bytes.' })
  await put('QUOIN_BODY_LIMIT', '4000000')
  expect(await padded(2_000_000)).toEqual([200, 400, 413, 413])
  await unset('QUOIN_BODY_LIMIT')
  expect(await padded(1_048_576)).toEqual([200, 400, 413, 413])
  expect(await padded(1_048_577)).toEqual([413, 413, 413, 413])
})

test('what is older than a setting allows is deleted at once: logs, runs and the history of documents', async () => {
  const guid = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'kept', history: true }))
  await quoin.manage('POST', `/_system/storages/${guid}/documents`, { n: 1 })
  await put('QUOIN_RUN_BUDGET', '100')
  expect(await counted()).toBe(503)
  await unset('QUOIN_RUN_BUDGET')
  const before = Math.floor(quoin.now() / 1000)
  const old = async () => {
    const all = await Promise.all(['_systemlogs', '_userlogs', '_runs', '_history'].map(quoin.documents))
    return all.map((records) => records.some(({ _meta }) => Number(objectOf(_meta).created) <= before))
  }
  await expect.poll(old).toEqual([true, true, true, true])
  await put('QUOIN_KEEP_RUNS', '72')
  quoin.advance(2 * 86_400_000)
  await put('QUOIN_KEEP_LOGS', '1')
  await expect.poll(old).toEqual([false, false, true, true])
  await put('QUOIN_KEEP_HISTORY', '1')
  await expect.poll(old).toEqual([false, false, true, false])
  await unset('QUOIN_KEEP_RUNS')
  await expect.poll(old).toEqual([false, false, false, false])
  for (const name of ['QUOIN_KEEP_LOGS', 'QUOIN_KEEP_HISTORY']) await unset(name)
})

test('documents that were removed longer ago than a setting says are deleted at once', async () => {
  const guid = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'thrown_away' }))
  const path = `/_system/storages/${guid}/documents`
  const [gone, stays] = [
    guidOf(await quoin.manage('POST', path, {})),
    guidOf(await quoin.manage('POST', path, {})),
  ]
  await quoin.send('DELETE', `${path}/${gone}`, { as: 'admin' })
  const all = async () =>
    objectsOf(await quoin.manage('POST', `${path}/search`, { include_removed: true })).length
  quoin.advance(2 * 86_400_000)
  await put('QUOIN_KEEP_REMOVED', '3')
  expect(await all()).toBe(2)
  await put('QUOIN_KEEP_REMOVED', '2')
  await expect.poll(all).toBe(1)
  expect((await quoin.send('GET', `${path}/${stays}`, { as: 'admin' })).status).toBe(200)
  await unset('QUOIN_KEEP_REMOVED')
})

test('a user is locked after as many failed sign-ins as are set', async () => {
  await put('QUOIN_LOCKOUT_ATTEMPTS', '2')
  const body = { username: 'without_scopes', password: 'wrong password' }
  const tries: number[] = []
  for (let n = 0; n < 3; n += 1) tries.push((await quoin.send('POST', '/auth/signin', { body })).status)
  expect(tries).toEqual([401, 401, 429])
  await unset('QUOIN_LOCKOUT_ATTEMPTS')
})

test('each change is audited with its user and both texts', async () => {
  await put('QUOIN_LOCKOUT_SECONDS', '60')
  await put('QUOIN_LOCKOUT_SECONDS', '70', 'admin')
  await put('QUOIN_LOCKOUT_SECONDS', 'never')
  await unset('QUOIN_LOCKOUT_SECONDS')
  const found = await quoin.manage('POST', '/_system/auditlogs', {
    filters: { category: 'settings', name: 'QUOIN_LOCKOUT_SECONDS' },
    sort: [{ '_meta.cms': 'asc' }],
  })
  expect(found).toMatchObject([
    { action: 'created', user: { username: 'update' }, after: { value: '60' } },
    { action: 'updated', user: { username: 'admin' }, before: { value: '60' }, after: { value: '70' } },
    { action: 'removed', user: { username: 'remove' } },
  ])
})

/** Asks a server of this machine: 200, or 400 while that is closed. */
const asking = (address: string): JsonObject => ({
  on: { type: 'on_startup_register_uri_get', in: { uri: 'asked' }, scopes: ['*public'] },
  ask: { type: 'http_request', in: { flow: '@on.flow', url: address } },
  reply: { type: 'reply', in: { flow: '@ask.flow', value: '=ask.code' } },
})
const hosts = 'QUOIN_ALLOWED_HOSTS'

test('private hosts are opened and closed while runs go on, by holders of settings_network, and audited', async () => {
  const server = await startLocalServer((_request, response) => void response.end('open'))
  await quoin.install('Asked', asking(server.url))
  await quoin.addUser('network', ['settings_view', 'settings_update', 'settings_remove', 'settings_network'])
  const asked = async () => (await quoin.send('GET', '/asked')).status
  const address = `127.0.0.1:${server.port}`
  try {
    expect(await asked()).toBe(500)
    const refused = await put(hosts, address)
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('settings_network')])
    expect(await asked()).toBe(500)
    expect((await put(hosts, 'http://127.0.0.1', 'network')).status).toBe(400)
    expect((await put(hosts, address, 'network')).status).toBe(200)
    expect(await asked()).toBe(200)
    expect((await unset(hosts)).status).toBe(403)
    await put(hosts, `127.0.0.1:${server.port + 1}`, 'network')
    expect(await asked()).toBe(500)
    await put(hosts, address, 'network')
    expect(await asked()).toBe(200)
    expect((await quoin.send('DELETE', `${root}/${hosts}`, { as: 'network' })).status).toBe(200)
    expect(await asked()).toBe(500)
    const filters = { category: 'settings', name: hosts, action: 'created' }
    const [audited] = objectsOf(await quoin.manage('POST', '/_system/auditlogs', { filters }))
    expect(audited).toMatchObject({ user: { username: 'network' }, after: { value: address } })
  } finally {
    await server.close()
  }
})

test('of several clients that set one option at once, each is answered and one text counts', async () => {
  const values = Array.from({ length: 8 }, (_, n) => `${100 + n}`)
  const replies = await Promise.all(values.map((value) => put('QUOIN_REPLY_MEMORY', value)))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  expect(values).toContain((await read('QUOIN_REPLY_MEMORY')).value)
  await unset('QUOIN_REPLY_MEMORY')
})

function twoNodes(): void {
  let temporary: TemporaryDatabase
  let one: TestQuoin
  let two: TestQuoin
  beforeAll(async () => {
    temporary = await openTemporaryDatabase(quoinTemplate)
    const settings = { DATABASE_URL: temporary.url, QUOIN_RATE_LIMIT: '0' }
    one = await openTestQuoin({ ...settings, QUOIN_NODE: 'one' })
    two = await openTestQuoin({ ...settings, QUOIN_NODE: 'two', QUOIN_STREAMS: '7' })
    await one.install('Counted', counting)
  })
  afterAll(async () => {
    await one?.close()
    await two?.close()
    await temporary?.drop()
  })

  test('what one node acknowledged counts on both', async () => {
    const seen = () =>
      Promise.all([one, two].map(async (node) => (await node.send('POST', '/counted', many)).status))
    for (let round = 0; round < 5; round += 1) {
      await one.manage('PUT', `${root}/QUOIN_RUN_BUDGET`, { value: '100' })
      expect(await seen()).toEqual([503, 503])
      await two.manage('DELETE', `${root}/QUOIN_RUN_BUDGET`)
      expect(await seen()).toEqual([200, 200])
    }
    await one.manage('PUT', `${root}/QUOIN_BODY_LIMIT`, { value: '1024' })
    const large = { body: Array(600).fill(1) }
    const sizes = await Promise.all([one, two].map((node) => node.send('POST', '/counted', large)))
    expect(sizes.map(({ status }) => status)).toEqual([413, 413])
    await two.manage('DELETE', `${root}/QUOIN_BODY_LIMIT`)
  })

  test('private hosts are open on both nodes from the reply on, and closed again', async () => {
    const server = await startLocalServer((_request, response) => void response.end('open'))
    await one.install('Asked', asking(server.url))
    const asked = () => Promise.all([one, two].map(async (node) => (await node.send('GET', '/asked')).status))
    try {
      expect(await asked()).toEqual([500, 500])
      await one.manage('PUT', `${root}/${hosts}`, { value: `127.0.0.1:${server.port}` })
      expect(await asked()).toEqual([200, 200])
      await two.manage('DELETE', `${root}/${hosts}`)
      expect(await asked()).toEqual([500, 500])
    } finally {
      await server.close()
    }
  })

  test('the environment of a node overrides the setting there and nowhere else', async () => {
    await one.manage('PUT', `${root}/QUOIN_STREAMS`, { value: '5' })
    expect(await one.manage('GET', `${root}/QUOIN_STREAMS`)).toMatchObject({ source: 'setting', value: '5' })
    expect(await two.manage('GET', `${root}/QUOIN_STREAMS`)).toMatchObject({
      ...{ source: 'environment', value: '7', stored: '5' },
    })
  })
}

/** A process with its own log, so that what it writes is seen. */
function ownProcess(): void {
  test('it holds after a restart, and the environment goes before it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
    const first = await startProcess(directory, {
      QUOIN_ADMIN_PASSWORD: 'correct horse battery staple',
      QUOIN_LOG_LEVEL: '',
    })
    const call = async (address: string, method: string, path: string, token: string, body?: JsonObject) => {
      const reply = await fetch(`${address}/api/v1${path}`, {
        method,
        headers: {
          ...(token !== '' && { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return objectOf(await reply.json())
    }
    const signIn = async (address: string) => {
      const body = { username: 'admin', password: 'correct horse battery staple' }
      return String((await call(address, 'POST', '/auth/signin', '', body)).access_token)
    }
    try {
      const token = await signIn(first.address)
      const lines = (process: typeof first) => process.output().split('request finished').length - 1
      await call(first.address, 'GET', '/users/me', token)
      expect(lines(first)).toBe(0)
      await call(first.address, 'PUT', `${root}/QUOIN_LOG_LEVEL`, token, { value: 'debug' })
      await call(first.address, 'GET', '/users/me', token)
      await expect.poll(() => lines(first)).toBeGreaterThan(0)
      await call(first.address, 'PUT', `${root}/QUOIN_LOG_LEVEL`, token, { value: 'warn' })
      const quiet = lines(first)
      await call(first.address, 'GET', '/users/me', token)
      await call(first.address, 'PUT', `${root}/QUOIN_LOG_LEVEL`, token, { value: 'debug' })
      // Its own line, and none of the request before it.
      await expect.poll(() => lines(first)).toBe(quiet + 1)
    } finally {
      await first.end('SIGKILL')
    }
    const second = await startProcess(directory, { QUOIN_LOG_LEVEL: '' })
    try {
      const token = await signIn(second.address)
      const shown = await call(second.address, 'GET', `${root}/QUOIN_LOG_LEVEL`, token)
      expect(shown).toMatchObject({ source: 'setting', value: 'debug' })
      await expect.poll(() => second.output()).toContain('request finished')
    } finally {
      await second.end('SIGKILL')
    }
    const third = await startProcess(directory, { QUOIN_LOG_LEVEL: 'error' })
    try {
      const token = await signIn(third.address)
      const shown = await call(third.address, 'GET', `${root}/QUOIN_LOG_LEVEL`, token)
      expect(shown).toMatchObject({ source: 'environment', value: 'error', stored: 'debug' })
      expect(third.output()).not.toContain('request finished')
    } finally {
      await third.end('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    }
  })
}

if (onPostgres) describe('two nodes', twoNodes)
else describe('a process', ownProcess)

test('the health of a node in production says to who may see users that an administrator has no second factor', async () => {
  const health = async (token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const reply = await quoin.quoin.server.app.inject({ method: 'GET', url: '/health/ready', headers })
    return [reply.statusCode, reply.json().warning]
  }
  await quoin.addUser('viewer_of_users', ['users_view'])
  const viewer = await quoin.tokenOf('viewer_of_users')
  expect(await health()).toEqual([200, undefined])
  expect(await health('wrong')).toEqual([200, undefined])
  expect(await health(await quoin.tokenOf('view'))).toEqual([200, undefined])
  expect(await health(viewer)).toEqual([200, 'second_factor'])
  const { challenge, secret } = objectOf(await quoin.manage('POST', '/users/me/second-factor'))
  const code = TOTP.generate({ secret: new TOTP({ secret: String(secret) }).secret, timestamp: quoin.now() })
  await quoin.manage('PUT', '/users/me/second-factor', { challenge: String(challenge), code })
  quoin.advance(61_000)
  expect(await health(viewer)).toEqual([200, undefined])
})
