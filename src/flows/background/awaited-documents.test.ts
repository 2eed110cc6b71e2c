import { afterEach, beforeEach, describe, expect, inject, type Mock, test, vi } from 'vitest'
import { ada, type JobFixture, openJobFixture } from '../../../test/job-fixture.ts'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { lookForDocuments, openAwaitedDocuments } from './awaited-documents.ts'

let fixture: JobFixture
beforeEach(async () => {
  fixture = await openJobFixture()
})
afterEach(() => fixture.close())

const writes = (flow: string, set: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'done', set },
})
const waiting = (more: JsonObject = {}): FlowBlocks => ({
  get: { type: 'on_startup_register_uri_get', in: { uri: 'ask' }, scopes: ['*public'] },
  wait: {
    type: 'wait_for_document',
    in: { flow: '@get.flow', storage: 'orders', where: '=doc.paid == true && doc.n == query.n', ...more },
  },
  found: writes('@wait.found', '={ n: query.n, guid: wait.guid }'),
  late: writes('@wait.timeout', '={ n: query.n, late: true }'),
})
const done = () => fixture.documents('done')
const waits = () => fixture.documents(systemStorages.waits)
const jobs = async () => (await fixture.work()).map(({ job, error }) => error ?? job.title)
const seconds = (count: number) => {
  fixture.clock.now += count * 1_000
}

async function begin(n = '1', blocks = waiting()): Promise<string> {
  const blueprint = await fixture.install(blocks)
  expect((await fixture.send(blueprint, { query: { n } })).end.error).toBeUndefined()
  return blueprint
}

async function create(fields: JsonObject, storage = 'orders'): Promise<string> {
  const session = fixture.database.session()
  const stored = await session.create(storage, setFields(fields))
  await session.transaction.commit()
  return guidOf(documentOf(stored))
}

async function update(guid: string, fields: JsonObject): Promise<void> {
  const session = fixture.database.session()
  await session.update('orders', guid, setFields(fields))
  await session.transaction.commit()
}

/** Writes as a process that has just started tells of them: without those that this room has begun to observe. */
async function restartedWith<T>(write: () => Promise<T>): Promise<T> {
  fixture.closeAwaited()
  const close = await openAwaitedDocuments({ database: fixture.database, live: fixture.flows.live })
  const written = await write()
  close()
  return written
}

describe('a run does not continue', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['for a document that does not fit', () => create({ paid: false, n: '1' })],
    ['for one of another storage', () => create({ paid: true, n: '1' }, 'done')],
    [
      'for one that is removed',
      async () => {
        const guid = await create({ paid: false, n: '1' })
        const session = fixture.database.session()
        await session.setRemoved('orders', guid, true)
        await session.transaction.commit()
      },
    ],
    [
      'for a write that is undone',
      async () => {
        const session = fixture.database.session()
        await session.create('orders', setFields({ paid: true, n: '1' }))
        await session.transaction.rollback()
      },
    ],
  ])('%s', async (_what, write) => {
    await begin()
    await write()
    await fixture.work()
    seconds(11)
    await fixture.work()
    expect((await waits()).map(({ state, kind, awaited }) => [state, kind, awaited])).toEqual([
      ['waiting', 'document', 'orders'],
    ])
    expect((await done()).filter(({ n, paid }) => n !== undefined && paid === undefined)).toEqual([])
  })

  test('without a condition, or with one that asks for other documents', async () => {
    for (const blocks of [waiting({ where: null })]) {
      const blueprint = await fixture.install(blocks)
      const { end } = await fixture.send(blueprint, { query: { n: '1' } })
      expect(end.error?.cause ?? end.error).toMatchObject({
        message: expect.stringContaining('must have a condition'),
      })
    }
    expect(await waits()).toEqual([])
  })
})

describe('a run continues once', () => {
  test('when a document is created that fits', async () => {
    await begin()
    await fixture.work()
    const guid = await create({ paid: true, n: '1' })
    await create({ paid: true, n: '1' })
    await fixture.work()
    expect(await done()).toMatchObject([{ n: '1', guid }])
    seconds(11)
    await fixture.work()
    expect([await done(), await waits()]).toMatchObject([[{ guid }], []])
  })

  test('when a document is changed so that it fits', async () => {
    await begin()
    const guid = await create({ paid: false, n: '1' })
    await fixture.work()
    expect(await done()).toEqual([])
    await update(guid, { paid: true })
    await fixture.work()
    expect(await done()).toMatchObject([{ n: '1', guid }])
  })

  test('when one fits already as it begins to wait', async () => {
    await fixture.install(waiting())
    const guid = await create({ paid: true, n: '1' })
    await begin('1', { ...waiting(), get: { ...waiting().get, in: { uri: 'other' } } })
    await fixture.work()
    expect(await done()).toMatchObject([{ n: '1', guid }])
  })

  test('when its time is over', async () => {
    await begin('1', waiting({ for: '1h' }))
    seconds(3_600)
    await fixture.work()
    await create({ paid: true, n: '1' })
    await fixture.work()
    expect(await done()).toMatchObject([{ n: '1', late: true }])
  })

  test('each of those that wait for this document, and no other', async () => {
    const blueprint = await begin('1')
    for (const n of ['1', '2']) await fixture.send(blueprint, { query: { n } })
    await fixture.work()
    await create({ paid: true, n: '1' })
    await fixture.work()
    expect((await done()).map(({ n }) => n)).toEqual(['1', '1'])
    expect(await waits()).toHaveLength(1)
  })

  test('also after a start at which no deployed flow waits for the storage', async () => {
    const blueprint = await begin()
    await fixture.work()
    await fixture.flows.deployments.deactivate(blueprint, ada)
    const guid = await restartedWith(() => create({ paid: true, n: '1' }))
    const by = { ...ada, mayTakeAccountPages: true, lacks: () => false }
    await fixture.flows.deployments.activate(blueprint, by)
    await fixture.work()
    expect(await done()).toMatchObject([{ guid }])
  })
})

describe('a run that waits until no document fits', () => {
  const untilGone = (more: JsonObject = {}): FlowBlocks => ({
    ...waiting(),
    wait: {
      type: 'wait_for_no_document',
      in: { flow: '@get.flow', storage: 'orders', where: '=doc.paid == false && doc.n == query.n', ...more },
    },
    found: writes('@wait.gone', '={ n: query.n, gone: true }'),
  })
  const gone = async () => (await done()).map(({ n, late }) => (late ? `${n} late` : n))
  const open = () => create({ paid: false, n: '1' })
  /** Begins to wait for the end of a document that is there. */
  const beginWithOne = async () => {
    const blueprint = await fixture.install(untilGone())
    const guid = await open()
    await fixture.send(blueprint, { query: { n: '1' } })
    return { blueprint, guid }
  }
  const removed = async (guid: string, how: 'removed' | 'deleted' = 'removed') => {
    const session = fixture.database.session()
    await (how === 'removed' ? session.setRemoved('orders', guid, true) : session.delete('orders', guid))
    await session.transaction.commit()
  }

  test.each<[string, (guid: string) => Promise<unknown>]>([
    ['nothing is written', async () => undefined],
    ['another document is removed', async () => removed(await create({ paid: false, n: '2' }))],
    ['one of two is removed', async (guid) => [await open(), await removed(guid)]],
    ['it is changed and still fits', (guid) => update(guid, { more: 1 })],
    [
      'its removal is undone',
      async (guid) => {
        const session = fixture.database.session()
        await session.setRemoved('orders', guid, true)
        await session.transaction.rollback()
      },
    ],
  ])('does not continue when %s', async (_what, write) => {
    const { guid } = await beginWithOne()
    await write(guid)
    await fixture.work()
    seconds(11)
    await fixture.work()
    expect([await gone(), (await waits()).map(({ state }) => state)]).toEqual([[], ['waiting']])
  })

  test.each<[string, (guid: string) => Promise<unknown>]>([
    ['the last one is removed', (guid) => removed(guid)],
    ['the last one is deleted', (guid) => removed(guid, 'deleted')],
    ['the last one is changed so that it does not fit', (guid) => update(guid, { paid: true })],
  ])('continues once when %s', async (_what, write) => {
    const { guid } = await beginWithOne()
    // Both looks of the wait itself have been: only the write can end it.
    await fixture.work()
    seconds(11)
    await fixture.work()
    expect(await gone()).toEqual([])
    await write(guid)
    await fixture.work()
    expect([await gone(), await waits()]).toEqual([['1'], []])
  })

  test('continues when there is none as it begins to wait, and at its time', async () => {
    await begin('1', untilGone())
    await fixture.work()
    expect(await gone()).toEqual(['1'])
    await create({ paid: false, n: '2' })
    const late = { ...untilGone({ for: '1h' }), get: { ...untilGone().get, in: { uri: 'late' } } }
    await begin('2', late)
    seconds(3_600)
    await fixture.work()
    expect(await gone()).toEqual(['1', '2 late'])
  })

  test('continues also after a start at which no deployed flow waits for the storage', async () => {
    const { blueprint, guid } = await beginWithOne()
    await fixture.work()
    seconds(11)
    await fixture.work()
    await fixture.flows.deployments.deactivate(blueprint, ada)
    await restartedWith(() => removed(guid))
    await fixture.flows.deployments.activate(blueprint, {
      ...ada,
      mayTakeAccountPages: true,
      lacks: () => false,
    })
    await fixture.work()
    expect(await gone()).toEqual(['1'])
  })
})

test('a write enqueues nothing while no run waits for its storage', async () => {
  await fixture.install(waiting())
  await create({ paid: true, n: '1' })
  expect(await jobs()).toEqual([])
  await begin('2', { ...waiting(), get: { ...waiting().get, in: { uri: 'other' } } })
  await fixture.work()
  await create({ paid: true, n: '1' }, 'done')
  expect(await jobs()).toEqual([])
  await create({ paid: true, n: '1' })
  expect(await jobs()).toEqual(['Look for an awaited document'])
})

test('a wait that cannot be ended leaves no transaction open', async () => {
  await begin()
  await fixture.work()
  await create({ paid: true, n: '1' })
  const rollbacks: Mock[] = []
  const database = {
    session() {
      const session = fixture.database.session()
      rollbacks.push(vi.spyOn(session.transaction, 'rollback'))
      return session
    },
  }
  const stop = fixture.database.observe(systemStorages.waits, () => {
    throw new Error('It cannot be written.')
  })
  const [wait] = await waits()
  const look = { look: guidOf(wait ?? {}) }
  await expect(lookForDocuments(database, look, new AbortController().signal)).rejects.toThrow('written')
  expect(rollbacks.map((one) => one.mock.calls.length)).toEqual([0, 0, 1])
  stop()
  await fixture.work()
  expect(await done()).toMatchObject([{ n: '1' }])
})

test('a document is found whose transaction was open while the wait was stored', async () => {
  const blueprint = await fixture.install(waiting())
  const open = fixture.database.session()
  const stored = await open.create('orders', setFields({ paid: true, n: '1' }))
  const sent = fixture.send(blueprint, { query: { n: '1' } })
  // On SQLite the wait is stored when the other transaction has ended, so that the first look sees the document.
  const overlap = inject('engine') === 'postgres'
  if (overlap) {
    await sent
    expect(await jobs()).toEqual(['Look for an awaited document'])
  }
  await open.transaction.commit()
  await sent
  await fixture.work()
  expect(await done()).toHaveLength(overlap ? 0 : 1)
  seconds(11)
  await fixture.work()
  expect(await done()).toMatchObject([{ guid: guidOf(documentOf(stored)) }])
})
