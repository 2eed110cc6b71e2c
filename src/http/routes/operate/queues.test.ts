import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTemporaryServer, type TemporaryServer } from '../../../../test/temporary-server.ts'
import { openTestDatabase, type TestDatabase } from '../../../../test/test-database.ts'
import { queueSteering } from '../../../flows/background/queue-steering.ts'
import { openScheduler, type Scheduler } from '../../../queue/scheduler.ts'
import { openAuditLog } from '../../../records/audit-log.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { search } from '../../../shared/query.ts'
import type { Job, NewJob } from '../../../storage/job.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { transact } from '../../../storage/transact.ts'
import { queueRoutes } from './queues.ts'
import { scheduleRoutes } from './schedules.ts'

let fixture: TestDatabase
let server: TemporaryServer
let scheduler: Scheduler
let admin: { authorization: string }

beforeAll(async () => {
  fixture = await openTestDatabase()
  const schedule = {
    ...({ id: 'b1 a1', blueprint: 'b1', block: 'a1', title: 'Reports', every: '1h' } as const),
    ...({ timeZone: 'UTC', overlap: 'skip', catchUp: 'last' } as const),
  }
  scheduler = await openScheduler({
    database: fixture.database,
    clock: fixture.clock,
    schedules: () => [schedule],
    onChange: () => () => undefined,
    log: ({ message }) => {
      throw new Error(message)
    },
  })
  const steering = queueSteering(fixture.database, await openAuditLog(fixture.database, {}))
  server = await openTemporaryServer({
    api: [queueRoutes(fixture.database, 1, steering), scheduleRoutes(scheduler)],
  })
  admin = await server.as('admin')
  await server.addUser('nobody', [])
  await server.addUser('viewer', ['queue_view'])
  await server.addUser('updater', ['queue_update'])
})

afterAll(async () => {
  await scheduler.close()
  await server.close()
  await fixture.close()
})

beforeEach(async () => {
  const { records: jobs } = await fixture.database.capabilities.jobs.search(search({ limit: 1000 }))
  for (const { guid } of jobs) await fixture.database.capabilities.jobs.cancel(guid)
})

async function enqueue(changes: Partial<NewJob> = {}): Promise<string> {
  const job: NewJob = { queue: 'default', kind: 'function', title: 'a job', payload: { n: 1 }, ...changes }
  const guid = await transact(fixture.database, (session) => session.enqueue(job))
  if (guid === undefined) throw new Error('The dedupe key is taken.')
  return guid
}

async function claim(): Promise<Job> {
  const [job] = await fixture.database.capabilities.jobs.claim({ owner: 'w', leaseMs: 60_000, limit: 1 })
  if (job === undefined) throw new Error('Nothing is due.')
  return job
}

async function deadJob(): Promise<string> {
  const guid = await enqueue({ attempts: 1 })
  await fixture.database.capabilities.jobs.fail(await claim(), 'it went wrong')
  return guid
}

async function send(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  payload?: JsonObject,
  headers = admin,
) {
  const reply = await server.app.inject({
    method,
    url: `/api/v1${url}`,
    headers,
    ...(payload && { payload }),
  })
  return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
}

/** What the audit log has got since it was last asked, the oldest first. */
let reported = 0
async function audited(): Promise<unknown[]> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
  const { documents } = await fixture.database
    .session()
    .find(systemStorages.auditLogs, search({ sort, limit: 1000 }))
  const all = Array.isArray(documents.value) ? documents.value : []
  const fresh = all.slice(reported)
  reported = all.length
  return fresh
}

const guid = '01900000-0000-7000-8000-000000000000'

describe.each([
  ['GET', '/queue/search', 'queue_view'],
  ['POST', '/queue/search', 'queue_view'],
  ['GET', `/queue/${guid}`, 'queue_view'],
  ['POST', `/queue/${guid}/requeue`, 'queue_update'],
  ['DELETE', `/queue/${guid}`, 'queue_remove'],
  ['GET', '/queues', 'queue_view'],
  ['PUT', '/queues/default', 'queue_update'],
  ['GET', '/queue/schedules', 'queue_view'],
  ['POST', '/queue/schedules/ticks/search', 'queue_view'],
] as const)('%s %s', (method, url, scope) => {
  const payload = method === 'PUT' ? { paused: true } : undefined
  test('is closed to strangers and to those without the scope', async () => {
    const stranger = await server.app.inject({ method, url: `/api/v1${url}`, ...(payload && { payload }) })
    expect(stranger.statusCode).toBe(401)
    const others = scope === 'queue_view' ? ['nobody', 'updater'] : ['nobody', 'viewer']
    for (const user of others)
      expect((await send(method, url, payload, await server.as(user))).status).toBe(403)
    expect(await fixture.database.capabilities.queues.list()).not.toContainEqual(
      expect.objectContaining({ paused: true }),
    )
    expect(await audited()).toEqual([])
  })
})

test.each([
  ['POST', '/queue/search', { filters: { payload: 'x' } }, 'INVALID_QUERY'],
  ['POST', '/queue/search', { sort: [{ data: 'asc' }] }, 'INVALID_QUERY'],
  ['POST', '/queue/search', { query: 'words' }, 'INVALID_QUERY'],
  ['POST', '/queue/search', { filters: { priority: 'high' } }, 'INVALID_QUERY'],
  ['PUT', '/queues/default', {}, 'INVALID_BODY'],
  ['PUT', '/queues/default', { concurrency: 0 }, 'INVALID_BODY'],
  ['PUT', '/queues/default', { paused: true, other: 1 }, 'INVALID_BODY'],
  ['PUT', '/queues/No%20Name', { paused: true }, 'INVALID_BODY'],
  ['GET', `/queue/${guid}`, undefined, 'NOT_FOUND'],
  ['GET', '/queue/%27--', undefined, 'NOT_FOUND'],
  ['POST', `/queue/${guid}/requeue`, undefined, 'NOT_FOUND'],
  ['DELETE', `/queue/${guid}`, undefined, 'NOT_FOUND'],
] as const)('%s %s with %o is %s', async (method, url, payload, error) => {
  expect((await send(method, url, payload)).body).toMatchObject({ error })
  expect((await send('GET', '/queues')).body).not.toContainEqual(expect.objectContaining({ paused: true }))
  expect(await audited()).toEqual([])
})

test('a job is shown with its data; a list shows it without', async () => {
  const one = await enqueue({ title: 'Mail', priority: 3, dedupeKey: 'd', runAt: fixture.clock.now + 60_000 })
  const now = Math.floor(fixture.clock.now / 1000)
  const expected = {
    _meta: expect.objectContaining({ guid: one, entity: 1, created: now, removed: 0 }),
    ...{ queue: 'default', type: 'function', status: 'waiting', title: 'Mail', priority: 3, attempts: 0 },
    ...{ max_attempts: 3, scheduled_for: now + 60, started_at: 0, completed_at: 0, leased_until: 0 },
    ...{ error: null, failed_in: null, worker_id: '', dedupe_key: 'd', order_key: '' },
  }
  expect((await send('GET', `/queue/${one}`)).body).toEqual({ ...expected, data: { n: 1 } })
  expect((await send('POST', '/queue/search')).body).toEqual([expected])
  expect((await send('GET', '/queue/search?limit=1')).body).toEqual([expected])
})

test('jobs are filtered, counted and paged', async () => {
  await deadJob()
  for (const title of ['a', 'b', 'c']) await enqueue({ title, queue: 'mail' })
  const dead = await send('POST', '/queue/search', { filters: { status: 'dead' } })
  expect(dead.body).toMatchObject([{ status: 'dead', error: 'it went wrong' }])
  expect(dead.headers['x-total-count']).toBe('1')
  expect((await send('POST', '/queue/search', { filters: { queue: 'mail' }, count: true })).body).toEqual({
    count: 3,
  })
  const body = { filters: { queue: 'mail' }, sort: [{ title: 'desc' }], limit: 2 }
  const first = await send('POST', '/queue/search', body)
  const after = String(first.headers['x-next-cursor'])
  const second = await send('POST', '/queue/search', { ...body, after })
  expect([first.body, second.body].flat().map((job: JsonObject) => job.title)).toEqual(['c', 'b', 'a'])
})

test('a dead letter is requeued once; what is not dead is not', async () => {
  const dead = await deadJob()
  const requeued = await send('POST', `/queue/${dead}/requeue`)
  expect(requeued).toMatchObject({ status: 200, body: { status: 'waiting', attempts: 0 } })
  expect(await send('POST', `/queue/${dead}/requeue`)).toMatchObject({
    status: 409,
    body: { error: 'CONFLICT' },
  })
  expect((await claim()).guid).toBe(dead)
})

test('a cancelled job is gone and never runs', async () => {
  const one = await enqueue()
  expect(await send('DELETE', `/queue/${one}`)).toMatchObject({
    status: 200,
    body: { guid: one, removed: true },
  })
  expect((await send('GET', `/queue/${one}`)).status).toBe(404)
  expect(await fixture.database.capabilities.jobs.claim({ owner: 'w', leaseMs: 1000, limit: 1 })).toEqual([])
})

test('a queue is paused and goes on, and is limited', async () => {
  await enqueue()
  const now = Math.floor(fixture.clock.now / 1000)
  expect((await send('PUT', '/queues/default', { paused: true, concurrency: 2 })).body).toEqual({
    ...{ name: 'default', paused: true, concurrency: 2, depth: 1, running: 0, done: 0, dead: 0, oldest: now },
  })
  expect(await fixture.database.capabilities.jobs.claim({ owner: 'w', leaseMs: 1000, limit: 1 })).toEqual([])
  expect((await send('PUT', '/queues/default', { paused: false })).body).toMatchObject({
    paused: false,
    concurrency: 2,
  })
  expect((await send('PUT', '/queues/default', { concurrency: null })).body).toMatchObject({
    concurrency: null,
  })
  await claim()
  expect((await send('GET', '/queues')).body).toContainEqual(
    expect.objectContaining({ name: 'default', depth: 0, running: 1, oldest: null }),
  )
})

describe('the audit log tells', () => {
  beforeEach(audited)
  const byUpdater = { user: { guid: expect.stringMatching(/./), username: 'updater' } }

  test('who ran a dead letter again, once', async () => {
    const dead = await deadJob()
    const updater = await server.as('updater')
    expect((await send('POST', `/queue/${dead}/requeue`, undefined, updater)).status).toBe(200)
    expect((await send('POST', `/queue/${dead}/requeue`, undefined, updater)).status).toBe(409)
    const states = [
      { status: 'dead', attempts: 1 },
      { status: 'waiting', attempts: 0 },
    ]
    expect(await audited()).toEqual([
      expect.objectContaining({
        ...{ category: 'queue', action: 'updated', guid: dead, name: 'a job', states },
        ...{ changes: ['status', 'attempts'], ...byUpdater },
      }),
    ])
  })

  test('who cancelled a job, without its data', async () => {
    const one = await enqueue({ payload: { secret: 'hidden' } })
    expect((await send('DELETE', `/queue/${one}`)).status).toBe(200)
    expect((await send('DELETE', `/queue/${one}`)).status).toBe(404)
    const before = {
      ...{ queue: 'default', type: 'function', status: 'waiting', title: 'a job' },
      ...{ priority: 0, attempts: 0, max_attempts: 3, error: null },
    }
    expect(await audited()).toEqual([
      expect.objectContaining({
        ...{ category: 'queue', action: 'deleted', guid: one, name: 'a job', states: [before, null] },
        user: expect.objectContaining({ username: 'admin' }),
      }),
    ])
  })

  test('who paused and limited a queue, and nothing where nothing changed', async () => {
    const updater = await server.as('updater')
    const put = async (body: JsonObject) =>
      expect((await send('PUT', '/queues/letters', body, updater)).status).toBe(200)
    await put({ paused: true })
    await put({ paused: true })
    await put({ paused: false, concurrency: 2 })
    const record = (changes: readonly string[], ...states: readonly JsonObject[]) =>
      expect.objectContaining({
        ...{ category: 'queues', action: 'updated', guid: '', name: 'letters', changes, states },
        ...byUpdater,
      })
    expect(await audited()).toEqual([
      record(['paused'], { paused: false }, { paused: true }),
      record(
        ['paused', 'concurrency'],
        { paused: true, concurrency: null },
        { paused: false, concurrency: 2 },
      ),
    ])
  })

  test('what each of many found and left, however close they come', async () => {
    const limits = [1, 2, 3, 4, 5, 6]
    await Promise.all(limits.map((concurrency) => send('PUT', '/queues/busy', { concurrency })))
    const states = (await audited()).map((record) => (record as { states: JsonObject[] }).states)
    expect(states.map(([before]) => before?.concurrency)).toEqual([
      null,
      ...states.slice(0, -1).map(([, after]) => after?.concurrency),
    ])
    expect(states.map(([, after]) => Number(after?.concurrency)).sort()).toEqual(limits)
  })
})

test('schedules say when they fire next, and the results of their ticks', async () => {
  const started = Math.floor(fixture.clock.now / 1000)
  expect((await send('GET', '/queue/schedules')).body).toMatchObject([
    { schedule: 'b1 a1', title: 'Reports', every: '1h', cron: '', next_at: started + 3600, last_at: null },
  ])
  fixture.clock.now += 3_600_000
  await scheduler.check()
  const filters = { schedule: 'b1 a1', state: ['planned', 'done'] }
  const { body } = await send('POST', '/queue/schedules/ticks/search', { filters })
  expect(body).toMatchObject([{ planned_at: started + 3600, state: 'planned', late: false }])
  expect((await send('GET', `/queue/${body[0].job}`)).body).toMatchObject({
    type: 'tick',
    queue: '_schedules',
  })
  expect((await send('GET', '/queue/schedules?filters=%7B%22plan%22%3A%22x%22%7D')).body.error).toBe(
    'INVALID_QUERY',
  )
})
