/** Spaces when something goes on or fails: what is closed meanwhile, faults of one that others do not notice, quotas and transactions. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { matchAll, search } from '../../src/shared/query.ts'
import { documentOf } from '../../src/storage/database.ts'
import { documentsOf } from '../../src/storage/find-documents.ts'
import { transact } from '../../src/storage/transact.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'
import { later, openTestCluster, type TestCluster, type TestSpace } from './space-fixture.ts'

const root = '/_system/spaces'
const hourly: JsonObject = {
  hourly: { type: 'schedule_repeating_event', in: { every: '1h' } },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@hourly.flow', storage: '@ticks.storage', set: { at: 'tick' } },
  },
  ticks: { type: 'storage', fields: { storage: 'ticks' } },
}

let cluster: TestCluster
let red: TestSpace
let blue: TestSpace
beforeAll(async () => {
  cluster = await openTestCluster()
  red = await cluster.addSpace('red')
  blue = await cluster.addSpace('blue')
  await red.manage('POST', '/_system/storages', { name: 'notes' })
})
afterAll(() => cluster.close())

test('one that the operator has stored is the default of a space, also for what wakes it', async () => {
  const path = '/_system/settings/QUOIN_BACKUP_SCHEDULE'
  const shown = () => red.manage('GET', path)
  await cluster.operator.manage('PUT', path, { value: '0 3 * * *' })
  const inherited = { value: '0 3 * * *', source: 'default', default: '0 3 * * *' }
  expect(await shown()).toMatchObject(inherited)
  await red.manage('PUT', path, { value: '0 4 * * *' })
  expect(await shown()).toMatchObject({ ...inherited, value: '0 4 * * *', source: 'setting' })
  await red.manage('DELETE', path)
  expect(await shown()).toMatchObject(inherited)
  await cluster.operator.manage('DELETE', path)
  expect(await shown()).toMatchObject({ value: '', source: 'default', default: '' })
})

describe('what is under way, and what fails', () => {
  const retitle = (space: TestSpace, title: string) =>
    cluster.operator.manage('PUT', `${root}/${space.guid}`, { title })

  test('one that is closed while a request is answered is opened again at once, for what that left', async () => {
    const { operator } = cluster
    await red.enter()
    const slow = request({
      ...{ host: '127.0.0.1', port: cluster.port, method: 'POST', path: '/api/v1/auth/signin' },
      headers: { host: red.host, 'content-type': 'application/json', 'content-length': 2 },
    })
    const [asked, answered] = [once(operator.quoin.server.app.server, 'request'), once(slow, 'response')]
    slow.flushHeaders()
    await asked
    await retitle(red, 'During a request')
    slow.end('{}')
    const [reply] = await answered
    reply.resume()
    await expectOpenedAgain()
  })

  test('and so is one that is closed while a job runs', async () => {
    const { operator } = cluster
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const url = `http://127.0.0.1:${Object(other.address()).port}`
    await operator.manage('PUT', '/_system/settings/QUOIN_ALLOWED_HOSTS', { value: new URL(url).host })
    await red.install('Letters', {
      added: { type: 'storage_event', in: { storage: '@letters.storage', events: ['on_created'] } },
      letters: { type: 'storage', fields: { storage: 'letters' } },
      send: { type: 'http_request', in: { flow: '@added.flow', url } },
    })
    const { database } = await red.enter()
    const sent = once(other, 'request')
    await transact(database, async (session) => session.create('letters', []))
    const [, response] = await sent
    await retitle(red, 'During a job')
    response.end('received')
    await expectOpenedAgain()
    other.close()
    await operator.manage('DELETE', '/_system/settings/QUOIN_ALLOWED_HOSTS')
  })

  test('one whose end could not be written is opened for its work, and can be deleted', async () => {
    const lost = await cluster.addSpace('lost')
    const nodes = (row: string) => `json_array_length(${row}.doc, '$.nodes')`
    const mend = await refuseUpdates(lost.guid, `${nodes('NEW')} < ${nodes('OLD')}`)
    await retitle(lost, 'Another title')
    await expect.poll(() => logged(`${lost.guid} is closed could not be written`)).toBe(true)
    await mend()
    await cluster.operator.quoin.spaces?.check()
    expect(cluster.operator.quoin.spaces?.failing()).toBe(0)
    await remove(lost.guid, 'lost')
    expect(await names()).toEqual(['blue', 'red'])
  })

  test('one that cannot be deleted delays the schedules of no other, and is deleted later', async () => {
    const { operator } = cluster
    const stuck = await cluster.addSpace('stuck')
    const late = await cluster.addSpace('late')
    await late.install('Hourly', hourly)
    const mend = await refuseUpdates(stuck.guid, 'NEW.removed <> OLD.removed')
    await expect(remove(stuck.guid, 'stuck')).rejects.toThrow('500')
    await closeIdle()
    expect(await open()).not.toContain('late')
    operator.advance(3_600_000)
    await operator.quoin.spaces?.check()
    expect(await open()).toContain('late')
    await expect.poll(() => logged('The space stuck could not be deleted')).toBe(true)
    await mend()
    operator.advance(301_000)
    await operator.quoin.spaces?.check()
    await expect.poll(names).not.toContain('stuck')
    await remove(late.guid, 'late')
  })

  test('one that cannot be read hinders no other from being closed', async () => {
    await closeIdle()
    await red.enter()
    await blue.enter()
    const file = new DatabaseSync(join(cluster.operator.directory, 'spaces', red.guid, 'quoin.db'))
    await change(file, 'ALTER TABLE job RENAME TO job_away')
    await closeIdle()
    expect(await open()).toEqual(['red'])
    await change(file, 'ALTER TABLE job_away RENAME TO job')
    file.close()
    await closeIdle()
    expect(await open()).toEqual([])
  })
})

describe('quotas and transactions', () => {
  test('documents and jobs of a transaction that is open count, also when the space is counted meanwhile', async () => {
    const { documents = 0, jobs = 0 } = await usage()
    await setQuotas({ documents: Number(documents) + 1, jobs: Number(jobs) + 1 })
    const { database } = await red.enter()
    const create = () => transact(database, async (session) => session.create('notes', []))
    const enqueue = () => transact(database, async (session) => session.enqueue(later))
    const begun = database.session()
    await begun.create('notes', [])
    const guid = await begun.enqueue(later)
    expect(await usage()).toMatchObject({ documents, jobs })
    await expect(create()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
    await expect(enqueue()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
    await begun.transaction.commit()
    await expect(create()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
    expect(await usage()).toMatchObject({ documents: Number(documents) + 1, jobs: Number(jobs) + 1 })
    await database.capabilities.jobs.cancel(guid ?? '')
    // What is rolled back, refused or not found is no document.
    await setQuotas({ documents: Number(documents) + 2 })
    const undone = database.session()
    const made = await undone.create('notes', [])
    await undone.transaction.rollback()
    const missing = await transact(database, async (session) =>
      session.setRemoved('notes', guidOf(documentOf(made)), false),
    )
    expect(missing.outcome).toBe('not_found')
    const last = guidOf(documentOf(await create()))
    await expect(create()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
    await transact(database, async (session) => session.delete('notes', last))
    await setQuotas({})
  })

  test('flows that ask for a job are refused in a space whose jobs are full; a wait that ends is not, nor other work of its own', async () => {
    await red.install('Orders', {
      ask: { type: 'on_startup_register_uri_get', in: { uri: 'ask' }, scopes: ['*public'] },
      job: { type: 'function_custom_execute_from_queue', in: { flow: '@ask.flow', function: 'none' } },
      get: { type: 'on_startup_register_uri_get', in: { uri: 'orders' }, scopes: ['*public'] },
      wait: {
        type: 'wait_for_document',
        in: { flow: '@get.flow', storage: 'orders', where: '=doc.paid == true' },
      },
      found: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@wait.found', storage: 'done', set: '={ guid: wait.guid }' },
      },
    })
    const { database } = await red.enter()
    const done = async () => (database.has('done') ? database.session().count('done', matchAll) : 0)
    expect((await red.send('GET', '/orders')).status).toBe(204)
    const reserved = await transact(database, async (session) => session.enqueue(later))
    await setQuotas({ jobs: 1 })
    expect((await red.send('GET', '/ask')).status).toBe(507)
    expect((await red.send('GET', '/orders')).status).toBe(507)
    await transact(database, async (session) => session.create('orders', setFields({ paid: true })))
    await expect.poll(done).toBe(1)
    const { jobs } = await usage()
    const own = await transact(database, async (session) => session.enqueue({ ...later, requested: false }))
    expect(await usage()).toMatchObject({ jobs: Number(jobs) + 1 })
    await database.capabilities.jobs.cancel(own ?? '')
    await database.capabilities.jobs.cancel(reserved ?? '')
    await setQuotas({})
  })

  test('an image in a new size is sent by a full space too, and stored when there is room again', async () => {
    const input = { width: 400, height: 100, channels: 3, background: '#3060c0' } as const
    await upload('photo.png', await sharp({ create: input }).png().toBuffer())
    const { database } = await red.enter()
    const stored = () => database.session().count('_asset_images', matchAll)
    const ask = (headers = {}) => cluster.ask(red.host, 'GET', '/static/photo.png?width=200', headers)
    await setQuotas({ bytes: 1 })
    await expect(upload('other.png', Buffer.from('more'))).rejects.toThrow('507')
    const whole = await ask()
    expect([whole.status, whole.headers['content-type']]).toEqual([200, 'image/png'])
    expect((await ask({ 'if-none-match': String(whole.headers.etag) })).status).toBe(304)
    const part = await ask({ range: 'bytes=1-3' })
    expect([part.status, part.text, await stored()]).toEqual([206, 'PNG', 0])
    await setQuotas({})
    const { status, headers } = await ask()
    expect([status, headers.etag, await stored()]).toEqual([200, whole.headers.etag, 1])
  })

  test('a document that is restored is one more, and one is removed also in a full space', async () => {
    const { database } = await red.enter()
    const { documents = 0 } = await usage()
    await setQuotas({ documents: Number(documents), bytes: 1 })
    const [first] = documentsOf(await database.session().find('notes', search({ limit: 1 })))
    const remove = (removed: boolean) =>
      transact(database, async (session) => session.setRemoved('notes', guidOf(first), removed))
    expect((await remove(true)).outcome).toBe('written')
    await setQuotas({ documents: Number(documents) })
    expect(await usage()).toMatchObject({ documents: Number(documents) - 1 })
    const added = await transact(database, async (session) => session.create('notes', []))
    await expect(remove(false)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
    expect(await usage()).toMatchObject({ documents })
    await transact(database, async (session) => session.delete('notes', guidOf(documentOf(added))))
    await usage()
    expect((await remove(false)).outcome).toBe('written')
    await setQuotas({})
  })
})

/** A public file of the space red. */
async function upload(name: string, content: Buffer): Promise<void> {
  const sent = request({
    ...{ host: '127.0.0.1', port: cluster.port, method: 'POST' },
    path: `/api/v1/_system/assets/stream?directory=public&filename=${name}`,
    headers: {
      ...{ host: red.host, authorization: `Bearer ${await red.signIn()}` },
      ...{ 'content-type': 'application/octet-stream', 'content-length': content.length },
    },
  })
  const answered = once(sent, 'response')
  sent.end(content)
  const [reply] = await answered
  reply.resume()
  if (reply.statusCode !== 200) throw new Error(`${name}: ${reply.statusCode}`)
}

/** Without a request, though nothing waits in it. */
async function expectOpenedAgain(): Promise<void> {
  const { quoin } = cluster.operator
  await expect.poll(open).not.toContain('red')
  await quoin.spaces?.check()
  expect(await open()).toContain('red')
}

/** Until what it gives is called. */
async function refuseUpdates(guid: string, when: string): Promise<() => Promise<void>> {
  const file = new DatabaseSync(join(cluster.operator.directory, 'quoin.db'))
  const id = file.prepare("SELECT id FROM storage WHERE name = '_spaces'").get()?.id
  await change(
    file,
    `CREATE TRIGGER refused BEFORE UPDATE ON doc_${id} WHEN OLD.guid = '${guid}' AND ${when}
      BEGIN SELECT RAISE(ABORT, 'refused by a test'); END`,
  )
  return async () => {
    await change(file, 'DROP TRIGGER refused')
    file.close()
  }
}

async function logged(text: string): Promise<boolean> {
  const filters = { level: 'error' }
  const lines = await cluster.operator.manage('POST', '/_system/systemlogs/search', { filters })
  return objectsOf(lines).some(({ message }) => String(message).includes(text))
}

/** Refused while another connection writes. */
function change(file: DatabaseSync, sql: string): Promise<void> {
  return vi.waitFor(() => file.exec(sql), { timeout: 20_000 })
}

/** Closes all that nothing uses. */
async function closeIdle(): Promise<void> {
  cluster.operator.advance(301_000)
  await cluster.operator.quoin.spaces?.check()
}

async function setQuotas(quotas: JsonObject): Promise<void> {
  await cluster.operator.manage('PUT', `${root}/${red.guid}`, { quotas })
}

async function usage(): Promise<JsonObject> {
  return objectOf(await cluster.operator.manage('GET', `${root}/${red.guid}/usage`))
}

async function listed(): Promise<JsonObject[]> {
  return objectsOf(await cluster.operator.manage('POST', `${root}/search`, { sort: [{ name: 'asc' }] }))
}

const names = async () => (await listed()).map(({ name }) => name)
const open = async () => (await listed()).filter((one) => one.open === true).map(({ name }) => name)

async function remove(guid: string, name: string): Promise<void> {
  await cluster.operator.manage('DELETE', `${root}/${guid}?confirm=${name}`)
}
