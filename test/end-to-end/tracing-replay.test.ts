/** A recorded request run again: on other blocks, without doing anything. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { objectOf, objectsOf } from './harness.ts'
import {
  openTracingFixture,
  soon,
  storyOf,
  type TracedBlueprint,
  type TracingFixture,
} from './tracing-fixture.ts'

let fixture: TracingFixture
let orders: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture()
  orders = await fixture.install('Orders', {
    orders: { type: 'storage', fields: { storage: 'orders' } },
    heard: { type: 'storage', fields: { storage: 'heard' } },
    post: { type: 'on_startup_register_uri_post', in: { uri: 'orders' } },
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@post.body' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: '@orders.storage', mutations: '@set.mutations' },
    },
    later: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@create.flow', function: 'note', queue: 'notes', text: 'from a job' },
      fields: { parameters: ['text'] },
    },
    ask: { type: 'http_request', in: { flow: '@later.flow', url: `${fixture.outside.url}/stock` } },
    answer: {
      type: 'object_new_fields',
      in: { order: '@create.document', stock: '@ask.body' },
      fields: { fields: ['order', 'stock'] },
    },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@ask.flow', value: '@answer.object', code: 201 },
    },
    count: { type: 'on_startup_register_uri_get', in: { uri: 'orders/count' } },
    all: { type: 'function_search', in: { flow: '@count.flow', storage: '@orders.storage' } },
    counted: { type: 'httpconnection_set_json', in: { flow: '@all.flow', value: '@all.total' } },

    on_order: {
      type: 'storage_event',
      in: { storage: '@orders.storage', events: ['on_created'] },
    },
    set_heard: { type: 'mutations_set_custom_field', in: { field: 'by', value: 'event' } },
    hear: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@on_order.flow', storage: '@heard.storage', mutations: '@set_heard.mutations' },
    },
    note: {
      type: 'trigger_custom_function',
      out: [{ id: 'text', type: 'value' }],
      fields: { name: 'note' },
    },
    noted: { type: 'function_return', in: { flow: '@note.flow', value: '@note.text' } },
  })
  await fixture.quoin.addUser('builder', [
    'blueprints_view',
    'blueprintactions_view',
    'runs_view',
    'blueprints_update',
  ])
  await orders.trace(true, { minutes: 60 })
})
afterAll(() => fixture.close())

async function replay(run: JsonObject, body?: JsonObject): Promise<JsonObject> {
  return objectOf(await fixture.quoin.manage('POST', `/runs/${String(run.guid)}/replay`, body))
}

async function stage(name: string, change: JsonObject): Promise<void> {
  await fixture.quoin.manage('PUT', `/blueprintactions/${orders.block(name)}`, change)
}

/** Written at times of their own: the traces themselves, and measurements. */
const recorded: readonly string[] = [
  systemStorages.runs,
  systemStorages.samples,
  systemStorages.figures,
  systemStorages.userLogs,
  // A second behind the record of an audited change.
  systemStorages.auditChain,
  systemStorages.auditCheckpoints,
]

/** Everything that there is, in every storage and queue but those. */
async function world(): Promise<JsonValue> {
  const { database, flows } = fixture.quoin.quoin
  await flows.log.flush()
  const names = database.names().filter((name) => !recorded.includes(name))
  const documents = await Promise.all(names.map(async (name) => [name, await fixture.quoin.documents(name)]))
  const jobs = (await database.capabilities.queues.list()).map(({ name, waiting, running, done, dead }) => [
    name,
    waiting + running + done + dead,
  ])
  return JSON.parse(JSON.stringify([documents, jobs, fixture.asked()]))
}

/** When the job and the event of each order have had their runs, those of earlier tests too. */
async function settled(): Promise<void> {
  const made = (await fixture.quoin.documents('orders')).length
  await soon(async () => {
    const jobs = await orders.runs(`&trigger=${orders.block('note')}&status=ended`)
    const events = await orders.runs(`&trigger=${orders.block('on_order')}&status=ended`)
    return (jobs.length >= made && events.length >= made) || undefined
  })
}

describe('what is refused', () => {
  test.each<[string, JsonObject]>([
    ['another state', { state: 'former' }],
    ['writes that stay', { writes: 'keep' }],
    ['what it does not know', { dry: true }],
  ])('%s', async (_what, body) => {
    const path = '/runs/01890000-0000-7000-8000-000000000000/replay'
    expect((await fixture.quoin.send('POST', path, { as: 'builder', body })).status).toBe(400)
  })

  test('a request that was too long to be kept', async () => {
    const n = 'x'.repeat(70_000)
    expect((await fixture.quoin.send('POST', '/orders', { body: { n } })).status).toBe(201)
    const run = await orders.lastRun('post')
    const answer = await fixture.quoin.send('POST', `/runs/${String(run.guid)}/replay`, { as: 'builder' })
    expect([answer.status, answer.body]).toEqual([409, expect.objectContaining({ error: 'CONFLICT' })])
  })
})

describe('a run that writes, enqueues and asks outside', () => {
  test('is repeated, and nothing was done', async () => {
    const first = await fixture.quoin.send('POST', '/orders', { body: { item: 'tea' } })
    expect(first.status).toBe(201)
    await settled()
    const run = await orders.lastRun('post')
    const before = await world()
    const again = await replay(run)
    expect(again).toMatchObject({
      status: 'ended',
      replay_of: run.guid,
      deployment: 0,
      label: 'POST orders',
      reply: { status: 201, body: { order: { item: 'tea' } } },
      compared: { status: [201, 201], same: true, before: objectOf(run.reply).body },
    })
    // The server outside counts; it was not asked, and what it had said is there again.
    expect(objectOf(objectOf(again.reply).body).stock).toEqual(objectOf(objectOf(run.reply).body).stock)
    expect(storyOf(again, orders)).toEqual(storyOf(run, orders))
    expect(await world()).toEqual(before)
    // Control: the world does notice what is done.
    await fixture.quoin.send('POST', '/orders', { body: { item: 'coffee' } })
    await settled()
    expect(await world()).not.toEqual(before)
    expect(objectOf(await fixture.quoin.manage('GET', `/runs/${String(again.guid)}`))).toEqual(again)
  })

  test('that fails behind its writes leaves nothing either', async () => {
    const run = await orders.lastRun('post')
    const flow = { id: 'flow', from: [{ block: orders.block('ask'), pin: 'flow' }] }
    const code = { id: 'code', from: [{ block: orders.block('ask'), pin: 'body' }] }
    await stage('reply', { in_pins: [flow, code] })
    const before = await world()
    expect(await replay(run, { state: 'staged' })).toMatchObject({
      status: 'failed',
      error: { block: orders.block('reply') },
      compared: { status: [201, 500], same: false },
    })
    expect(await world()).toEqual(before)
    await fixture.quoin.manage('DELETE', `/blueprintactions/unsaved/${orders.guid}`)
  })

  test('a job and an event are repeated with what started them', async () => {
    for (const trigger of ['note', 'on_order']) {
      const run = await orders.lastRun(trigger)
      const before = await world()
      const again = await replay(run, { state: 'deployed' })
      expect(again).toMatchObject({
        status: 'ended',
        deployment: 1,
        compared: { same: true, status: [null, null] },
      })
      expect(storyOf(again, orders)).toEqual(storyOf(run, orders))
      expect(await world()).toEqual(before)
    }
    expect((await orders.lastRun('note')).result).toBe('from a job')
  })
})

describe('other blocks', () => {
  test('saved, staged and deployed ones; what differs is said', async () => {
    await fixture.quoin.send('GET', '/orders/count')
    const run = await orders.lastRun('count')
    await stage('counted', {
      in_pins: [
        { id: 'flow', from: [{ block: orders.block('all'), pin: 'flow' }] },
        { id: 'value', value: 'many' },
      ],
    })
    const count = objectOf(run.reply).body
    expect(objectOf((await replay(run)).compared)).toEqual({
      status: [200, 200],
      same: true,
      before: count,
      after: count,
    })
    expect(objectOf((await replay(run, { state: 'staged' })).compared)).toEqual({
      status: [200, 200],
      same: false,
      before: count,
      after: 'many',
    })
    await fixture.quoin.manage('POST', `/blueprintactions/unsaved/${orders.guid}`)
    expect(objectOf((await replay(run, { state: 'saved', writes: 'discard' })).compared).same).toBe(false)
    expect(objectOf((await replay(run, { state: 'deployed' })).compared).same).toBe(true)
  })

  test('a block that asks outside where it did not: the run fails, and no request is sent', async () => {
    const run = await orders.lastRun('count')
    const asked = fixture.asked()
    await stage('all', {
      in_pins: [
        { id: 'flow', from: [{ block: orders.block('ask'), pin: 'flow' }] },
        { id: 'storage', from: [{ block: orders.block('orders'), pin: 'storage' }] },
      ],
    })
    await stage('ask', {
      in_pins: [
        { id: 'flow', from: [{ block: orders.block('count'), pin: 'flow' }] },
        { id: 'url', value: fixture.outside.url },
      ],
    })
    const again = await replay(run, { state: 'staged' })
    expect(again).toMatchObject({
      status: 'failed',
      error: { block: orders.block('ask'), message: expect.stringContaining('sends no external requests') },
      compared: { status: [200, 500], same: false },
    })
    expect(fixture.asked()).toBe(asked)
  })

  test('blocks that cannot run are 422 with what is wrong', async () => {
    const run = await orders.lastRun('count')
    // Without its storage.
    const flow = { id: 'flow', from: [{ block: orders.block('count'), pin: 'flow' }] }
    await stage('all', { in_pins: [flow] })
    const answer = await fixture.quoin.send('POST', `/runs/${String(run.guid)}/replay`, {
      as: 'builder',
      body: { state: 'staged' },
    })
    expect([
      answer.status,
      objectsOf(objectOf(answer.body).problems).map(({ block }) => orders.nameOf(block)),
    ]).toEqual([422, ['all']])
  })

  test('a trigger that is gone is 409', async () => {
    const run = await orders.lastRun('count')
    await fixture.quoin.manage('DELETE', `/blueprintactions/unsaved/${orders.guid}`)
    for (const name of ['count', 'all', 'counted'])
      await fixture.quoin.manage('DELETE', `/blueprintactions/${orders.block(name)}`)
    const path = `/runs/${String(run.guid)}/replay`
    const answer = await fixture.quoin.send('POST', path, { as: 'builder', body: { state: 'staged' } })
    expect([answer.status, objectOf(answer.body).message]).toEqual([409, expect.stringContaining('trigger')])
  })
})
