/** Attacks on spaces: one that is asked by many, hosts that are none, one whose data is lost, and the way back. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import type { NewJob } from '../../src/storage/job.ts'
import { transact } from '../../src/storage/transact.ts'
import { type MailServer, openMailServer, partOf } from '../mail-server.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { adminPassword, guidOf, objectOf, objectsOf, userPassword } from './harness.ts'
import { openTestCluster, type TestCluster, type TestSpace } from './space-fixture.ts'

const root = '/_system/spaces'
const onPostgres = inject('engine') === 'postgres'

/** What is about folders, or opens so many spaces that PostgreSQL would take minutes: no test there, so none that is skipped. */
function onSqlite(name: string, run: () => Promise<void>): void {
  if (!onPostgres) test(name, run)
}

let mails: MailServer
let cluster: TestCluster
let red: TestSpace
let blue: TestSpace
beforeAll(async () => {
  mails = await openMailServer({ authOptional: true, hideSTARTTLS: true })
  cluster = await openTestCluster({
    QUOIN_PUBLIC_URL: 'https://quoin.example.test',
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'quoin@example.test',
    QUOIN_RATE_LIMIT: '0',
    QUOIN_TRUST_PROXY: '127.0.0.1',
  })
  red = await cluster.addSpace('red')
  blue = await cluster.addSpace('blue')
  for (const space of [red, blue]) await space.install('Desk', desk)
})
afterAll(async () => {
  await cluster.close()
  await mails.close()
})

/** The same in both, so that only what is sent can tell them apart. */
const desk: JsonObject = {
  add: { type: 'on_startup_register_uri_post', in: { uri: 'add' }, scopes: ['*public'] },
  notes: { type: 'storage', fields: { storage: 'notes' } },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@add.flow', storage: '@notes.storage', set: '=({ text: body.text })' },
  },
  added: { type: 'reply', in: { flow: '@create.flow', value: '=create.document.text' } },
}

async function linkIn(before: number, space: string): Promise<string> {
  await expect.poll(() => mails.taken.length).toBeGreaterThan(before)
  const mail = mails.taken[before]
  const url = new RegExp(`https://${space}\\.example\\.test\\S+`).exec(mail ? partOf(mail, 'text/plain') : '')
  return new URL(url?.[0] ?? '').searchParams.get('link') ?? ''
}

test('who is invited as the first administrator sets a password by the link, and the password of admin is not shown', async () => {
  const { operator } = cluster
  const make = (body: JsonObject) => operator.send('POST', root, { as: 'admin', body })
  const names = async () =>
    objectsOf(await operator.manage('POST', `${root}/search`, {}))
      .map(({ name }) => name)
      .toSorted()
  const body = { name: 'green', hosts: ['green.example.test'], email: 'ann@example.test' }
  expect((await make({ ...body, password: adminPassword })).status).toBe(400)
  expect((await make({ ...body, email: 'no address' })).status).toBe(400)
  expect(await names()).toEqual(['blue', 'red'])
  const before = mails.taken.length
  const made = await make(body)
  expect(objectOf(made.body).administrator).toEqual({ username: 'ann@example.test', password: null })
  const green = cluster.space('green', guidOf(objectOf(made.body).space))
  const link = await linkIn(before, 'green')
  await (await green.enter()).access.links.follow(link, userPassword, { ip: '' })
  const token = await green.signIn('ann@example.test', userPassword)
  expect((await green.send('GET', '/_system/secrets/key', { token })).status).toBe(200)
  // It can do without `admin`, whose password no one has.
  const users = await green.send('POST', '/users/search', { token, body: { filters: { username: 'admin' } } })
  const [admin] = objectsOf(users.body)
  const gone = await green.send('DELETE', `/users/${guidOf(admin)}`, { token })
  expect([gone.status, gone.text]).toEqual([200, expect.any(String)])
  // What the log of the embedded database still has is counted too.
  const usage = await operator.manage('GET', `${root}/${green.guid}/usage`)
  expect(objectOf(usage).bytes).toBeGreaterThan(onPostgres ? 1_000_000 : 100_000)
  await operator.manage('DELETE', `${root}/${green.guid}?confirm=green`)
})

/** `from`: as the proxy writes it. */
const askedFrom = ({ host }: TestSpace, from?: string) =>
  cluster.ask(host, 'GET', '/api/v1/info', from === undefined ? {} : { 'x-forwarded-for': from })

const closeIdle = async () => {
  cluster.operator.advance(301_000)
  await cluster.operator.quoin.spaces?.check()
}

test('many requests for one space that cannot open yet leave room for those of others', async () => {
  const { operator, port } = cluster
  await closeIdle()
  expect((await red.send('GET', '/info')).status).toBe(200)
  const headers = { host: red.host, 'content-type': 'application/json', 'content-length': 2 }
  const slow = request({ host: '127.0.0.1', port, method: 'POST', path: '/api/v1/auth/signin', headers })
  const answered = once(slow, 'response')
  slow.flushHeaders()
  await once(operator.quoin.server.app.server, 'request')
  // It is opened again with another title, behind the end of its last request.
  await operator.manage('PUT', `${root}/${red.guid}`, { title: 'Another title' })
  const statuses: number[] = []
  const ask = (times: number, from?: string) =>
    Array.from({ length: times }, async () => {
      statuses.push((await askedFrom(red, from)).status)
    })
  const counts = () => [429, 503, 200].map((one) => statuses.filter((status) => status === one).length)
  const ofOne = ask(50, '198.51.100.7')
  await expect.poll(counts, { timeout: 20_000 }).toEqual([50 - 32, 0, 0])
  const many = [...ofOne, ...ask(250)]
  await expect.poll(counts, { timeout: 20_000 }).toEqual([50 - 32, 250 - 32, 0])
  expect((await blue.send('GET', '/info')).status).toBe(200)
  slow.end('{}')
  const [reply] = await answered
  reply.resume()
  await Promise.all(many)
  expect(counts()).toEqual([50 - 32, 250 - 32, 64])
  await operator.manage('PUT', `${root}/${red.guid}`, { title: '' })
})

onSqlite(
  'a client that asks for many spaces leaves room for others, whatever address it claims',
  async () => {
    const { quoin, manage } = cluster.operator
    const more: TestSpace[] = []
    for (const name of ['one', 'two', 'three']) more.push(await cluster.addSpace(name))
    await closeIdle()
    const opened = Promise.withResolvers<void>()
    // Nothing is noted as opened meanwhile, so that all wait.
    const locked = quoin.database.capabilities.withClusterLock('spaces', () => opened.promise)
    const asked: Promise<{ status: number }>[] = []
    for (const space of [red, ...more]) {
      const seen = once(quoin.server.app.server, 'request')
      asked.push(askedFrom(space, '198.51.100.7'))
      await seen
    }
    for (const claim of ['', '127.0.0.1, ', '203.0.113.9, ']) {
      const { status, body, headers } = await askedFrom(blue, `${claim}198.51.100.7`)
      expect([status, headers['retry-after'], objectOf(body).error]).toEqual([429, '1', 'RATE_LIMITED'])
    }
    asked.push(askedFrom(blue, '198.51.100.8'))
    opened.resolve()
    await locked
    for (const one of asked) expect((await one).status).toBe(200)
    // Its places are free again.
    await closeIdle()
    expect((await askedFrom(blue, '198.51.100.7')).status).toBe(200)
    for (const { guid, host } of more) await manage('DELETE', `${root}/${guid}?confirm=${host.split('.')[0]}`)
  },
)

test('what goes on in a space that is suspended ends, and deleting it leaves nothing', async () => {
  const { operator, port } = cluster
  const gone = await cluster.addSpace('gone')
  await gone.install('Desk', {
    ...desk,
    all: { type: 'on_startup_register_uri_get', in: { uri: 'all' }, scopes: ['*public'] },
    search: { type: 'function_search', in: { flow: '@all.flow', storage: '@notes.storage' } },
    found: { type: 'reply', in: { flow: '@search.flow', value: '=search.total' } },
  })
  const headers = { host: gone.host, accept: 'text/event-stream' }
  const stream = request({ host: '127.0.0.1', port, path: '/api/v1/all', headers })
  const [reply] = await new Promise<IncomingMessage[]>((resolve) =>
    stream.on('response', (one) => resolve([one])).end(),
  )
  expect([reply?.statusCode, String(reply?.headers['content-type'])]).toEqual([
    200,
    expect.stringContaining('event-stream'),
  ])
  const ended = new Promise<void>((resolve) => reply?.on('close', resolve).on('error', () => resolve()))
  reply?.resume()
  await operator.manage('PUT', `${root}/${gone.guid}`, { suspended: true })
  await ended
  expect((await gone.send('GET', '/all')).status).toBe(503)
  // Twice at once: one of them deletes it.
  const path = `${root}/${gone.guid}?confirm=gone`
  const both = await Promise.all([0, 1].map(() => operator.send('DELETE', path, { as: 'admin' })))
  expect(both.map(({ status }) => status).toSorted()[0]).toBe(200)
  for (const { status } of both) expect([200, 404]).toContain(status)
  expect((await operator.send('GET', `${root}/${gone.guid}`, { as: 'admin' })).status).toBe(404)
  expect(existsSync(join(operator.directory, 'spaces', gone.guid))).toBe(false)
})

test.each([
  ['with a user before it', (host: string) => `a@${host}`],
  ['as an IPv6 address', () => '[::1]:8080'],
  ['in letters of another script', (host: string) => host.replace('e', '\u0435')],
  ['with a dot before it', (host: string) => `.${host}`],
  ['with two dots behind it', (host: string) => `${host}..`],
  ['with a space behind a port', (host: string) => `${host}:80 :81`],
  ['of 8 KB', (host: string) => `${'a.'.repeat(4_000)}${host}`],
])('a host %s is that of no space', async (_name, hostOf) => {
  const host = Buffer.from(hostOf(red.host)).toString('latin1')
  const asked = cluster.ask(host, 'GET', '/api/v1/info')
  const { status, body } = await asked
  // Of a space it would have this flag.
  if (status === 200) expect(body).toHaveProperty('flags')
  expect(JSON.stringify(body)).not.toContain('"space":true')
  expect((await red.send('GET', '/info')).text).toContain('"space":true')
})

test('a request of HTTP/1.0 without a host is for the operator, and ends no server', async () => {
  const socket = connect(cluster.port, '127.0.0.1')
  socket.write('GET /api/v1/info HTTP/1.0\r\n\r\n')
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  const reply = Buffer.concat(chunks).toString()
  expect(reply).toMatch(/^HTTP\/1.1 200 /)
  expect(reply).toContain('"flags"')
  expect(reply).not.toContain('"space":true')
  expect((await red.send('GET', '/info')).status).toBe(200)
})

test('an operator sees what failed in a space and where, and no text of it', async () => {
  const { operator } = cluster
  await operator.addUser('looks', ['spaces_view'])
  const failedIn = { run: randomUUID(), blueprint: randomUUID(), block: randomUUID() }
  const secret = 'IBAN of Ann'
  const { database, flows } = await red.enter()
  const dead = { error: secret, failedIn }
  const job: NewJob = { queue: 'mails', kind: 'function', title: secret, payload: { secret }, dead }
  await transact(database, async (session) => session.enqueue(job))
  flows.log.write({ level: 'info', message: secret })
  flows.log.write({ level: 'warn', message: secret, value: { secret }, run: failedIn.run, pin: secret })
  const read = (space: TestSpace, as: string) => operator.send('GET', `${root}/${space.guid}/health`, { as })
  await expect
    .poll(async () => objectsOf(objectOf((await read(red, 'looks')).body).problems))
    .toEqual([
      {
        ...{ guid: expect.any(String), at: expect.any(Number), level: 'warn' },
        ...{ run: failedIn.run, blueprint: '', block: '' },
      },
    ])
  const { body, text } = await read(red, 'looks')
  expect(body).toMatchObject({
    ...{ health: 'open', error: null, jobs: { waiting: 0, running: 0, dead: 1 } },
    failed_jobs: [{ queue: 'mails', type: 'function', ...failedIn }],
  })
  expect(text).not.toMatch(/IBAN|Ann/)
  expect((await read(blue, 'looks')).body).toMatchObject({ jobs: { dead: 0 }, failed_jobs: [], problems: [] })
})

onSqlite('one whose folder is gone is not begun again, and health says so', async () => {
  const health = async () => (await cluster.ask('quoin.example.test', 'GET', '/health/ready')).body
  const folder = join(cluster.operator.directory, 'spaces', red.guid)
  await closeIdle()
  expect(await health()).toEqual({ status: 'ready' })
  const shown = async (space: TestSpace) => {
    const { operator } = cluster
    const one = objectOf(await operator.manage('GET', `${root}/${space.guid}`))
    const { health: state, error } = objectOf(await operator.manage('GET', `${root}/${space.guid}/health`))
    return [one.broken, state, error === null ? '' : String(objectOf(error).message)]
  }
  expect([await shown(red), await shown(blue)]).toEqual([
    [false, 'open', ''],
    [false, 'open', ''],
  ])
  await closeIdle()
  await rename(folder, `${folder}.away`)
  expect((await red.send('GET', '/info')).status).toBe(503)
  expect([await shown(red), await shown(blue)]).toEqual([
    [true, 'broken', expect.stringContaining('its data is gone')],
    [false, 'open', ''],
  ])
  expect([existsSync(folder), await health()]).toEqual([false, { status: 'ready', warning: 'spaces' }])
  expect((await blue.send('GET', '/info')).status).toBe(200)
  await rename(`${folder}.away`, folder)
  cluster.operator.advance(5_001)
  expect((await red.send('GET', '/info')).status).toBe(200)
  expect(await health()).toEqual({ status: 'ready' })
  expect(await shown(red)).toEqual([false, 'open', expect.stringContaining('its data is gone')])
})

onSqlite('of a backup of all spaces one is restored, and the others stay as they are', async () => {
  const { operator } = cluster
  const data = operator.directory
  const parent = await mkdtemp(join(tmpdir(), 'quoin-backup-'))
  const copy = join(parent, 'copy')
  const texts = async ({ enter }: TestSpace) =>
    await (await enter()).database.session().count('notes', { kind: 'all' })
  try {
    const made = await quoinCommand(['backup', copy, '--spaces'], { QUOIN_DATA: data })
    expect([made.code, made.complained]).toEqual([0, ''])
    expect(await quoinCommand(['backup', copy, '--spaces'], { QUOIN_DATA: data })).toMatchObject({
      code: 1,
    })
    for (const name of ['cluster', join('spaces', red.guid), join('spaces', blue.guid)])
      expect(existsSync(join(copy, name, 'manifest.json')), name).toBe(true)
    const [before, beside] = [await texts(red), await texts(blue)]
    for (const space of [red, blue])
      await cluster.ask(
        space.host,
        'POST',
        '/api/v1/add',
        { 'content-type': 'application/json' },
        { text: 'later' },
      )
    expect([await texts(red), await texts(blue)]).toEqual([before + 1, beside + 1])
    await operator.manage('PUT', `${root}/${red.guid}`, { suspended: true })
    const isOpen = async () => objectOf(await operator.manage('GET', `${root}/${red.guid}`)).open
    await expect.poll(isOpen, { timeout: 20_000 }).toBe(false)
    const restored = await quoinCommand(['restore', join(copy, 'spaces', red.guid), '--force'], {
      QUOIN_DATA: join(data, 'spaces', red.guid),
    })
    expect([restored.code, restored.complained]).toEqual([0, ''])
    await operator.manage('PUT', `${root}/${red.guid}`, { suspended: false })
    expect([await texts(red), await texts(blue)]).toEqual([before, beside + 1])
  } finally {
    await rm(parent, { recursive: true, force: true })
  }
})
