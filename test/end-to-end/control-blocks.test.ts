/** Blocks that steer a flow: what they end, undo, and leave alone. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let uri: string
let count = 0

beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin.close())
beforeEach(() => {
  uri = `control-${count++}`
})

const storage = (): JsonObject => ({
  kept: { type: 'storage', fields: { storage: uri } },
  set: { type: 'mutations_set_custom_field', in: { field: 'by', value: 'first' } },
})
const create = (flow: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: '@kept.storage', mutations: '@set.mutations' },
})
const trigger = () => ({ type: 'on_startup_register_uri_post', in: { uri } })
const reply = (flow: string, value: string, code = 200) => ({
  type: 'httpconnection_set_json',
  in: { flow, value, code },
})
const fail = (flow: string, more: JsonObject = {}) => ({
  type: 'fail',
  in: { flow, status: 409, message: 'Sold out', ...more },
})
const run = () => quoin.send('POST', `/${uri}`, { body: {} })
const jobs = async () => objectsOf(await quoin.manage('POST', '/queue/search', { filters: { queue: uri } }))
const kept = () => quoin.documents(uri)

describe('fail', () => {
  test('undoes documents and jobs, replies, and logs nothing for a fault of the client', async () => {
    await quoin.install(uri, {
      ...storage(),
      on: trigger(),
      keep: create('@on.flow'),
      later: {
        type: 'function_custom_execute_from_queue',
        in: { flow: '@keep.flow', function: uri, queue: uri },
      },
      function: { type: 'trigger_custom_function', fields: { name: uri } },
      from_job: create('@function.flow'),
      fail: fail('@later.flow', { code: 'SOLD_OUT', details: { left: 0 } }),
    })
    const logged = (await quoin.systemLog()).length
    const answer = await run()
    expect([answer.status, answer.body]).toEqual([
      409,
      { error: 'Sold out', code: 'SOLD_OUT', details: { left: 0 } },
    ])
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(await jobs()).toEqual([])
    expect([await kept(), (await quoin.systemLog()).slice(logged)]).toEqual([[], []])
  })

  test('500 has the message of the flow and one line in the log', async () => {
    await quoin.install(uri, { on: trigger(), fail: fail('@on.flow', { status: 500 }) })
    const logged = (await quoin.systemLog()).length
    expect(await run()).toMatchObject({ status: 500, body: { error: 'Sold out' } })
    expect((await quoin.systemLog()).slice(logged)).toMatchObject([{ level: 'error', message: 'Sold out' }])
  })

  test('in a custom function it ends the run of the caller', async () => {
    await quoin.install(uri, {
      ...storage(),
      on: trigger(),
      keep: create('@on.flow'),
      call: { type: 'function_custom_execute', in: { flow: '@keep.flow', function: uri } },
      never: reply('@call.flow', 'went on'),
      function: { type: 'trigger_custom_function', fields: { name: uri } },
      fail: fail('@function.flow'),
    })
    expect(await run()).toMatchObject({ status: 409, body: { error: 'Sold out' } })
    expect(await kept()).toEqual([])
  })

  test('unless error of the call is wired', async () => {
    await quoin.install(uri, {
      ...storage(),
      on: trigger(),
      keep: create('@on.flow'),
      call: { type: 'function_custom_execute', in: { flow: '@keep.flow', function: uri } },
      caught: {
        type: 'httpconnection_set_json',
        in: { flow: '@call.error', code: 418, value: '@call.error' },
      },
      function: { type: 'trigger_custom_function', fields: { name: uri } },
      fail: fail('@function.flow', { code: 'SOLD_OUT' }),
    })
    expect(await run()).toMatchObject({
      status: 418,
      body: { code: 'SOLD_OUT', message: 'Sold out', status: 409, block: expect.any(String) },
    })
    expect(await kept()).toHaveLength(1)
  })

  test('after the reply it undoes what followed, and the log says so', async () => {
    await quoin.install(uri, {
      ...storage(),
      on: trigger(),
      keep: create('@on.flow'),
      reply: reply('@keep.flow', 'done', 201),
      after: create('@reply.flow'),
      fail: fail('@after.flow'),
    })
    const logged = (await quoin.systemLog()).length
    expect(await run()).toMatchObject({ status: 201, body: 'done' })
    await expect
      .poll(async () => (await quoin.systemLog()).slice(logged))
      .toMatchObject([{ level: 'error', message: 'Sold out' }])
    expect(await kept()).toHaveLength(1)
  })

  test('fails the attempt of a job, with its message, and undoes it', async () => {
    await quoin.install(uri, {
      ...storage(),
      on: trigger(),
      later: {
        type: 'function_custom_execute_from_queue',
        in: { flow: '@on.flow', function: uri, queue: uri, attempts: 1 },
      },
      reply: reply('@later.flow', 'asked'),
      function: { type: 'trigger_custom_function', fields: { name: uri } },
      from_job: create('@function.flow'),
      fail: fail('@from_job.flow'),
    })
    expect(await run()).toMatchObject({ status: 200 })
    await expect
      .poll(jobs, { timeout: 10_000 })
      .toMatchObject([{ status: 'dead', error: expect.stringContaining('Sold out') }])
    expect(await kept()).toEqual([])
  })

  test.each([404, 422, 500])('in a page it shows the error, as its heading: %i', async (status) => {
    await quoin.install(uri, {
      on: { type: 'state_page', in: { url: uri, title: 'Fails' } },
      fail: fail('@on.flow', { status, message: 'Not like this' }),
    })
    const page = await quoin.quoin.server.app.inject({ url: `/${uri}`, headers: { accept: 'text/html' } })
    const heading = expect.stringMatching(/<h1[^>]*>Not like this<\/h1>/)
    expect([page.statusCode, page.body]).toEqual([status, heading])
  })
})

describe('each over documents', () => {
  let small: TestQuoin
  const blocks = (storage: string): JsonObject => ({
    kept: { type: 'storage', fields: { storage } },
    call: { type: 'on_startup_register_uri_post', in: { uri: storage } },
    later: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@call.flow', function: storage, attempts: 1 },
    },
    asked: reply('@later.flow', 'asked'),
    function: { type: 'trigger_custom_function', fields: { name: storage } },
    each: { type: 'each', in: { flow: '@function.flow', storage: '@kept.storage' } },
    count: {
      type: 'set_value',
      fields: { name: 'n', mode: 'add' },
      in: { flow: '@each.each', value: 1 },
    },
    n: { type: 'value', fields: { name: 'n' } },
    sum: { type: 'mutations_set_custom_field', in: { field: 'sum', value: '@n.value' } },
    sums: { type: 'storage', fields: { storage: `${storage}_sums` } },
    keep: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@each.flow', storage: '@sums.storage', mutations: '@sum.mutations' },
    },
    direct: { type: 'on_startup_register_uri_get', in: { uri: storage } },
    run: { type: 'function_custom_execute', in: { flow: '@direct.flow', function: storage } },
    done: reply('@run.flow', 'done'),
  })

  beforeAll(async () => {
    small = await openTestQuoin({ QUOIN_RUN_BUDGET: '200' })
    await small.install('many', blocks('many'))
    const session = small.quoin.database.session()
    for (let n = 0; n < 300; n += 1) await session.create('many', [])
    await session.transaction.commit()
  })
  afterAll(() => small.close())

  test('a job may go through more of them than a run may execute blocks; a request may not', async () => {
    expect(await small.send('GET', '/many')).toMatchObject({ status: 503 })
    expect(await small.documents('many_sums')).toEqual([])
    expect(await small.send('POST', '/many', { body: {} })).toMatchObject({ status: 200 })
    await expect.poll(() => small.documents('many_sums'), { timeout: 20_000 }).toMatchObject([{ sum: 300 }])
  })
})

describe('a way that is not wired', () => {
  const getDocument = (flow: string) => ({
    type: 'function_get_document',
    in: { flow, storage: '@kept.storage', guid: 'unknown' },
  })

  test('not_found without a reply is 404, and what was written is undone', async () => {
    await quoin.install(uri, {
      ...storage(),
      on: trigger(),
      keep: create('@on.flow'),
      read: getDocument('@keep.flow'),
      never: reply('@read.flow', 'found'),
    })
    const logged = (await quoin.systemLog()).length
    expect(await run()).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect([await kept(), (await quoin.systemLog()).slice(logged)]).toEqual([[], []])
  })

  test('conflict is 409', async () => {
    await quoin.install(uri, {
      ...storage(),
      on: trigger(),
      keep: create('@on.flow'),
      change: {
        type: 'function_update_document_mutations',
        in: {
          flow: '@keep.flow',
          storage: '@kept.storage',
          document: '@keep.document',
          mutations: '@set.mutations',
          update_hash: 'another',
        },
      },
      never: reply('@change.flow', 'changed'),
    })
    expect(await run()).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('changed meanwhile') },
    })
    expect(await kept()).toEqual([])
  })

  test('changes nothing when another branch replies, before or after it', async () => {
    for (const branches of [
      { read: getDocument('@keep.flow'), done: reply('@keep.flow', 'done', 201) },
      { done: reply('@keep.flow', 'done', 201), read: getDocument('@keep.flow') },
    ]) {
      uri = `control-${count++}`
      await quoin.install(uri, { ...storage(), on: trigger(), keep: create('@on.flow'), ...branches })
      expect(await run()).toMatchObject({ status: 201, body: 'done' })
      expect(await kept()).toHaveLength(1)
    }
  })

  test('that is wired, and in a flow that goes on, is 204 as before', async () => {
    await quoin.install(uri, {
      ...storage(),
      on: trigger(),
      keep: create('@on.flow'),
      read: getDocument('@keep.flow'),
      more: create('@read.not_found'),
    })
    expect((await run()).status).toBe(204)
    expect(await kept()).toHaveLength(2)
  })

  test('in a job it is no failure', async () => {
    await quoin.install(uri, {
      ...storage(),
      on: trigger(),
      later: {
        type: 'function_custom_execute_from_queue',
        in: { flow: '@on.flow', function: uri, queue: uri },
      },
      asked: reply('@later.flow', 'asked'),
      function: { type: 'trigger_custom_function', fields: { name: uri } },
      keep: create('@function.flow'),
      read: getDocument('@keep.flow'),
    })
    await run()
    await expect.poll(kept, { timeout: 10_000 }).toHaveLength(1)
    await expect.poll(jobs, { timeout: 10_000 }).not.toMatchObject([{ status: 'dead' }])
  })
})
