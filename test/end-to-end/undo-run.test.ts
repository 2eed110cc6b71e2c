/** What a run wrote is taken back, by the history: all of it, or what was not changed since. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { search } from '../../src/shared/query.ts'
import type { Session } from '../../src/storage/database.ts'
import { transact } from '../../src/storage/transact.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { slowSteps, turnsDuring } from '../turns-during.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
let base: string
let order: string
let draft: string
const paths: Record<string, string> = {}
const storages = ['orders', 'shipments', 'drafts'] as const

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  base = await fixture.quoin.server.listen()
  for (const name of [...storages, 'plain']) {
    const made = await fixture.manage('POST', '/_system/storages', { name, history: name !== 'plain' })
    paths[name] = `/_system/storages/${guidOf(made)}/documents`
  }
  await fixture.manage('POST', '/blueprintfields', {
    name: 'code',
    type: 'string',
    storage: 'orders',
    unique: true,
  })
  await fixture.manage('PUT', '/queues/receipts', { paused: true })
  await fixture.install('Shipping', {
    ...Object.fromEntries(
      [...storages, 'plain'].map((name) => [name, { type: 'storage', fields: { storage: name } }]),
    ),
    ship: { type: 'on_startup_register_uri_post', in: { uri: 'ship' }, scopes: ['*public'] },
    body: {
      type: 'object_update_fields',
      in: { object: '@ship.body' },
      fields: { out_fields: ['order', 'draft'] },
    },
    shipment_fields: {
      type: 'mutations_set_bp_field_multiple',
      in: { object: '@ship.body' },
      fields: { fields: ['order'] },
    },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@ship.flow', storage: '@shipments.storage', mutations: '@shipment_fields.mutations' },
    },
    order_fields: {
      type: 'mutations_set_bp_field_multiple',
      in: { state: 'shipped' },
      fields: { fields: ['state'] },
    },
    update: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@create.flow',
        storage: '@orders.storage',
        guid: '@body.order',
        mutations: '@order_fields.mutations',
      },
    },
    remove: {
      type: 'function_remove_document',
      in: { flow: '@update.flow', storage: '@drafts.storage', guid: '@body.draft' },
    },
    note: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@remove.flow', storage: '@plain.storage', mutations: '@shipment_fields.mutations' },
    },
    later: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@note.flow', function: 'write_receipt', queue: 'receipts', order: '@body.order' },
      fields: { parameters: ['order'] },
    },
    done: {
      type: 'httpconnection_set_json',
      in: { flow: '@later.flow', code: 201, value: '@create.document' },
    },
    write_receipt: {
      type: 'trigger_custom_function',
      out: [{ id: 'order', type: 'string' }],
      fields: { name: 'write_receipt' },
    },
  })
  await fixture.addUser('reader', ['storages_view', 'runs_view'])
  await fixture.addUser('editor', ['storages_view', 'storages_create', 'storages_update', 'storages_remove'])
})
afterAll(() => fixture.close())

const add = async (storage: string, fields: JsonObject) =>
  guidOf(await fixture.manage('POST', `${paths[storage]}`, fields))
const put = (storage: string, guid: string, fields: JsonObject) =>
  fixture.manage('PUT', `${paths[storage]}/${guid}`, fields)
/** All fields of all storages with history, removed documents left out. */
const state = async () => {
  const all: JsonObject = {}
  return Object.assign(
    all,
    ...(await Promise.all(
      storages.map(async (name) => ({
        [name]: (
          await fixture.documents(name)
        )
          .filter(({ _meta }) => objectOf(_meta).removed === 0)
          .map(({ _meta, ...rest }) => rest),
      })),
    )),
  )
}
const receipts = async () =>
  objectsOf(
    await fixture.manage('POST', '/queue/search', { filters: { queue: 'receipts', status: 'waiting' } }),
  ).length
const history = async (storage: string, guid: string) =>
  objectsOf(await fixture.manage('GET', `${paths[storage]}/${guid}/history`))

async function ship(): Promise<string> {
  expect(await fixture.send('POST', '/ship', { body: { order, draft } })).toMatchObject({ status: 201 })
  const [{ run } = { run: undefined }] = await history('orders', order)
  return String(run)
}
const undo = (run: string, body: JsonObject = {}, as = 'admin') =>
  fixture.send('POST', `/runs/${run}/undo`, { as, body })

let before: JsonObject
beforeEach(async () => {
  for (const name of storages)
    await fixture.manage('POST', `${paths[name]}/remove-many`, {
      filters: {},
      hard: true,
      include_removed: true,
    })
  for (const { _meta } of objectsOf(
    await fixture.manage('POST', '/queue/search', { filters: { queue: 'receipts' } }),
  ))
    await fixture.manage('DELETE', `/queue/${objectOf(_meta).guid}`)
  order = await add('orders', { code: 'A', state: 'open' })
  draft = await add('drafts', { of: 'A' })
  before = await state()
})

describe('refused, and nothing is changed', () => {
  test.each([
    ['', 401],
    ['reader', 403],
  ])('for %j', async (as, status) => {
    const run = await ship()
    const after = await state()
    expect((await fixture.send('POST', `/runs/${run}/undo`, { ...(as && { as }), body: {} })).status).toBe(
      status,
    )
    expect((await fixture.send('GET', `/runs/${run}/undo`, as ? { as } : {})).status).toBe(status)
    expect([await state(), await receipts()]).toEqual([after, 1])
  })

  test.each(['no-such-run', guidLike()])('for %s, of which the history has nothing', async (run) => {
    expect(await undo(run)).toMatchObject({ status: 404, body: { error: 'NOT_FOUND' } })
  })

  test('where a document was changed since, which the details list', async () => {
    const run = await ship()
    await put('orders', order, { state: 'returned' })
    const after = await state()
    expect(await undo(run)).toMatchObject({
      status: 409,
      body: {
        error: 'CONFLICT',
        details: {
          total: 1,
          documents: [{ storage: 'orders', document: order, problem: 'It was changed since.' }],
        },
      },
    })
    expect([await state(), await receipts()]).toEqual([after, 1])
  })

  test('where a unique value is taken since', async () => {
    const run = String(
      objectOf(await fixture.manage('POST', `${paths.orders}/remove-many`, { filters: {} })).run,
    )
    await add('orders', { code: 'A' })
    const after = await state()
    expect(await undo(run)).toMatchObject({
      status: 409,
      body: { details: { total: 1, documents: [{ problem: expect.stringContaining('code') }] } },
    })
    expect(await state()).toEqual(after)
  })

  test('for a user whom the permissions of a storage bind', async () => {
    const run = await ship()
    const { _meta } = objectOf(
      await fixture
        .manage('POST', '/_system/storages/search', { filters: { name: 'orders' } })
        .then((found) => objectsOf(found)[0]),
    )
    const path = `/_system/storages/${String(objectOf(_meta).guid)}`
    await fixture.manage('PUT', path, { rules: { see: 'doc.code == "A"' } })
    const after = await state()
    expect(await undo(run, {}, 'editor')).toMatchObject({ status: 403, body: { error: 'DENIED_BY_RULE' } })
    expect(await state()).toEqual(after)
    await fixture.manage('PUT', path, { rules: null })
  })
})

test('a run is taken back: its documents, and the job that has not begun', async () => {
  // Another run, whose documents and job stay.
  const other = { order: await add('orders', { code: 'B' }), draft: await add('drafts', { of: 'B' }) }
  expect(await fixture.send('POST', '/ship', { body: other })).toMatchObject({ status: 201 })
  before = await state()
  const run = await ship()
  const preview = await fixture.send('GET', `/runs/${run}/undo`, { as: 'editor' })
  expect(preview).toMatchObject({
    status: 200,
    body: { run: null, count: 3, left: 0, jobs: [{ queue: 'receipts' }], begun: [], outside: null },
  })
  expect(objectsOf(objectOf(preview.body).documents).map(({ storage, action }) => [storage, action])).toEqual(
    [
      ['drafts', 'restore'],
      ['orders', 'change'],
      ['shipments', 'remove'],
    ],
  )
  const reply = await undo(run, {}, 'editor')
  expect(reply).toMatchObject({ status: 200, body: { count: 3, left: 0, jobs: [{ queue: 'receipts' }] } })
  expect([await state(), await receipts()]).toEqual([before, 1])
  // What no history has stays: the note.
  expect((await fixture.documents('plain')).length).toBeGreaterThan(0)
  const [logged] = objectsOf(
    await fixture.manage('POST', '/_system/auditlogs', {
      filters: { action: 'undone' },
      sort: [{ '_meta.created': 'desc' }],
    }),
  )
  expect(logged).toMatchObject({ category: 'documents', guid: run, user: { username: 'editor' } })
  // A second time there is nothing to take back: it is as it was.
  expect(await undo(run)).toMatchObject({ status: 409 })
})

test('what was begun is listed and stays, and what a run did outside is not known without its record', async () => {
  const run = await ship()
  await fixture.manage('PUT', '/queues/receipts', { paused: false })
  const jobs = async () => objectsOf(objectOf(await fixture.manage('GET', `/runs/${run}/undo`)).begun ?? [])
  await expect.poll(async () => (await jobs()).map(({ state }) => state)).toEqual(['done'])
  await fixture.manage('PUT', '/queues/receipts', { paused: true })
  const begun = [{ queue: 'receipts', title: expect.any(String), guid: expect.any(String), state: 'done' }]
  const shown = await quoinCommand(['undo', run, '--url', base], {
    QUOIN_TOKEN: await fixture.tokenOf('admin'),
  })
  expect(shown.printed).toContain('cannot be taken back: job in receipts, done: ')
  expect(shown.printed).toContain('not known, as the run was not recorded')
  expect((await undo(run)).body).toMatchObject({ count: 3, jobs: [], begun, outside: null })
  expect(await state()).toEqual(before)
})

test('taking back is taken back', async () => {
  const run = await ship()
  const after = await state()
  const { run: undone } = objectOf((await undo(run)).body)
  expect(await state()).toEqual(before)
  expect(await undo(String(undone))).toMatchObject({ status: 200, body: { count: 3 } })
  expect(await state()).toEqual(after)
})

test('what others have changed since is left out on request, and the jobs stay', async () => {
  const run = await ship()
  await put('orders', order, { state: 'returned' })
  expect(await undo(run, { leave_changed: true })).toMatchObject({
    status: 200,
    body: { count: 2, left: 1, jobs: [] },
  })
  expect(await state()).toEqual({ ...before, orders: [{ code: 'A', state: 'returned' }] })
  expect(await receipts()).toBe(1)
})

test('a document one of whose two writes is refused stays as it is, with nothing of it in the history', async () => {
  await fixture.install('Closing', {
    orders: { type: 'storage', fields: { storage: 'orders' } },
    close: { type: 'on_startup_register_uri_post', in: { uri: 'close' }, scopes: ['*public'] },
    body: {
      type: 'object_update_fields',
      in: { object: '@close.body' },
      fields: { out_fields: ['closed', 'other'] },
    },
    to_z: { type: 'mutations_set_bp_field_multiple', in: { code: 'Z' }, fields: { fields: ['code'] } },
    to_y: { type: 'mutations_set_bp_field_multiple', in: { code: 'Y' }, fields: { fields: ['code'] } },
    change: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@close.flow',
        storage: '@orders.storage',
        guid: '@body.closed',
        mutations: '@to_z.mutations',
      },
    },
    remove: {
      type: 'function_remove_document',
      in: { flow: '@change.flow', storage: '@orders.storage', guid: '@body.closed' },
    },
    change_other: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@remove.flow',
        storage: '@orders.storage',
        guid: '@body.other',
        mutations: '@to_y.mutations',
      },
    },
    done: { type: 'httpconnection_set_json', in: { flow: '@change_other.flow', code: 201, value: true } },
  })
  const other = await add('orders', { code: 'B' })
  expect(await fixture.send('POST', '/close', { body: { closed: order, other } })).toMatchObject({
    status: 201,
  })
  const [{ run } = { run: undefined }] = await history('orders', order)
  const taken = await add('orders', { code: 'A' })
  const records = await history('orders', order)
  expect(await undo(String(run), { leave_changed: true })).toMatchObject({
    status: 200,
    body: { count: 1, left: 1, documents: [{ document: order }, { document: other, problem: null }] },
  })
  expect((await state()).orders).toEqual(expect.arrayContaining([{ code: 'A' }, { code: 'B' }]))
  expect(((await state()).orders as unknown[]).length).toBe(2)
  expect(await history('orders', order)).toEqual(records)
  expect(taken).not.toBe(order)
})

test('what the run deleted has its number, its creator and its expiry again, and a later document the next number', async () => {
  const numbered = guidOf(await fixture.manage('POST', '/_system/storages', { name: 'bills', history: true }))
  const types = { number: 'autonumber', maker: 'created_by' }
  for (const [name, type] of Object.entries(types))
    await fixture.manage('POST', '/blueprintfields', { name, type, storage: 'bills' })
  const path = `/_system/storages/${numbered}/documents`
  await fixture.addUser('maker', ['storages_view', 'storages_create'])
  const sent = { as: 'maker', body: { of: 'A' } }
  const { body: first = null } = await fixture.send('POST', `${path}?expiry=4000000000`, sent)
  const made = objectOf(first)
  await fixture.manage('POST', path, { of: 'B' })
  const { run } = objectOf(
    await fixture.manage('POST', `${path}/remove-many`, { guids: [guidOf(made)], hard: true }),
  )
  expect((await fixture.send('GET', `${path}/${guidOf(made)}`, { as: 'admin' })).status).toBe(404)
  expect(await undo(String(run))).toMatchObject({ status: 200, body: { count: 1, left: 0 } })
  const again = objectOf(await fixture.manage('GET', `${path}/${guidOf(made)}`))
  const { number, maker, _meta: meta } = made
  const { cms, expiry } = objectOf(meta)
  expect([number, again.number, again.maker, expiry]).toEqual([1, 1, maker, 4_000_000_000])
  expect(objectOf(again._meta)).toMatchObject({ cms, expiry })
  expect(objectOf(await fixture.manage('POST', path, { of: 'C' })).number).toBe(3)
})

test('what was removed before the run deleted it is removed again', async () => {
  await fixture.manage('DELETE', `${paths.orders}/${order}`)
  const many = { filters: {}, hard: true, include_removed: true }
  const { run } = objectOf(await fixture.manage('POST', `${paths.orders}/remove-many`, many))
  expect(await history('orders', order)).toMatchObject([
    { action: 'deleted', removed: true },
    { action: 'removed' },
    { action: 'created' },
  ])
  expect(await undo(String(run))).toMatchObject({ status: 200, body: { left: 0 } })
  expect((await state()).orders).toEqual([])
  expect((await history('orders', order)).slice(0, 2)).toMatchObject([
    { action: 'removed' },
    { action: 'created' },
  ])
})

test('its jobs are found among many others of its time', async () => {
  const run = await ship()
  const { database } = fixture.quoin
  await transact(database, async (session) => {
    const job = { queue: 'receipts', kind: 'function', title: 'Another', payload: {} } as const
    for (let n = 0; n < 501; n++) await session.enqueue({ ...job, runAt: Date.now(), attempts: 1 })
  })
  expect(await undo(run)).toMatchObject({ status: 200, body: { jobs: [{ queue: 'receipts' }] } })
  for (const { guid } of (
    await database.capabilities.jobs.search(
      search({ query: { kind: 'term', field: 'queue', value: 'receipts' }, limit: 1_000 }),
    )
  ).records)
    await database.capabilities.jobs.cancel(guid)
})

test('a change of many, at once and as a job', async () => {
  await add('orders', { code: 'B', state: 'open', tags: ['x'] })
  const all = await state()
  for (const in_background of [false, true]) {
    const many = { filters: {}, set: { state: 'closed', tags: ['x', 'y'] }, in_background }
    const { run, job } = objectOf(await fixture.manage('POST', `${paths.orders}/update-many`, many))
    const status = async () =>
      job === null ? 'done' : objectOf(await fixture.manage('GET', `/queue/${job}`)).status
    await expect.poll(status, { timeout: 20_000, interval: 20 }).toBe('done')
    expect(await state()).not.toEqual(all)
    expect(await undo(String(run))).toMatchObject({ status: 200, body: { count: 2 } })
    expect(await state()).toEqual(all)
  }
  const { run } = objectOf(
    await fixture.manage('POST', `${paths.orders}/remove-many`, { filters: {}, hard: true }),
  )
  expect((await state()).orders).toEqual([])
  expect(await undo(String(run))).toMatchObject({ status: 200, body: { count: 2 } })
  expect((await state()).orders).toEqual(expect.arrayContaining([{ code: 'A', state: 'open' }]))
})

// PostgreSQL answers in turns of its own, and the bound is that of the history, not of the engine.
if (inject('engine') === 'sqlite') {
  test('others have their turn between two documents', async () => {
    const codes = Array.from({ length: 40 }, (_, n) => `T${n}`)
    for (const code of codes) await add('orders', { code, state: 'open' })
    const many = { filters: {}, set: { state: 'closed' } }
    const { run } = objectOf(await fixture.manage('POST', `${paths.orders}/update-many`, many))
    slowSteps()
    try {
      let undone: unknown
      expect(
        await turnsDuring(async () => {
          undone = await undo(String(run))
        }),
      ).toBeGreaterThan(2 * codes.length)
      expect(undone).toMatchObject({ status: 200, body: { left: 0 } })
    } finally {
      vi.restoreAllMocks()
    }
  })

  test('more than 1,000 writes are refused as a whole, and taken back in parts', async () => {
    const run = randomUUID()
    const { database } = fixture.quoin.flows.records
    const work = async (session: Session) => {
      await session.update('orders', order, setFields({ state: 'first' }))
      for (let n = 0; n < 1_000; n++) await session.create('drafts', setFields({ n }))
      await session.update('orders', order, setFields({ state: 'last' }))
    }
    await transact(database, work, { user: { guid: '', username: 'admin' }, run })
    const written = await state()
    expect(await undo(run)).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/1,000.*in_parts/) },
    })
    expect((await undo(run, { after: 'x' })).status).toBe(400)
    const parts = `/runs/${run}/undo?in_parts=true`
    const first = objectOf(await fixture.manage('GET', parts))
    const next = String(first.next)
    const second = await fixture.manage('GET', `${parts}&after=${encodeURIComponent(next)}`)
    // The order is in both.
    expect([first, second]).toMatchObject([
      { count: 1_000, left: 0 },
      { count: 2, left: 0, next: null },
    ])
    expect(await state()).toEqual(written)

    expect(await undo(run, { in_parts: true })).toMatchObject({ status: 200, body: { count: 1_000, next } })
    expect(objectsOf(objectOf(await state()).orders)).toEqual([{ code: 'A', state: 'first' }])
    expect((await undo(run, { in_parts: true })).status).toBe(409)
    // Who was interrupted here goes on.
    const environment = { QUOIN_TOKEN: await fixture.tokenOf('admin') }
    const command = (...flags: readonly string[]) =>
      quoinCommand(['undo', run, '--yes', '--url', base, ...flags], environment)
    expect(await command()).toMatchObject({
      code: 1,
      printed: expect.stringContaining('2 documents are taken back, 1000 are not, in 2 transactions.'),
      complained: expect.stringContaining('--leave-changed'),
    })
    expect(objectsOf(objectOf(await state()).orders)).toEqual([{ code: 'A', state: 'first' }])
    expect((await command('--leave-changed')).code).toBe(0)
    expect(await state()).toEqual(before)
  })
}

function guidLike(): string {
  return '01900000-0000-7000-8000-000000000000'
}
