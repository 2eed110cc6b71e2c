import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ada, adaUser, type JobFixture, openJobFixture, redeploy } from '../../../test/job-fixture.ts'
import { startLocalServer } from '../../../test/local-server.ts'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import { openAuditLog } from '../../records/audit-log.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { queueSteering } from './queue-steering.ts'

let fixture: JobFixture
beforeEach(async () => {
  fixture = await openJobFixture()
})
afterEach(() => fixture.close())

const docs = () => fixture.documents('docs')
const names = async () => (await docs()).map(({ name }) => name)
const waits = () => fixture.documents(systemStorages.waits)
const by = { ...ada, mayTakeAccountPages: true, lacks: () => false }

const get = { type: 'on_startup_register_uri_get', in: { uri: 'ask' }, scopes: ['*public'] }
const creates = (flow: unknown, set: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'docs', set },
})
const wait = (flow: unknown, fields: JsonObject = {}) => ({ type: 'wait', in: { flow, for: '60' }, fields })
const minutes = (count: number) => {
  fixture.clock.now += count * 60_000
}

/** Writes, waits for a minute, and writes. */
function waiting(after: string, more: FlowBlocks = {}): FlowBlocks {
  return {
    get,
    before: creates('@get.flow', '={ name: "before", code: uuid() }'),
    pause: wait('@before.flow'),
    after: creates('@pause.flow', after),
    ...more,
  }
}

describe('a deploy refuses', () => {
  test.each<[string, FlowBlocks, string]>([
    [
      'a wait in a loop',
      {
        get,
        list: { type: 'each', in: { flow: '@get.flow', list: '=[1, 2]' } },
        pause: wait('@list.each'),
      },
      'A loop cannot wait',
    ],
    [
      'a join of a branch that waits with one that does not',
      {
        get,
        pause: wait('@get.flow'),
        here: creates('@pause.now', '={ name: "here" }'),
        join: { type: 'join', in: { flow: '@pause.flow', a: '@here.flow' } },
      },
      'One branch of the join waits',
    ],
  ])('%s', async (_what, blocks, message) => {
    const problem = { message: expect.stringContaining(message) }
    await expect(fixture.install(blocks)).rejects.toMatchObject({ problems: [problem] })
  })

  test('and takes a join of two branches that both wait', async () => {
    await fixture.send(
      await fixture.install({
        get,
        pause: wait('@get.flow'),
        a: creates('@pause.flow', '={ name: "a" }'),
        b: creates('@pause.flow', '={ name: "b" }'),
        join: { type: 'join', in: { flow: '@a.flow', a: '@b.flow' } },
        after: creates('@join.flow', '={ name: "after" }'),
      }),
    )
    minutes(1)
    await fixture.work()
    expect((await names()).sort()).toEqual(['a', 'after', 'b'])
  })
})

describe('a run does not wait', () => {
  test.each<[string, FlowBlocks]>([
    [
      'when it fails behind the block',
      waiting('={ name: "after" }', { fail: { type: 'fail', in: { flow: '@pause.now', status: 409 } } }),
    ],
    [
      'in a function that was called',
      {
        get,
        before: creates('@get.flow', '={ name: "before" }'),
        call: { type: 'function_custom_execute', in: { flow: '@before.flow', function: 'later' } },
        later: { type: 'trigger_custom_function', fields: { name: 'later' } },
        pause: wait('@later.flow'),
      },
    ],
    [
      'when what it is to remember is too large',
      waiting('={ name: text.value }', {
        text: { type: 'set_value', in: { flow: '@pause.now', name: 'x', value: '1' } },
      }),
    ],
  ])('%s: nothing is stored', async (what, blocks) => {
    const large = what.startsWith('when what')
    const blueprint = await fixture.install(
      large ? { get, pause: wait('@get.flow'), after: creates('@pause.flow', '={ name: body }') } : blocks,
    )
    const { end } = await fixture.send(blueprint, large ? { body: 'x'.repeat(600_000) } : {})
    expect(end.error).toBeDefined()
    minutes(1)
    expect(await fixture.work()).toEqual([])
    expect([await waits(), await names()]).toEqual([[], []])
  })
})

describe('a run that waits', () => {
  test('goes on after its time, in a run of its own, once', async () => {
    const blueprint = await fixture.install(waiting('={ name: "after", wait: pause.wait }'))
    const { end } = await fixture.send(blueprint)
    expect(end.error).toBeUndefined()
    const [stored] = await waits()
    expect(stored).toMatchObject({
      state: 'waiting',
      kind: 'time',
      blueprint,
      title: 'Until 2026-01-01T00:01:00.000Z',
    })
    expect([await fixture.work(), await names()]).toEqual([[], ['before']])
    minutes(1)
    expect(await fixture.work()).toMatchObject([{ error: undefined, job: { kind: 'wait', queue: '_waits' } }])
    expect((await docs())[1]).toMatchObject({ name: 'after', wait: guidOf(stored ?? {}) })
    expect([await waits(), await fixture.work()]).toEqual([[], []])
  })

  const knowing = (fields: string) => waiting(`={ name: "after", ${fields} }`)
  test.each<[string, FlowBlocks, JsonObject]>([
    ['a document', knowing('is: before.document.name'), { is: 'before' }],
    ['a parameter', knowing('is: params.to, all: query.to'), { is: 'eve', all: 'eve' }],
    ['a body', knowing('is: body.n'), { is: 5 }],
    ['no header', knowing('is: headers.authorization ?? "none"'), { is: 'none' }],
    ['the user', knowing('is: user.username'), { is: 'ada' }],
    [
      'a date',
      waiting('={ name: "after", is: get.day }', {
        get: { ...get, fields: { schema: [{ name: 'day', type: 'date' }] } },
      }),
      { is: '2026-02-03T00:00:00.000Z' },
    ],
    [
      'a variable',
      waiting('={ name: "after", is: read.value }', {
        set: { type: 'set_value', in: { flow: '@get.flow', value: '={ n: 1 }' }, fields: { name: 'x' } },
        before: creates('@set.flow', '={ name: "before" }'),
        read: { type: 'value', fields: { name: 'x' } },
      }),
      { is: { n: 1 } },
    ],
    [
      'what a value block gave',
      waiting('={ name: "after", is: to.value }', {
        to: { type: 'httpconnection_get_params', in: { connection: '@get.connection', field: 'to' } },
        before: creates('@get.flow', '={ name: "before", to: to.value }'),
      }),
      { is: 'eve' },
    ],
    [
      'documents',
      waiting('={ name: "after", is: all.documents.map(d => d.name) }', {
        all: { type: 'function_search', in: { flow: '@before.flow', storage: 'docs' } },
        pause: wait('@all.flow'),
      }),
      { is: ['before'] },
    ],
  ])('still knows %s', async (_what, blocks, fields) => {
    const blueprint = await fixture.install(blocks)
    const { end } = await fixture.send(blueprint, {
      query: { to: 'eve', day: '2026-02-03' },
      body: { n: 5 },
      headers: { authorization: 'Bearer secret' },
      user: adaUser,
    })
    expect(end.error).toBeUndefined()
    expect(JSON.stringify(await waits())).not.toContain('Bearer')
    minutes(1)
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect((await docs()).find(({ name }) => name === 'after')).toMatchObject(fields)
  })

  test('waits again, and each wait goes on once', async () => {
    await fixture.send(
      await fixture.install(
        waiting('={ name: "first" }', {
          again: wait('@after.flow'),
          last: creates('@again.flow', '={ name: "last", code: before.document.code }'),
        }),
      ),
    )
    minutes(1)
    await fixture.work()
    const [stored] = await waits()
    expect([await names(), stored?.state]).toEqual([['before', 'first'], 'waiting'])
    minutes(1)
    await fixture.work()
    const all = await docs()
    expect(all.map(({ name }) => name)).toEqual(['before', 'first', 'last'])
    expect(all[2]?.code).toBe(all[0]?.code)
    expect(await waits()).toEqual([])
  })

  test('tries again what fails, and undoes what the try wrote', async () => {
    const blueprint = await fixture.install(
      waiting('={ name: "after" }', { bad: creates('@after.flow', '={ name: "last" + env.MARK }') }),
    )
    await fixture.send(blueprint)
    minutes(1)
    const [failed] = await fixture.work()
    expect(failed?.error).toBeDefined()
    expect([await names(), (await waits()).map(({ state }) => state)]).toEqual([['before'], ['resumed']])
    await fixture.flows.environmentValues.create({ name: 'MARK', value: '!' }, ada)
    await fixture.database.capabilities.jobs.requeue(failed?.job.guid ?? '')
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await names()).toEqual(['before', 'after', 'last!'])
  })

  test('never goes on when its job was cancelled', async () => {
    await fixture.send(await fixture.install(waiting('={ name: "after" }')))
    const steering = queueSteering(fixture.database, await openAuditLog(fixture.database, {}))
    const { records } = await fixture.database.capabilities.jobs.search(search({ limit: 10 }))
    await steering.cancel(records[0]?.guid ?? '', ada)
    expect(await waits()).toEqual([])
    minutes(1)
    expect([await fixture.work(), await names()]).toEqual([[], ['before']])
  })

  test('goes on where the timer of a wait that was decided is cancelled late', async () => {
    await fixture.send(await fixture.install(waiting('={ name: "after" }')))
    const [wait] = await waits()
    await transact(fixture.database, (session) =>
      session.update(systemStorages.waits, guidOf(wait ?? {}), setFields({ state: 'resumed', job: 'other' })),
    )
    const steering = queueSteering(fixture.database, await openAuditLog(fixture.database, {}))
    await steering.cancel(String(wait?.timer), ada)
    expect((await waits()).map(({ state, job }) => [state, job])).toEqual([['resumed', 'other']])
  })

  test('goes on once where two workers have its job', async () => {
    await fixture.send(await fixture.install(waiting('={ name: "after" }')))
    minutes(1)
    const claim = { owner: 'one', leaseMs: 1, limit: 1 }
    const [job] = await fixture.database.capabilities.jobs.claim(claim)
    if (!job) throw new Error('There is no job.')
    const { signal } = new AbortController()
    const ends = await Promise.allSettled([fixture.runJob(job, signal), fixture.runJob(job, signal)])
    expect(await names()).toEqual(['before', 'after'])
    expect(ends.some(({ status }) => status === 'fulfilled')).toBe(true)
  })

  test('begins again at the block that touches the world outside, not before it', async () => {
    let answers = [500, 200]
    const asked: (string | undefined)[] = []
    const server = await startLocalServer((request, response) => {
      asked.push(request.url)
      response.writeHead(answers[0] ?? 200).end('{}')
      answers = answers.slice(1)
    })
    const call = {
      type: 'http_request',
      in: { flow: '@after.flow', url: `="${server.url}/" + after.document.name` },
      fields: { must_succeed: true },
    }
    const last = creates('@call.flow', '={ name: "last", code: before.document.code }')
    await fixture.send(await fixture.install(waiting('={ name: "after" }', { call, last })))
    minutes(1)
    const [failed] = await fixture.work()
    expect(failed?.error).toContain('500')
    expect(await names()).toEqual(['before', 'after'])
    await fixture.database.capabilities.jobs.requeue(failed?.job.guid ?? '')
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    await server.close()
    expect([await names(), asked]).toEqual([
      ['before', 'after', 'last'],
      ['/after', '/after'],
    ])
    expect(await waits()).toEqual([])
  })
})

describe('a deploy while a run waits', () => {
  const blocks = (version: string) =>
    waiting('={ name: "after" }', { pause: wait('@before.flow', { version }) })
  const renamed = (content: JsonObject): JsonObject => ({
    ...content,
    in_pins: JSON.parse(JSON.stringify(content.in_pins).replace('after', 'new')),
  })

  test.each([
    ['same', 'after'],
    ['current', 'new'],
  ])('%s: the run goes on as %s', async (version, name) => {
    const blueprint = await fixture.install(blocks(version))
    await fixture.send(blueprint)
    await redeploy(fixture, blueprint, 'name: \\"after', renamed)
    minutes(1)
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await names()).toEqual(['before', name])
  })

  test('off: the job fails until the blueprint is active again', async () => {
    const blueprint = await fixture.install(blocks('same'))
    await fixture.send(blueprint)
    await fixture.flows.deployments.deactivate(blueprint, ada)
    minutes(1)
    const [failed] = await fixture.work()
    expect(failed?.error).toBe(
      'The blueprint of the run that waits is not active. Activate it, and continue the run again.',
    )
    await fixture.flows.deployments.activate(blueprint, by)
    await fixture.database.capabilities.jobs.requeue(failed?.job.guid ?? '')
    expect(await fixture.work()).toMatchObject([{ error: undefined }])
    expect(await names()).toEqual(['before', 'after'])
  })
})
