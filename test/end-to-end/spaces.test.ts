/** Spaces of one cluster: who makes them, what reaches which, what wakes them, and what is left when one is deleted. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { writeTemplate } from '../../src/cli/extensions/extension-template.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { search } from '../../src/shared/query.ts'
import { documentsOf } from '../../src/storage/find-documents.ts'
import { transact } from '../../src/storage/transact.ts'
import { jsonAt } from '../json-at.ts'
import { guidOf, objectOf, objectsOf, userPassword } from './harness.ts'
import { later, openTestCluster, type TestCluster, type TestSpace } from './space-fixture.ts'

const onPostgres = inject('engine') === 'postgres'
const root = '/_system/spaces'

let cluster: TestCluster
let red: TestSpace
let blue: TestSpace
let blocks: string
beforeAll(async () => {
  blocks = await mkdtemp(join(tmpdir(), 'quoin-blocks-'))
  await writeTemplate('acme', join(blocks, 'acme'))
  const address = { QUOIN_PUBLIC_URL: 'https://quoin.example.test' }
  cluster = await openTestCluster({ ...address, QUOIN_SPACES_OPEN: '3', QUOIN_BLOCKS: blocks })
  red = await cluster.addSpace('red')
  blue = await cluster.addSpace('blue')
  const { operator } = cluster
  for (const verb of ['view', 'create', 'update', 'remove']) await operator.addUser(verb, [`spaces_${verb}`])
  await operator.addUser('without_scopes', ['users_view', 'settings_update'])
  for (const space of [red, blue]) {
    await space.manage('POST', '/_system/storages', { name: 'notes' })
    await space.install('Notes', notes(space.host))
  }
})
afterAll(async () => {
  await cluster.close()
  await rm(blocks, { recursive: true, force: true })
})

/** The same addresses in each: an endpoint, its documents, an event that a job handles. */
const notes = (name: string): JsonObject => ({
  add: { type: 'on_startup_register_uri_post', in: { uri: 'notes' }, scopes: ['*loggedin'] },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@add.flow', storage: '@notes.storage', mutations: '@fields.mutations' },
  },
  fields: { type: 'mutations_set_custom_field', in: { field: 'text', value: '=body.text' } },
  notes: { type: 'storage', fields: { storage: 'notes' } },
  added: { type: 'reply', in: { flow: '@create.flow', value: '@create.document' } },
  list: { type: 'on_startup_register_uri_get', in: { uri: 'notes' }, scopes: ['*public'] },
  search: { type: 'function_search', in: { flow: '@list.flow', storage: '@notes.storage' } },
  listed: {
    type: 'reply',
    in: { flow: '@search.flow', value: `=({ name: '${name}', notes: search.documents })` },
  },
})

const made = (as: string, body: JsonValue) => cluster.operator.send('POST', root, { as, body })

describe('who makes spaces', () => {
  test.each([
    ['anonymous', undefined, 401],
    ['without the scope', 'without_scopes', 403],
    ['who may only look', 'view', 403],
    ['who may only change', 'update', 403],
  ])('%s makes none', async (_name, as, status) => {
    const body = { name: 'green', hosts: ['green.example.test'] }
    const answer = await cluster.operator.send('POST', root, { ...(as !== undefined && { as }), body })
    expect(answer.status).toBe(status)
    expect(await names()).toEqual(['blue', 'red'])
  })

  test.each([
    ['a name with a capital', { name: 'Green', hosts: ['g.example.test'] }, 400],
    ['no host', { name: 'green', hosts: [] }, 400],
    ['a host with a port', { name: 'green', hosts: ['g.example.test:80'] }, 400],
    ['a host in capitals', { name: 'green', hosts: ['G.example.test'] }, 400],
    ['an address', { name: 'green', hosts: ['127.0.0.1'] }, 400],
    ['the host of the cluster', { name: 'green', hosts: ['quoin.example.test'] }, 400],
    ['a short password', { name: 'green', hosts: ['g.example.test'], password: 'short' }, 400],
    ['a name that is taken', { name: 'red', hosts: ['g.example.test'] }, 409],
    ['a host that is taken', { name: 'green', hosts: ['g.example.test', 'red.example.test'] }, 409],
  ])('%s is refused, and nothing is made', async (_name, body, status) => {
    const answer = await made('create', body)
    expect([answer.status, await names()]).toEqual([status, ['blue', 'red']])
    expect(await stored()).toHaveLength(2)
  })

  test('a password that leaked leaves nothing behind', async () => {
    const body = { name: 'green', hosts: ['green.example.test'], password: 'password123456' }
    expect((await made('create', body)).status).toBe(400)
    expect(await names()).toEqual(['blue', 'red'])
    expect(await stored()).toHaveLength(2)
  })

  test('a space has no spaces, and its administrator has none of the operator’s scopes', async () => {
    const token = await red.signIn()
    expect((await red.send('POST', `${root}/search`, { token })).status).toBe(404)
    expect((await red.send('POST', root, { token, body: { name: 'x', hosts: ['x.y'] } })).status).toBe(404)
    const paths = objectOf(objectOf((await red.send('GET', '/openapi.json', { token })).body).paths)
    expect(Object.keys(paths).filter((path) => path.includes('/spaces'))).toEqual([])
  })

  test('the audit log of the operator has it, and those of the spaces have not', async () => {
    const read = { filters: { category: 'spaces' }, sort: [{ '_meta.cms': 'asc' }] }
    const log = objectsOf(await cluster.operator.manage('POST', '/_system/auditlogs', read))
    expect(log.map(({ action, name }) => `${action} ${name}`).filter((one) => /red/.test(one))[0]).toBe(
      'created red',
    )
    // Opening and closing is no change of anyone.
    expect(log.length).toBeLessThan(8)
    expect(objectsOf(await red.manage('POST', '/_system/auditlogs', read))).toEqual([])
  })
})

describe('what reaches which', () => {
  test('the same address is another endpoint with other documents, jobs and users in each', async () => {
    const [redToken, blueToken] = [await red.signIn(), await blue.signIn()]
    const add = (space: TestSpace, token: string, text: string) =>
      space.send('POST', '/notes', { token, body: { text } })
    expect((await add(red, redToken, 'of red')).status).toBe(200)
    expect((await add(blue, blueToken, 'of blue')).status).toBe(200)
    // A token of another space is none, so the endpoint is hidden.
    expect((await add(blue, redToken, 'stray')).status).toBe(404)
    expect((await blue.send('GET', '/users/me', { token: redToken })).status).toBe(401)
    expect((await add(red, blueToken, 'stray')).status).toBe(404)
    const seen = async (space: TestSpace) => {
      const { name, notes: all } = objectOf((await space.send('GET', '/notes')).body)
      return [name, ...objectsOf(all).map(({ text }) => text)]
    }
    for (let round = 0; round < 2; round++)
      expect([await seen(red), await seen(blue)]).toEqual([
        ['red.example.test', 'of red'],
        ['blue.example.test', 'of blue'],
      ])
    expect((await cluster.operator.send('GET', '/notes')).status).toBe(404)
    await red.addUser('ann', ['users_view'])
    await expect(blue.signIn('ann')).rejects.toThrow('401')
    await expect(
      cluster.operator.send('GET', '/users/me', { headers: { authorization: `Bearer ${redToken}` } }),
    ).resolves.toMatchObject({ status: 401 })
  })

  test.each([
    ['in capitals', 'RED.example.TEST', 'red.example.test'],
    ['with a port', 'red.example.test:8080', 'red.example.test'],
    ['with a last dot', 'red.example.test.', 'red.example.test'],
  ])('a host %s is the same', async (_name, host, name) => {
    expect((await cluster.ask(host, 'GET', '/api/v1/notes')).body).toMatchObject({ name })
  })

  test.each([
    ['unknown', 'other.example.test'],
    ['below that of a space', 'a.red.example.test'],
    ['above it', 'example.test'],
  ])('a host that is %s is the operator’s own', async (_name, host) => {
    expect((await cluster.ask(host, 'GET', '/api/v1/notes')).status).toBe(404)
    expect((await cluster.ask(host, 'GET', '/api/v1/info')).body).toMatchObject({ name: 'Quoin' })
  })

  test('a second host header, a forwarded host and an absolute address change nothing', async () => {
    const forwarded = { 'x-forwarded-host': 'blue.example.test', forwarded: 'host=blue.example.test' }
    const answer = await cluster.ask('red.example.test', 'GET', '/api/v1/notes', forwarded)
    expect(answer.body).toMatchObject({ name: 'red.example.test' })
    const absolute = await cluster.ask('red.example.test', 'GET', 'http://blue.example.test/api/v1/notes')
    expect(JSON.stringify(absolute.body)).not.toContain('of blue')
  })

  test('links of a space have its own host', async () => {
    const found = await cluster.ask('red.example.test', 'GET', '/.well-known/oauth-authorization-server')
    expect([found.status, objectOf(found.body).issuer]).toEqual([200, 'https://red.example.test'])
  })
})

describe('settings', () => {
  test('a space sees and changes those that are its own, and no other one', async () => {
    const all = objectsOf(await red.manage('GET', '/_system/settings'))
    expect(all.map(({ name }) => name).toSorted()).toEqual([
      ...[
        'QUOIN_ASSISTANT_CONNECTION',
        'QUOIN_ASSISTANT_MODEL',
        'QUOIN_ASSISTANT_MONEY_PER_DAY',
        'QUOIN_ASSISTANT_PRICES',
        'QUOIN_ASSISTANT_TOKENS_PER_DAY',
        'QUOIN_ASSISTANT_TOKENS_PER_RUN',
      ],
      ...['QUOIN_BACKUP_KEEP', 'QUOIN_BACKUP_SCHEDULE', 'QUOIN_KEEP_HISTORY'],
      ...['QUOIN_KEEP_LOGS', 'QUOIN_KEEP_REMOVED', 'QUOIN_KEEP_RUNS', 'QUOIN_LOCKOUT_ATTEMPTS'],
      ...['QUOIN_LOCKOUT_SECONDS', 'QUOIN_MAIL_FROM', 'QUOIN_PROOF_ABOVE', 'QUOIN_PUSH_APPROVAL'],
    ])
    const token = await red.signIn()
    for (const [name, value] of [
      ['QUOIN_ALLOWED_HOSTS', '127.0.0.1'],
      ['QUOIN_RATE_LIMIT', '0'],
      ['QUOIN_RUN_DEADLINE', '3600000'],
    ]) {
      const body = { value: value ?? '' }
      expect((await red.send('PUT', `/_system/settings/${name}`, { token, body })).status).toBe(404)
    }
    await red.manage('PUT', '/_system/settings/QUOIN_KEEP_LOGS', { value: '3' })
    expect(await blue.manage('GET', '/_system/settings/QUOIN_KEEP_LOGS')).toMatchObject({ value: '30' })
  })

  test('one that the operator changes counts in a space that is open', async () => {
    const limits = async () => (await red.enter()).flows.environment.limits.deadline
    expect(await limits()).toBe(30_000)
    await cluster.operator.manage('PUT', '/_system/settings/QUOIN_RUN_DEADLINE', { value: '1234' })
    expect(await limits()).toBe(1234)
    await cluster.operator.manage('DELETE', '/_system/settings/QUOIN_RUN_DEADLINE')
  })
})

describe('extensions', () => {
  test('one that a space switches on is on there, and no other space has its blocks', async () => {
    const path = '/_system/extensions'
    const greeting: JsonObject = {
      ask: { type: 'on_startup_register_uri_get', in: { uri: 'greeting' }, scopes: ['*public'] },
      greet: { type: 'acme_greet', in: { flow: '@ask.flow', name: 'Ada' } },
      reply: { type: 'reply', in: { flow: '@greet.flow', value: '@greet.greeting' } },
    }
    const [found] = objectsOf(await red.manage('GET', path))
    const body = { on: true, hash: jsonAt(found, 'found', 'hash') ?? '' }
    await red.addUser('drawer', ['blueprints_update'])
    const token = await red.signIn('drawer', userPassword)
    expect((await red.send('PUT', `${path}/acme`, { token, body })).status).toBe(403)
    expect((await blue.send('PUT', `${path}/acme`, { token, body })).status).toBe(401)
    await red.manage('PUT', `${path}/acme`, body)
    await red.install('Greeting', greeting)
    expect((await red.send('GET', '/greeting')).body).toBe('Hello, Ada!')
    expect(objectsOf(await blue.manage('GET', path))).toMatchObject([{ name: 'acme', stored: [] }])
    await expect(blue.install('Greeting', greeting)).rejects.toThrow('no block of the type "acme_greet"')
    expect((await blue.send('GET', '/greeting')).status).toBe(404)
  })
})

describe('open and closed', () => {
  test('of more spaces than may be open the one that was used longest ago is closed, and opened again', async () => {
    const more = [await cluster.addSpace('one'), await cluster.addSpace('two')]
    expect(await open()).toHaveLength(3)
    for (const space of [red, blue, ...more, red]) {
      expect((await space.send('GET', '/info')).status).toBe(200)
      expect((await open()).length).toBeLessThanOrEqual(3)
      expect(await open()).toContain(space.host.split('.')[0])
    }
    expect((await red.send('GET', '/notes')).body).toMatchObject({ name: 'red.example.test' })
    for (const { guid, host } of more) await remove(guid, host.split('.')[0] ?? '')
  })

  test('a closed space is opened when a schedule of it is due', async () => {
    const { operator } = cluster
    await blue.install('Hourly', {
      hourly: { type: 'schedule_repeating_event', in: { every: '1h' } },
      create: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@hourly.flow', storage: '@ticks.storage', set: { at: 'tick' } },
      },
      ticks: { type: 'storage', fields: { storage: 'ticks' } },
    })
    const ticks = async () => {
      const { database } = await blue.enter()
      return database.has('ticks') ? database.session().count('ticks', { kind: 'all' }) : 0
    }
    expect(await ticks()).toBe(0)
    operator.advance(301_000)
    await operator.quoin.spaces?.check()
    expect(await open()).not.toContain('blue')
    operator.advance(3_600_000)
    await operator.quoin.spaces?.check()
    await expect.poll(ticks, { timeout: 10_000 }).toBe(1)
  })

  test('a client that leaves while a space is opened does not hinder its end', async () => {
    const { operator } = cluster
    const { server } = operator.quoin.server.app
    await closeIdle()
    server.once('request', (asked: IncomingMessage) => asked.socket.destroy())
    await expect(cluster.ask(red.host, 'GET', '/api/v1/info')).rejects.toThrow()
    await red.enter()
    expect(await open()).toContain('red')
    await closeIdle()
    expect(await open()).not.toContain('red')
  })

  test('while one waits for its last request, another one is opened', async () => {
    const { operator } = cluster
    const { server } = operator.quoin.server.app
    await closeIdle()
    expect((await red.send('GET', '/info')).status).toBe(200)
    const headers = { host: red.host, 'content-type': 'application/json', 'content-length': 2 }
    const slow = request({
      ...{ host: '127.0.0.1', port: cluster.port, method: 'POST', path: '/api/v1/auth/signin', headers },
    })
    const answered = once(slow, 'response')
    slow.flushHeaders()
    await once(server, 'request')
    await operator.manage('PUT', `${root}/${red.guid}`, { title: 'Another title' })
    const order: string[] = []
    const waits = red.send('GET', '/info').then(({ status }) => order.push(`red ${status}`))
    order.push(`blue ${(await blue.send('GET', '/info')).status}`)
    expect(order).toEqual(['blue 200'])
    slow.end('{}')
    const [reply] = await answered
    expect(reply.statusCode).toBe(400)
    reply.resume()
    await waits
    expect(order).toEqual(['blue 200', 'red 200'])
    await operator.manage('PUT', `${root}/${red.guid}`, { title: '' })
  })

  // On PostgreSQL a space has no file.
  if (!onPostgres)
    test('one that is damaged is not tried with each request', async () => {
      const { operator } = cluster
      const errors = async () =>
        objectsOf(
          await operator.manage('POST', '/_system/systemlogs/search', { filters: { level: 'error' } }),
        ).filter(({ message }) => String(message).includes('red could not be opened')).length
      await closeIdle()
      const file = join(operator.directory, 'spaces', red.guid, 'quoin.db')
      await rename(file, `${file}.whole`)
      await writeFile(file, 'this is no database '.repeat(1000))
      for (let turn = 0; turn < 5; turn++) expect((await red.send('GET', '/info')).status).toBe(503)
      expect(await errors()).toBe(1)
      expect((await blue.send('GET', '/info')).status).toBe(200)
      await rename(`${file}.whole`, file)
      operator.advance(5_001)
      expect((await red.send('GET', '/info')).status).toBe(200)
    })

  test('requests for a suspended space get 503, and its data is there again afterwards', async () => {
    const { operator } = cluster
    const set = (suspended: boolean) =>
      operator.send('PUT', `${root}/${red.guid}`, { as: 'update', body: { suspended } })
    expect((await set(true)).body).toMatchObject({ state: 'suspended' })
    const refused = await red.send('GET', '/notes')
    expect([refused.status, objectOf(refused.body).error]).toEqual([503, 'UNAVAILABLE'])
    expect(refused.text).not.toContain('of red')
    await expect.poll(open).not.toContain('red')
    expect((await set(false)).body).toMatchObject({ state: 'active' })
    expect((await red.send('GET', '/notes')).text).toContain('of red')
  })
})

describe('quotas', () => {
  const set = (quotas: JsonObject) =>
    cluster.operator.send('PUT', `${root}/${red.guid}`, { as: 'update', body: { quotas } })
  const usage = async () =>
    objectOf((await cluster.operator.send('GET', `${root}/${red.guid}/usage`, { as: 'view' })).body)
  const add = async (space: TestSpace, text = 'one more') => {
    const token = await space.signIn()
    return space.send('POST', '/notes', { token, body: { text } })
  }

  test('they are set by the operator only, and shown with what is used', async () => {
    expect(
      (await cluster.operator.send('PUT', `${root}/${red.guid}`, { as: 'view', body: { quotas: {} } }))
        .status,
    ).toBe(403)
    expect((await set({ documents: -1 })).status).toBe(400)
    expect((await set({ documents: 5, jobs: 2 })).body).toMatchObject({
      quotas: { documents: 5, bytes: 0, runs_a_minute: 0, jobs: 2 },
    })
    expect(await usage()).toMatchObject({ documents: 1, jobs: 0 })
    expect((await usage()).bytes).toBeGreaterThan(100_000)
  })

  test('the document beyond them is refused, is not stored, and fits again when one is deleted', async () => {
    await set({ documents: 3 })
    const statuses = []
    for (let more = 0; more < 4; more++) statuses.push((await add(red)).status)
    expect(statuses).toEqual([200, 200, 507, 507])
    expect(await usage()).toMatchObject({ documents: 3 })
    expect((await add(blue)).status).toBe(200)
    // Users are no documents of builders: people can sign in and be added.
    await red.addUser('of_a_full_space', ['users_view'])
    const { database } = await red.enter()
    const [last] = documentsOf(await database.session().find('notes', search({ limit: 1 })))
    await transact(database, async (session) => session.delete('notes', guidOf(last)))
    cluster.operator.advance(11_000)
    expect((await add(red)).status).toBe(200)
    const many = JSON.stringify([{ text: 'a' }, { text: 'b' }])
    const rows = await red.send('POST', `/_system/storages/${await guidOfNotes()}/documents`, {
      token: await red.signIn(),
      body: { text: many },
    })
    expect([rows.status, objectOf(rows.body).error]).toEqual([507, 'QUOTA_EXCEEDED'])
  })

  test('a space with too many bytes takes no documents, but sign-ins and deletes', async () => {
    await set({ bytes: 1_000 })
    cluster.operator.advance(11_000)
    expect((await add(red)).status).toBe(507)
    expect((await red.send('GET', '/notes')).status).toBe(200)
    await set({})
    expect((await add(red)).status).toBe(200)
  })

  test('a flow enqueues no job beyond them, and what it wrote in the same transaction is undone', async () => {
    await set({ jobs: 2 })
    const { database } = await red.enter()
    const enqueue = () =>
      transact(database, async (session) => {
        await session.create('notes', [])
        return session.enqueue(later)
      })
    const jobs = [await enqueue(), await enqueue()]
    // Not its bytes: logs are written meanwhile.
    const { documents, jobs: waiting } = await usage()
    await expect(enqueue()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
    expect(await usage()).toMatchObject({ documents: documents ?? 0, jobs: waiting ?? 0 })
    for (const guid of jobs) await database.capabilities.jobs.cancel(guid ?? '')
    await set({})
  })

  test('runs beyond those of a minute get 429 until the next one, in that space alone', async () => {
    await set({ runs_a_minute: 5 })
    cluster.operator.advance(61_000)
    const statuses = []
    for (let run = 0; run < 7; run++) statuses.push((await red.send('GET', `/notes?run=${run}`)).status)
    expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200])
    expect(statuses.slice(5)).toEqual([429, 429])
    expect(Number((await red.send('GET', '/notes?late')).headers['retry-after'])).toBeGreaterThan(0)
    expect((await blue.send('GET', '/notes')).status).toBe(200)
    cluster.operator.advance(61_000)
    expect((await red.send('GET', '/notes')).status).toBe(200)
    await set({})
  })
})

describe('backups and the end', () => {
  test('a backup of a space holds that space alone', async () => {
    const { operator } = cluster
    if (onPostgres) {
      const refused = await operator.send('POST', `${root}/${red.guid}/backup`, { as: 'update' })
      expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('pg_dump')])
      return
    }
    expect((await operator.send('POST', `${root}/${red.guid}/backup`, { as: 'view' })).status).toBe(403)
    const { folder } = objectOf(
      (await operator.send('POST', `${root}/${red.guid}/backup`, { as: 'update' })).body,
    )
    await expect.poll(() => existsSync(join(String(folder), 'manifest.json')), { timeout: 10_000 }).toBe(true)
    expect(String(folder)).toContain(join('spaces', red.guid, 'backups'))
    expect(objectOf(await blue.manage('GET', '/_system/backups')).backups).toEqual([])
  })

  test('only with its name is a space deleted, and then nothing of it is left', async () => {
    const { operator } = cluster
    const path = (confirm: string) => `${root}/${blue.guid}?confirm=${confirm}`
    const folder = join(operator.directory, 'spaces', blue.guid)
    expect((await operator.send('DELETE', path('blue'), { as: 'update' })).status).toBe(403)
    expect((await operator.send('DELETE', path('red'), { as: 'remove' })).status).toBe(400)
    expect((await operator.send('DELETE', `${root}/${blue.guid}`, { as: 'remove' })).status).toBe(400)
    expect([existsSync(folder), (await blue.send('GET', '/notes')).status]).toEqual([true, 200])
    expect((await operator.send('DELETE', path('blue'), { as: 'remove' })).status).toBe(200)
    expect([existsSync(folder), await names()]).toEqual([false, ['red']])
    // Its host is the operator's own again.
    expect((await blue.send('GET', '/notes')).status).toBe(404)
    expect((await red.send('GET', '/notes')).text).toContain('of red')
  })
})

/** Closes all that nothing uses. */
async function closeIdle(): Promise<void> {
  cluster.operator.advance(301_000)
  await cluster.operator.quoin.spaces?.check()
}

/** What there is of spaces beside their records. */
async function stored(): Promise<readonly string[]> {
  return readdir(join(cluster.operator.directory, 'spaces'))
}

async function guidOfNotes(): Promise<string> {
  const found = objectsOf(
    await red.manage('POST', '/_system/storages/search', { filters: { name: 'notes' } }),
  )
  return guidOf(found[0])
}

async function listed(): Promise<JsonObject[]> {
  return objectsOf(await cluster.operator.manage('POST', `${root}/search`, { sort: [{ name: 'asc' }] }))
}

const names = async () => (await listed()).map(({ name }) => name)
const open = async () => (await listed()).filter((one) => one.open === true).map(({ name }) => name)

async function remove(guid: string, name: string): Promise<void> {
  await cluster.operator.manage('DELETE', `${root}/${guid}?confirm=${name}`)
}
