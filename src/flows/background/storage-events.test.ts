import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ada, adaUser, type JobFixture, openJobFixture } from '../../../test/job-fixture.ts'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { eventQueue } from '../../storage/job.ts'
import { transact } from '../../storage/transact.ts'
import { openStorageEvents } from './storage-events.ts'

let fixture: JobFixture
beforeEach(async () => {
  fixture = await openJobFixture()
  await fixture.database.ensure('tasks')
})
afterEach(() => fixture.close())

/** Writes down everything that the trigger gives, in the storage `seen`. */
function watching(events: readonly string[] | string, storage = 'tasks'): FlowBlocks {
  const pins = ['event', 'document', 'previous', 'fields_modified', 'revisions', 'job']
  const fields = Object.fromEntries(pins.map((pin) => [pin, `@on.${pin}`]))
  return {
    tasks: { type: 'storage', fields: { storage } },
    seen: { type: 'storage', fields: { storage: 'seen' } },
    on: { type: 'storage_event', in: { storage: '@tasks.storage', events } },
    all: { type: 'object_new_fields', in: fields, fields: { fields: pins } },
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@all.object' } },
    note: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@on.flow', storage: '@seen.storage', mutations: '@set.mutations' },
    },
  }
}

const all = ['on_created', 'on_updated', 'on_removed', 'on_deleted']
const write = <T>(work: (session: Session) => T | Promise<T>) =>
  transact(fixture.database, work, { user: ada })
const create = (fields: JsonObject) =>
  write(async (session) => documentOf(await session.create('tasks', setFields(fields))))
const queued = async () =>
  (await fixture.database.capabilities.queues.list()).find(({ name }) => name === eventQueue)?.waiting ?? 0
const seen = () => fixture.documents('seen')

describe('no flow is told', () => {
  test('of a write that is undone', async () => {
    await fixture.install(watching(all))
    const undone = write(async (session) => {
      await session.create('tasks', setFields({ title: 'a' }))
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await queued()).toBe(0)
    expect(await fixture.work()).toEqual([])
  })

  test('of what the trigger does not listen for, or of another storage', async () => {
    await fixture.install(watching('on_removed'))
    await fixture.database.ensure('others')
    await create({ title: 'a' })
    await write((session) => session.create('others', []))
    expect(await queued()).toBe(0)
  })

  test('before the blueprint is active, and after', async () => {
    await create({ title: 'before' })
    const blueprint = await fixture.install(watching(all))
    await fixture.flows.deployments.deactivate(blueprint, ada)
    await create({ title: 'after' })
    expect(await queued()).toBe(0)
  })

  test('of an event whose blueprint was deactivated meanwhile: it is done, and the log says so', async () => {
    const blueprint = await fixture.install(watching(all))
    await create({ title: 'a' })
    await fixture.flows.deployments.deactivate(blueprint, ada)
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await seen()).toEqual([])
    expect(await fixture.logged()).toEqual([expect.stringMatching(/^The event .* was dropped/)])
  })
})

test('a storage is watched while a trigger listens to it, and not afterwards', async () => {
  const watched = new Map<string, number>()
  const count = (name: string, change: number) => watched.set(name, (watched.get(name) ?? 0) + change)
  const { live, log } = fixture.flows
  const close = openStorageEvents({
    database: {
      observe(name, observer) {
        count(name, 1)
        const end = fixture.database.observe(name, observer)
        return () => {
          count(name, -1)
          end()
        }
      },
    },
    live,
    log,
  })
  const first = await fixture.install(watching('on_saved'))
  const second = await fixture.install(watching('on_removed'))
  await fixture.install(watching('on_saved', 'others'))
  expect(watched).toEqual(new Map(Object.entries({ tasks: 1, others: 1 })))
  await fixture.flows.deployments.deactivate(first, ada)
  expect(watched.get('tasks')).toBe(1)
  await fixture.flows.deployments.deactivate(second, ada)
  expect(watched.get('tasks')).toBe(0)
  close()
  expect(watched.get('others')).toBe(0)
})

test('from the first write to the last, a flow is told what happened, in order', async () => {
  await fixture.install(watching(all))
  const guid = guidOf(await create({ title: 'a', tags: ['x'] }))
  const change = { title: 'b', tags: ['x', 'y'] }
  await write((session) => session.update('tasks', guid, setFields(change)))
  await write((session) => session.setRemoved('tasks', guid, true))
  await write((session) => session.setRemoved('tasks', guid, false))
  await write((session) => session.delete('tasks', guid))
  expect(await queued()).toBe(5)
  const worked = await fixture.work()
  expect(worked.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined, undefined])
  const [created, updated, removed, restored, deleted] = await seen()
  expect(created).toMatchObject({
    event: 'on_created',
    document: { title: 'a', _meta: { guid } },
    fields_modified: ['title', 'tags'],
    revisions: [
      { key: 'title', type: 'set.field', value: 'a', previous_value: null },
      { key: 'tags', type: 'set.field', value: ['x'], previous_value: null },
    ],
    job: worked[0]?.job.guid,
  })
  expect(created).not.toHaveProperty('previous')
  expect(updated).toMatchObject({
    event: 'on_updated',
    document: { title: 'b', tags: ['x', 'y'] },
    previous: { title: 'a', tags: ['x'] },
    fields_modified: ['title', 'tags'],
    revisions: [
      { key: 'title', type: 'set.field', value: 'b', previous_value: 'a' },
      { key: 'tags', type: 'array.add', value: 'y', previous_value: null },
    ],
  })
  const nothingNew = {
    fields_modified: [],
    revisions: [],
    previous: { title: 'b' },
    document: { title: 'b' },
  }
  expect(removed).toMatchObject({ event: 'on_removed', ...nothingNew })
  expect(restored).toMatchObject({ event: 'on_updated', ...nothingNew, document: { _meta: { removed: 0 } } })
  expect(deleted).toMatchObject({ event: 'on_deleted', ...nothingNew })
})

test('the event is there as soon as the write is, in its transaction', async () => {
  await fixture.install(watching('on_saved'))
  const session = fixture.database.session()
  await session.create('tasks', setFields({ title: 'a' }))
  expect(await queued()).toBe(0)
  await session.transaction.commit()
  expect(await queued()).toBe(1)
})

test('events of one document are handled one after the other, those of others beside it', async () => {
  await fixture.install(watching('on_saved'))
  const first = guidOf(await create({ n: 1 }))
  const second = guidOf(await create({ n: 1 }))
  await write((session) => session.update('tasks', first, setFields({ n: 2 })))
  const claim = () => fixture.database.capabilities.jobs.claim({ owner: 'test', leaseMs: 60_000, limit: 10 })
  const claimed = await claim()
  const orderOf = (guid: string) => expect.stringMatching(new RegExp(`^tasks ${guid} [0-9a-f-]{36}$`))
  expect(claimed.map(({ orderKey }) => orderKey)).toEqual([orderOf(first), orderOf(second)])
  expect(await claim()).toEqual([])
  for (const job of claimed) {
    await fixture.runJob(job, new AbortController().signal)
    await fixture.database.capabilities.jobs.complete(job)
  }
  expect(await claim()).toMatchObject([{ orderKey: orderOf(first) }])
})

test('two triggers get a job each, and only the one that fails is tried again', async () => {
  await fixture.install(watching('on_created'))
  await fixture.install({
    tasks: { type: 'storage', fields: { storage: 'tasks' } },
    on: { type: 'storage_event', in: { storage: '@tasks.storage', events: 'on_saved' } },
    call: { type: 'function_custom_execute', in: { flow: '@on.flow', function: 'missing' } },
  })
  await create({ title: 'a' })
  const worked = await fixture.work()
  expect(worked.map(({ error }) => error?.replace(/\(.*/, '')).sort()).toEqual([
    'There is no custom function named "missing" in an active blueprint. ',
    undefined,
  ])
  expect(await seen()).toMatchObject([{ event: 'on_created' }])
})

describe('a flow that writes to the storage it listens to', () => {
  const loop = (condition?: string): FlowBlocks => ({
    tasks: { type: 'storage', fields: { storage: 'tasks' } },
    on: { type: 'storage_event', in: { storage: '@tasks.storage', events: 'on_saved' } },
    count: { type: 'mutations_increment_by_field', in: { field: 'n' } },
    again: {
      type: 'function_update_document_mutations',
      in: {
        flow: condition ?? '@on.flow',
        storage: '@tasks.storage',
        document: '@on.document',
        mutations: '@count.mutations',
      },
    },
  })

  test('is stopped at a depth of 8, and the log says who and where', async () => {
    const blueprint = await fixture.install(loop())
    const guid = guidOf(await create({ n: 0 }))
    expect(await fixture.work()).toHaveLength(8)
    expect(await fixture.documents('tasks')).toMatchObject([{ n: 8 }])
    expect(await queued()).toBe(0)
    await fixture.flows.log.flush()
    const trigger = fixture.flows.live.table().blueprints.get(blueprint)?.compiled.storageEvents[0]
    expect(await fixture.documents('_systemlogs')).toMatchObject([
      {
        level: 'error',
        blueprint,
        block: trigger?.block,
        run: expect.stringMatching(/./),
        message: expect.stringContaining(
          `"Test" was not told on_saved of ${guid} in tasks: 8 storage events`,
        ),
      },
    ])
  })

  test('through the queue as well', async () => {
    await fixture.install({
      tasks: { type: 'storage', fields: { storage: 'tasks' } },
      on: { type: 'storage_event', in: { storage: '@tasks.storage', events: 'on_saved' } },
      later: {
        type: 'function_custom_execute_from_queue',
        in: { flow: '@on.flow', function: 'bump', task: '@on.document' },
        fields: { parameters: ['task'] },
      },
      bump: {
        type: 'trigger_custom_function',
        fields: { name: 'bump' },
        out: [{ id: 'task', type: 'document' }],
      },
      count: { type: 'mutations_increment_by_field', in: { field: 'n' } },
      again: {
        type: 'function_update_document_mutations',
        in: {
          flow: '@bump.flow',
          storage: '@tasks.storage',
          document: '@bump.task',
          mutations: '@count.mutations',
        },
      },
    })
    await create({ n: 0 })
    const kinds = (await fixture.work()).map(({ job, error }) => error ?? job.kind)
    expect(kinds).toEqual(Array.from({ length: 8 }).flatMap(() => ['event', 'function']))
    expect(await fixture.documents('tasks')).toMatchObject([{ n: 8 }])
  })

  test('is counted from zero again at each write from outside', async () => {
    await fixture.install(loop())
    const guid = guidOf(await create({ n: 0 }))
    await fixture.work()
    await write((session) => session.update('tasks', guid, setFields({ n: 100 })))
    await fixture.work()
    expect(await fixture.documents('tasks')).toMatchObject([{ n: 108 }])
  })
})

test('what the flow writes is on behalf of the user who began it', async () => {
  await fixture.install(watching('on_saved'))
  const origins: unknown[] = []
  fixture.database.observe('seen', (session) => void origins.push(session.origin))
  await create({ title: 'a' })
  await fixture.work()
  expect(origins).toMatchObject([{ user: ada, run: expect.stringMatching(/./), depth: 1 }])
})

test('a request’s user is behind the events of its run', async () => {
  await fixture.install(watching('on_saved'))
  const blueprint = await fixture.install({
    get: { type: 'on_startup_register_uri_get', in: { uri: 'make' } },
    tasks: { type: 'storage', fields: { storage: 'tasks' } },
    set: { type: 'mutations_set_custom_field', in: { field: 'title', value: 'a' } },
    make: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@get.flow', storage: '@tasks.storage', mutations: '@set.mutations' },
    },
  })
  await fixture.send(blueprint, { user: adaUser })
  const [worked] = await fixture.work()
  expect(worked?.job.payload).toMatchObject({ user: ada, depth: 1 })
})

describe('documents that are large', () => {
  const long = (length: number) => 'x'.repeat(length)

  test('come without the former state when both do not fit', async () => {
    const guid = guidOf(await create({ text: long(500_000) }))
    await fixture.install(watching('on_saved'))
    await write((session) => session.update('tasks', guid, setFields({ n: 1 })))
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    const [note] = await seen()
    expect(note).toMatchObject({
      document: { n: 1, text: long(500_000) },
      fields_modified: [],
      revisions: [],
    })
    expect(note).not.toHaveProperty('previous')
  })

  test('are read again when not even one fits, and the write does not fail', async () => {
    await fixture.install(watching('on_saved'))
    await create({ text: long(950_000) })
    const worked = await fixture.work()
    expect(worked).toMatchObject([{ error: undefined, job: { payload: { left_out: true } } }])
    expect(await seen()).toMatchObject([{ document: { text: long(950_000) }, fields_modified: ['text'] }])
  })

  test('that are nested as deep as may be are told as well', async () => {
    await fixture.install(watching('on_deleted'))
    const nested = Array.from({ length: 62 }).reduce<JsonObject>((inner) => ({ a: inner }), {})
    const guid = guidOf(await create({ nested }))
    await write((session) => session.delete('tasks', guid))
    const [worked] = await fixture.work()
    // The note would be nested deeper than a document may be; the event itself arrives.
    expect(worked?.job.payload.before).toContain(guid)
  })
})
