/** Jobs that change many documents, on a real queue: what a crash, a cancellation and a refusal leave behind. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type JobFixture, openJobFixture } from '../../../test/job-fixture.ts'
import { manyChangeJob } from '../../flows/run/job-payload.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { type Job, JobContinues } from '../../storage/job.ts'
import { matchingPage } from '../../storage/many/change-documents.ts'
import { transact } from '../../storage/transact.ts'
import { createField } from '../fields/field-records.ts'
import { openFieldRules } from '../fields/field-rules.ts'
import { validatedDatabase } from '../fields/validated-database.ts'
import { changeInBatches } from './change-in-batches.ts'
import { manyProgress } from './many-changes.ts'

const storage = 'orders'
const COUNT = 450

let fixture: JobFixture
let blueprint: string
beforeEach(async () => {
  fixture = await openJobFixture()
  await fixture.database.ensure(storage, {})
  blueprint = await fixture.install({
    post: { type: 'on_startup_register_uri_post', in: { uri: 'close' } },
    many: {
      type: 'function_update_many',
      in: {
        flow: '@post.flow',
        storage,
        where: '=doc.n >= 0',
        set: '={ tries: increment(1) }',
        in_background: true,
      },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@many.flow', value: '@many.job' } },
  })
  const requested = Array.from({ length: COUNT }, (_, n) => ({ mutations: setFields({ n }) }))
  await transact(fixture.database, (session) => createAll(session, storage, requested))
})
afterEach(() => fixture.close())

async function ask(): Promise<Job> {
  const { replies } = await fixture.send(blueprint, { method: 'POST' })
  const job = await fixture.database.capabilities.jobs.get(String(replies[0]?.value))
  if (!job) throw new Error('There is no job.')
  return job
}

/** How many documents have been changed how often. */
async function tries(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { tries: times = 0 } of await fixture.documents(storage))
    counts[String(times)] = (counts[String(times)] ?? 0) + 1
  return counts
}

const open = () => new AbortController().signal

/** Works until so many batches are asked for, and then as if its process ended. */
function killedAfter(batches: number) {
  const { jobs } = fixture.database.capabilities
  let asked = 0
  const get: typeof jobs.get = (guid) => {
    asked += 1
    if (asked > batches) throw new Error('killed')
    return jobs.get(guid)
  }
  const capabilities = { ...fixture.database.capabilities, jobs: Object.assign(Object.create(jobs), { get }) }
  return { ...fixture.flows.records.database, capabilities }
}

const options = () => ({
  database: fixture.flows.records.database,
  clock: fixture.clock,
  log: fixture.flows.log,
})

describe('refused', () => {
  test('a cancelled job stops between two batches; what is committed stays', async () => {
    const job = await ask()
    await expect(
      changeInBatches({ ...options(), database: killedAfter(2) }, job, {}, open()),
    ).rejects.toThrow('killed')
    const before = await tries()
    await fixture.database.capabilities.jobs.cancel(job.guid)
    await expect(changeInBatches(options(), job, {}, open())).rejects.toThrow('cancelled')
    expect(await tries()).toEqual(before)
    expect(before).toEqual({ 0: 240, 1: 210 })
  })

  test('a second worker that read the same place undoes its batch', async () => {
    const job = await ask()
    // Its record is there: both read the same place in it.
    await expect(
      changeInBatches({ ...options(), database: killedAfter(1) }, job, {}, open()),
    ).rejects.toThrow('killed')
    const outcomes = await Promise.allSettled([
      changeInBatches(options(), job, {}, open()),
      changeInBatches(options(), job, {}, open()),
    ])
    expect(outcomes.map(({ status }) => status)).toContain('fulfilled')
    expect(await tries()).toEqual({ 1: COUNT })
  })

  test('documents whose change is refused are left out and named; the others are changed', async () => {
    await transact(fixture.database, (session) => session.create(storage, setFields({ n: 9, tries: 'none' })))
    const job = await ask()
    expect((await fixture.work()).map(({ error }) => error)).toEqual([undefined])
    expect(await tries()).toEqual({ 1: COUNT, none: 1 })
    const progress = await manyProgress(fixture.database, job.guid)
    expect(progress).toMatchObject({ done: COUNT + 1, changed: COUNT, refused: 1, finished: true })
    expect(progress?.problems).toMatchObject([{ message: expect.stringContaining('tries') }])
    expect(await fixture.logged()).toContainEqual(expect.stringContaining('left out 1 documents of orders'))
  })

  test('a document whose referrers cannot be changed stays, and they as they are', async () => {
    const world = { clock: fixture.clock, random: () => undefined }
    const database = validatedDatabase(fixture.database, await openFieldRules(fixture.database), world)
    await database.ensure('notes')
    const by = { guid: 'u', username: 'ann' }
    const reference = { storage, on_delete: 'clear' }
    await createField(database, { name: 'order', type: 'string', storage: 'notes', reference }, by)
    await createField(
      database,
      { name: 'twice', type: 'number', storage: 'notes', computed: 'doc.n * 2' },
      by,
    )
    const order = guidOf((await fixture.documents(storage))[5] ?? {})
    for (const n of [1, 'older', 2])
      await transact(fixture.database, (session) => session.create('notes', setFields({ n, order })))
    const removal = {
      storage,
      kind: 'remove',
      query: matchAll,
      includeRemoved: false,
      mutations: [],
    } as const
    const guid = await transact(database, (session) => session.enqueue(manyChangeJob(removal, {})))
    const job = await fixture.database.capabilities.jobs.get(guid ?? '')
    if (!job) throw new Error('There is no job.')
    await changeInBatches({ ...options(), database }, job, {}, open())
    expect(await manyProgress(fixture.database, job.guid)).toMatchObject({ changed: COUNT - 1, refused: 1 })
    expect((await fixture.documents('notes')).map((note) => note.order)).toEqual([order, order, order])
  })

  test('a storage that is gone ends the job, and the log says so', async () => {
    await ask()
    await fixture.database.drop(storage)
    expect((await fixture.work()).map(({ error }) => error)).toEqual([undefined])
    expect(await fixture.logged()).toContainEqual(expect.stringContaining('storage orders does not exist'))
  })
})

describe('done', () => {
  test('also to a document whose time of creation was given and lies ahead, and to none that is created meanwhile', async () => {
    const ahead = (milliseconds: number) =>
      transact(fixture.database, (session) =>
        session.create(storage, setFields({ n: 1 }), { cms: fixture.clock() + milliseconds }),
      )
    await ahead(4 * 365 * 86_400_000)
    const job = await ask()
    await ahead(3_600_000)
    await changeInBatches(options(), job, {}, open())
    expect(await tries()).toEqual({ 0: 1, 1: COUNT + 1 })
    const { payload, ...ofField } = await ask()
    await changeInBatches(options(), { ...ofField, payload: { ...payload, field: 'x' } }, {}, open())
    expect(await tries()).toEqual({ 1: 1, 2: COUNT + 1 })
  })

  test('each document once, by a job that says how far it is', async () => {
    const job = await ask()
    expect([job.kind, job.title, await tries()]).toEqual([
      'change',
      'update of documents in orders',
      { 0: COUNT },
    ])
    expect(await manyProgress(fixture.database, job.guid)).toBeUndefined()
    expect((await fixture.work()).map(({ error }) => error)).toEqual([undefined])
    expect(await tries()).toEqual({ 1: COUNT })
    expect(await manyProgress(fixture.database, job.guid)).toEqual({
      done: COUNT,
      total: COUNT,
      changed: COUNT,
      refused: 0,
      problems: [],
      finished: true,
    })
  })

  test.each([1, 2, 3])('each once, killed after batch %i and begun again', async (batches) => {
    const job = await ask()
    await expect(
      changeInBatches({ ...options(), database: killedAfter(batches) }, job, {}, open()),
    ).rejects.toThrow('killed')
    const between = await manyProgress(fixture.database, job.guid)
    expect(await tries()).toEqual({ 0: COUNT - (between?.done ?? 0), 1: between?.done })
    await changeInBatches(options(), job, {}, open())
    expect(await tries()).toEqual({ 1: COUNT })
    // A job that has finished does nothing when its end could not be stored.
    await changeInBatches(options(), job, {}, open())
    expect(await tries()).toEqual({ 1: COUNT })
  })

  test('documents that are created while it works are left out', async () => {
    const job = await ask()
    await expect(
      changeInBatches({ ...options(), database: killedAfter(1) }, job, {}, open()),
    ).rejects.toThrow()
    fixture.clock.now += 1000
    await transact(fixture.database, (session) => session.create(storage, setFields({ n: 1 })))
    await changeInBatches(options(), job, {}, open())
    expect(await tries()).toEqual({ 0: 1, 1: COUNT })
  })

  test('after half a minute the next attempt continues', async () => {
    const job = await ask()
    const clock = () => {
      fixture.clock.now += 9_000
      return fixture.clock.now
    }
    const turn = () => changeInBatches({ ...options(), clock }, job, {}, open())
    const turns: unknown[] = []
    do turns.push(await turn().catch((error: unknown) => error))
    while (turns.at(-1) !== undefined && turns.length < 10)
    expect(turns.length).toBeGreaterThan(1)
    expect(turns.slice(0, -1).every((error) => error instanceof JobContinues)).toBe(true)
    expect(await tries()).toEqual({ 1: COUNT })
    expect(await fixture.database.session().count(storage, matchAll)).toBe(COUNT)
  })
})

test('a page of wide documents is parsed in pieces', async () => {
  const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`${n}${'x'.repeat(96)}`, n]))
  await fixture.database.ensure('wide', {})
  const requested = Array.from({ length: 10 }, () => ({ mutations: setFields(wide) }))
  await transact(fixture.database, (session) => createAll(session, 'wide', requested))
  const parse = vi.spyOn(JSON, 'parse')
  const matching = { storage: 'wide', query: matchAll, includeRemoved: false }
  const { guids } = await matchingPage(fixture.database.session(), matching)
  const longest = Math.max(...parse.mock.calls.map(([text]) => text.length))
  parse.mockRestore()
  expect(guids.length).toBe(10)
  expect(longest).toBeLessThan(131_072)
})
