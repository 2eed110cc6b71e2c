import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ada, adaUser, type JobFixture, openJobFixture, redeploy } from '../../../test/job-fixture.ts'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import type { LiveBlueprint } from '../live/live-blueprints.ts'

let fixture: JobFixture
beforeEach(async () => {
  fixture = await openJobFixture()
})
afterEach(() => fixture.close())

const never = new AbortController().signal
const waiting = async () => (await fixture.database.capabilities.jobs.search({ ...emptySearch })).records
const emptySearch = { query: matchAll, sort: [], limit: 100, offset: 0, includeRemoved: false }

/** Creates a document { name } in the storage `docs`. */
const creates = (id: string, name: string, flow: string) => ({
  [`m_${id}`]: { type: 'mutations_set_custom_field', in: { field: 'name', value: name } },
  [id]: {
    type: 'function_create_document_from_mutations',
    in: { flow, storage: '@docs.storage', mutations: `@m_${id}.mutations` },
  },
})
const docs = { docs: { type: 'storage', fields: { storage: 'docs' } } }
const names = async () => (await fixture.documents('docs')).map(({ name }) => name)

/** GET: writes, puts `mail` into a queue with the parameter `to`, writes, replies with the job. */
const asking: FlowBlocks = {
  get: { type: 'on_startup_register_uri_get', in: { uri: 'ask' } },
  ...docs,
  ...creates('before', 'before', '@get.flow'),
  params: { type: 'httpconnection_get_params', in: { field: 'to' } },
  later: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@before.flow', function: 'mail', to: '@params.value', dedupe_key: '@params.value' },
    fields: { parameters: ['to'] },
  },
  reply: { type: 'httpconnection_set_json', in: { flow: '@later.flow', value: '@later.job' } },
}

/** The function: creates a document named by its parameter. */
const mailing: FlowBlocks = {
  docs: { type: 'storage', fields: { storage: 'docs' } },
  mail: {
    type: 'trigger_custom_function',
    fields: { name: 'mail' },
    out: [
      { id: 'to', type: 'value' },
      { id: 'job', type: 'value' },
    ],
  },
  m_to: { type: 'mutations_set_custom_field', in: { field: 'name', value: '@mail.to' } },
  m_job: {
    type: 'mutations_set_custom_field',
    in: { mutations: '@m_to.mutations', field: 'job', value: '@mail.job' },
  },
  made: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@mail.flow', storage: '@docs.storage', mutations: '@m_job.mutations' },
  },
}

describe('a function from the queue', () => {
  test('of a name that no active blueprint has fails with an error that names it', async () => {
    const blueprint = await fixture.install(asking)
    await fixture.send(blueprint, { query: { to: 'a' } })
    const [worked] = await fixture.work()
    expect(worked?.error).toBe('There is no custom function named "mail" in an active blueprint.')
    expect(await waiting()).toMatchObject([{ state: 'dead', lastError: worked?.error }])
  })

  test('is not there when the run that asked for it fails, and neither is what the run wrote', async () => {
    const blueprint = await fixture.install({
      ...asking,
      reply: { type: 'httpconnection_set_json', in: { flow: '@later.flow', code: '@bad.value', value: '' } },
      bad: { type: 'httpconnection_get_params', in: { field: 'to' } },
    })
    await fixture.install(mailing)
    const { end } = await fixture.send(blueprint, { query: { to: 'no code' } })
    expect(end.error).toMatchObject({ code: 'INVALID_QUERY' })
    expect(await waiting()).toEqual([])
    expect(await names()).toEqual([])
  })

  test('runs once, in a run of its own, with its parameters and the guid of its job', async () => {
    const blueprint = await fixture.install(asking)
    await fixture.install(mailing)
    const { replies } = await fixture.send(blueprint, { query: { to: 'eve' } })
    expect(await names()).toEqual(['before'])
    const worked = await fixture.work()
    expect(worked).toMatchObject([
      { error: undefined, job: { queue: 'default', kind: 'function', title: 'mail' } },
    ])
    expect(await fixture.documents('docs')).toMatchObject([
      { name: 'before' },
      { name: 'eve', job: replies[0]?.value },
    ])
    expect(await fixture.work()).toEqual([])
  })

  test('is put there once for one dedupe key, until it ran', async () => {
    const blueprint = await fixture.install(asking)
    await fixture.install(mailing)
    const first = await fixture.send(blueprint, { query: { to: 'eve' } })
    const second = await fixture.send(blueprint, { query: { to: 'eve' } })
    const other = await fixture.send(blueprint, { query: { to: 'bob' } })
    expect(first.replies[0]?.value).toMatch(/^[0-9a-f-]{36}$/)
    expect(second.replies).toMatchObject([{ value: null }])
    expect(other.replies[0]?.value).toMatch(/^[0-9a-f-]{36}$/)
    expect(await fixture.work()).toHaveLength(2)
    await fixture.send(blueprint, { query: { to: 'eve' } })
    expect(await fixture.work()).toHaveLength(1)
  })

  test('waits for its delay', async () => {
    const later = {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@get.flow', function: 'mail', delay: '5m' },
    }
    const get = { type: 'on_startup_register_uri_get', in: { uri: 'ask' } }
    const blueprint = await fixture.install({ get, later })
    await fixture.install(mailing)
    await fixture.send(blueprint)
    fixture.clock.now += 299_000
    expect(await fixture.work()).toEqual([])
    fixture.clock.now += 1_000
    expect(await fixture.work()).toHaveLength(1)
  })

  test('writes on behalf of the user whose run enqueued it, under its own run', async () => {
    const blueprint = await fixture.install(asking)
    await fixture.install(mailing)
    const origins: unknown[] = []
    fixture.database.observe('docs', (session) => void origins.push(session.origin))
    const { end } = await fixture.send(blueprint, { query: { to: 'a' }, user: adaUser })
    await fixture.work()
    expect(origins).toMatchObject([
      { user: ada, run: end.run, depth: 0 },
      { user: ada, run: expect.not.stringContaining(end.run), depth: 0 },
    ])
  })

  test('prefers the function of the blueprint that asked, and runs as the blueprint that has it', async () => {
    const blueprint = await fixture.install(mailing)
    const job = { guid: 'j', kind: 'function', runAt: 0, attempts: 3 } as const
    const payload = { blueprint: 'gone', function: 'mail', parameters: { to: 5 }, depth: 0 }
    await fixture.runJob({ ...job, payload }, never)
    expect(await fixture.documents('docs')).toMatchObject([{ name: '5', job: 'j' }])
    await fixture.flows.deployments.deactivate(blueprint, ada)
    await expect(fixture.runJob({ ...job, payload }, never)).rejects.toThrow(
      'no custom function named "mail"',
    )
  })

  test('that fails throws the true reason, and undoes what it wrote', async () => {
    await fixture.install({
      f: { type: 'trigger_custom_function', fields: { name: 'f' } },
      ...docs,
      ...creates('one', 'one', '@f.flow'),
      two: { type: 'function_custom_execute', in: { flow: '@one.flow', function: 'missing' } },
    })
    const payload = { blueprint: '', function: 'f', parameters: {}, depth: 0 }
    await expect(
      fixture.runJob({ guid: 'j', kind: 'function', runAt: 0, attempts: 3, payload }, never),
    ).rejects.toThrow(
      /^There is no custom function named "missing" in an active blueprint\. \(run [0-9a-f-]{36}\)$/,
    )
    expect(await names()).toEqual([])
    expect(await fixture.logged()).toEqual([
      // The deploy's.
      expect.stringContaining('There is no custom function missing here'),
      'There is no custom function named "missing" in an active blueprint.',
    ])
  })
})

describe('a job is stopped', () => {
  /** Calls itself until something ends it. */
  const endless: FlowBlocks = {
    f: { type: 'trigger_custom_function', fields: { name: 'f' } },
    ...docs,
    ...creates('one', 'one', '@f.flow'),
    again: {
      type: 'function_update_document_mutations',
      in: {
        flow: ['@one.flow', '@again.flow'],
        storage: '@docs.storage',
        document: '@one.document',
        mutations: '@count.mutations',
      },
    },
    count: { type: 'mutations_increment_by_field', in: { field: 'n' } },
  }
  const job = { guid: 'j', kind: 'function', runAt: 0, attempts: 3 } as const
  const payload = { blueprint: '', function: 'f', parameters: {}, depth: 0 }

  test('before it begins', async () => {
    await fixture.install(endless)
    const reason = new Error('stopping')
    await expect(fixture.runJob({ ...job, payload }, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(await names()).toEqual([])
  })

  test('while it runs: what it wrote is undone', async () => {
    await fixture.install(endless)
    const stop = new AbortController()
    let writes = 0
    fixture.database.observe('docs', () => {
      writes += 1
      if (writes === 100) stop.abort(new Error('stopping'))
    })
    await expect(fixture.runJob({ ...job, payload }, stop.signal)).rejects.toThrow('stopped from outside')
    expect(writes).toBe(100)
    expect(await names()).toEqual([])
  })

  test('while it waits for something that does not listen', async () => {
    await fixture.database.ensure('docs')
    const held = await transact(fixture.database, async (session) =>
      guidOf(documentOf(await session.create('docs', setFields({ name: 'before' })))),
    )
    await fixture.install({
      f: { type: 'trigger_custom_function', fields: { name: 'f' } },
      ...docs,
      read: { type: 'function_get_document', in: { flow: '@f.flow', storage: '@docs.storage', guid: held } },
      m_name: { type: 'mutations_set_custom_field', in: { field: 'name', value: 'after' } },
      write: {
        type: 'function_update_document_mutations',
        in: {
          flow: '@read.flow',
          storage: '@docs.storage',
          document: '@read.document',
          mutations: '@m_name.mutations',
        },
      },
    })
    const holder = fixture.database.session()
    await holder.update('docs', held, setFields({ name: 'held' }))
    const stop = new AbortController()
    const running = fixture.runJob({ ...job, payload }, stop.signal)
    await new Promise((resolve) => setImmediate(resolve))
    stop.abort(new Error('stopping'))
    await expect(running).rejects.toThrow('stopped from outside')
    await holder.transaction.rollback()
    expect(await names()).toEqual(['before'])
  })
})

describe('a tick', () => {
  const scheduled: FlowBlocks = {
    plan: { type: 'schedule_repeating_event', in: { every: '5m', catch_up: 'last' } },
    docs: { type: 'storage', fields: { storage: 'docs' } },
    m_at: { type: 'mutations_set_custom_field', in: { field: 'at', value: '@plan.planned_at' } },
    m_tick: {
      type: 'mutations_set_custom_field',
      in: { mutations: '@m_at.mutations', field: 'tick', value: '@plan.tick' },
    },
    made: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@plan.flow', storage: '@docs.storage', mutations: '@m_tick.mutations' },
    },
  }
  const planned = Date.UTC(2026, 0, 1, 9)
  const tick = (blueprint: string, block: string) =>
    transact(fixture.database, (session) =>
      session.enqueue({
        queue: '_schedules',
        kind: 'tick',
        title: 'tick',
        payload: { blueprint, block, planned_at: planned },
      }),
    )
  const triggerOf = (blueprint: string) =>
    fixture.flows.live.table().blueprints.get(blueprint)?.compiled.schedules[0]?.block ?? ''

  test('of a blueprint that is no longer active is done, and the log says so', async () => {
    const blueprint = await fixture.install(scheduled)
    const guid = await tick(blueprint, triggerOf(blueprint))
    await fixture.flows.deployments.deactivate(blueprint, ada)
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await fixture.documents('docs')).toEqual([])
    expect(await fixture.logged()).toEqual([`The tick ${guid} was dropped: its trigger is no longer active.`])
  })

  test('starts its trigger with the time it was planned for', async () => {
    const blueprint = await fixture.install(scheduled)
    const guid = await tick(blueprint, triggerOf(blueprint))
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await fixture.documents('docs')).toMatchObject([{ at: '2026-01-01T09:00:00.000Z', tick: guid }])
  })
})

describe('on a node that does not serve the blueprint as it is deployed', () => {
  const unknownBlock = {
    ...{ guid: 'a', type: 'nope', title: '', description: '', position: { x: 0, y: 0 } },
    ...{ in_pins: [], custom_out_pins: [], fields: {}, scopes: [] },
  }
  const listening: FlowBlocks = {
    ...docs,
    added: { type: 'storage_event', in: { storage: '@orders.storage', events: ['on_created'] } },
    orders: { type: 'storage', fields: { storage: 'orders' } },
    ...creates('seen', 'seen', '@added.flow'),
  }
  const order = () => transact(fixture.database, async (session) => session.create('orders', []))
  const serve = (guid: string, blueprint?: LiveBlueprint) => fixture.flows.live.set(guid, blueprint)
  const served = (guid: string) => fixture.flows.live.table().blueprints.get(guid)
  const isPostponed = async (guid: string) => {
    expect(await fixture.work()).toMatchObject([
      { error: expect.stringMatching(/ waits: its blueprint is active/) },
    ])
    expect(await waiting()).toMatchObject([{ state: 'waiting', attempt: 0, lastError: null }])
    const dropped = (await fixture.logged()).filter((message) => message.includes('dropped'))
    expect([await names(), dropped, served(guid)]).toEqual([[], [], undefined])
    fixture.clock.now += 1_000
  }

  test('an event is dropped only when the blueprint is switched off', async () => {
    const guid = await fixture.install(listening)
    await order()
    serve(guid)
    await isPostponed(guid)
    await fixture.flows.deployments.deactivate(guid, ada)
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await names()).toEqual([])
    expect(await fixture.logged()).toEqual([expect.stringMatching(/^The event .* was dropped/)])
  })

  const enqueue = (kind: 'tick' | 'failure', payload: JsonObject) =>
    transact(fixture.database, (session) => session.enqueue({ queue: 'q', kind, title: kind, payload }))
  const ask = async (guid: string) => {
    await fixture.send(guid, { query: { to: 'seen' } })
    for (const document of await fixture.documents('docs'))
      await transact(fixture.database, (session) => session.delete('docs', guidOf(document)))
  }

  test.each<[string, FlowBlocks, (guid: string) => Promise<unknown>]>([
    ['an event', listening, order],
    ['a function', { ...asking, ...mailing }, ask],
    ['a function of another blueprint', mailing, async () => ask(await fixture.install(asking))],
    [
      'a tick',
      {
        ...docs,
        plan: { type: 'schedule_repeating_event', in: { every: '5m' } },
        ...creates('seen', 'seen', '@plan.flow'),
      },
      (guid) => enqueue('tick', { blueprint: guid, block: served(guid)?.compiled.schedules[0]?.block ?? '' }),
    ],
    [
      'a failure',
      {
        ...docs,
        failed: { type: 'failure_event', fields: { watch: 'blueprint' } },
        ...creates('seen', 'seen', '@failed.flow'),
      },
      (guid) =>
        enqueue('failure', {
          blueprint: guid,
          block: served(guid)?.compiled.failureEvents[0]?.block ?? '',
          failure: { event: 'on_run_failed' },
        }),
    ],
    [
      'a run that waits',
      {
        ...docs,
        get: { type: 'on_startup_register_uri_get', in: { uri: 'ask' } },
        wait: {
          type: 'wait_for_approval',
          in: { flow: '@get.flow', title: 'Order', scopes: ['a'], for: '1h' },
        },
        ...creates('seen', 'seen', '@wait.timeout'),
      },
      async (guid) => {
        await fixture.send(guid)
        fixture.clock.now += 3_600_000
      },
    ],
  ])('%s waits until the node has come to the deploy', async (_name, blocks, cause) => {
    const guid = await fixture.install(blocks)
    await cause(guid)
    const deployed = served(guid)
    serve(guid)
    await isPostponed(guid)
    serve(guid, deployed)
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await names()).toEqual(['seen'])
  })

  test('a function that no deployed blueprint has waits for none of them', async () => {
    const asker = await fixture.install(asking)
    const other = await fixture.install({
      ...docs,
      f: { type: 'trigger_custom_function', fields: { name: 'post' } },
    })
    await ask(asker)
    serve(other)
    expect(await fixture.work()).toMatchObject([
      { error: expect.stringMatching(/^There is no custom function/) },
    ])
    expect(await waiting()).toMatchObject([{ state: 'dead' }])
  })

  test('an event of a deployed version waits while the node serves the one before', async () => {
    const guid = await fixture.install({ ...asking, ...listening })
    const before = served(guid)
    await redeploy(fixture, guid, 'storage_event', (block) => ({ ...block, title: 'Another' }))
    const deployed = served(guid)
    await order()
    if (!before) throw new Error('Nothing is served.')
    const { compiled } = before
    serve(guid, { ...before, compiled: { ...compiled, storageEvents: [] } })
    expect(await fixture.work()).toMatchObject([
      { error: expect.stringMatching(/ waits: its blueprint is active/) },
    ])
    fixture.clock.now += 1_000
    serve(guid, deployed)
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await names()).toEqual(['seen'])
  })

  test('an event waits while what is deployed does not compile, until a deploy repairs it', async () => {
    const guid = await fixture.install(listening)
    await order()
    await transact(fixture.database, async (session) => {
      const record = await session.get(systemStorages.blueprints, guid)
      const deployment = textIn(record && documentOf(record).deployment_guid)
      await session.update(systemStorages.deployments, deployment, setFields({ blocks: [unknownBlock] }))
    })
    serve(guid)
    await fixture.flows.deployments.restore()
    expect(served(guid)).toBeUndefined()
    expect(await fixture.logged()).toEqual([expect.stringMatching(/could not be started/)])
    expect(await fixture.work()).toMatchObject([
      { error: expect.stringMatching(/ waits: its blueprint is active/) },
    ])
    await redeploy(fixture, guid, 'storage_event', (block) => ({ ...block, title: 'Repaired' }))
    fixture.clock.now += 1_000
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await names()).toEqual(['seen'])
  })
})

test('a flow knows the user of its request', async () => {
  const blueprint = await fixture.install({
    get: { type: 'on_startup_register_uri_get', in: { uri: 'me' } },
    me: { type: 'user_current' },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: '@me.user' } },
  })
  expect((await fixture.send(blueprint, { user: adaUser })).replies).toMatchObject([{ value: adaUser }])
  expect((await fixture.send(blueprint)).replies).toMatchObject([{ value: null }])
})

test('a flow knows the user who caused its job', async () => {
  const blueprint = await fixture.install({
    get: { type: 'on_startup_register_uri_get', in: { uri: 'later' } },
    later: { type: 'function_custom_execute_from_queue', in: { flow: '@get.flow', function: 'who' } },
    who: { type: 'trigger_custom_function', fields: { name: 'who' } },
    me: { type: 'user_current' },
    m_me: { type: 'mutations_set_custom_field', in: { field: 'user', value: '@me.user' } },
    m_in: {
      type: 'mutations_set_custom_field',
      in: { mutations: '@m_me.mutations', field: 'signed_in', value: '@me.signed_in' },
    },
    ...docs,
    made: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@who.flow', storage: '@docs.storage', mutations: '@m_in.mutations' },
    },
  })
  await fixture.send(blueprint, { user: adaUser })
  await fixture.send(blueprint)
  expect(await fixture.work()).toMatchObject([{ error: undefined }, { error: undefined }])
  const [first, second] = await fixture.documents('docs')
  expect(first).toMatchObject({ user: adaUser, signed_in: true })
  expect(second).toMatchObject({ signed_in: false })
  expect(second).not.toHaveProperty('user')
})
