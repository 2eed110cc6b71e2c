/** Triggers that a person runs by hand: for real, and without effects. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Answer, objectOf, objectsOf } from './harness.ts'
import { openTracingFixture, storyOf, type TracedBlueprint, type TracingFixture } from './tracing-fixture.ts'

let fixture: TracingFixture
let hand: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture()
  const keep = (flow: string, set: string) => ({
    type: 'function_create_document_from_mutations',
    in: { flow, storage: 'kept', set },
  })
  hand = await fixture.install('By hand', {
    add: {
      type: 'trigger_custom_function',
      out: [
        { id: 'a', type: 'number' },
        { id: 'b', type: 'number' },
      ],
      fields: { name: 'add' },
    },
    keep_sum: keep('@add.flow', '={ sum: params.a + params.b, by: user.username }'),
    sum: { type: 'function_return', in: { flow: '@keep_sum.flow', value: '=params.a + params.b' } },
    daily: { type: 'schedule_repeating_event', in: { cron: '0 2 * * *' } },
    keep_tick: keep('@daily.flow', '={ planned: daily.planned_at, by: user.username }'),
    hourly: { type: 'schedule_repeating_event', in: { cron: '0 * * * *' } },
    ask_hourly: { type: 'http_request', in: { flow: '@hourly.flow', url: `${fixture.outside.url}/held` } },
    any: { type: 'schedule_repeating_event', in: { cron: '0 3 * * *', overlap: 'allow' } },
    ask_any: { type: 'http_request', in: { flow: '@any.flow', url: `${fixture.outside.url}/held` } },
    changed: { type: 'storage_event', in: { storage: 'orders', events: ['on_updated', 'on_deleted'] } },
    keep_change: keep('@changed.flow', '={ of: changed.document._meta.guid, keys: changed.fields_modified }'),
    broken: { type: 'failure_event', in: { events: ['on_run_failed'] } },
    keep_failure: keep('@broken.flow', '={ code: broken.code, message: broken.message }'),
    get: { type: 'on_startup_register_uri_get', in: { uri: 'greeting/{name}' }, scopes: ['*loggedin'] },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@get.flow', value: '={ hello: params.name, loud: query.loud, to: user.username }' },
    },
    page: { type: 'state_page', in: { url: 'shown/{name}', title: 'Shown' } },
    h1: { type: 'state_h1', in: { text: '="Page of " + params.name' } },
    shown: { type: 'state_render_page', in: { flow: '@page.flow', state: '@h1.state' } },
    outside: { type: 'trigger_custom_function', fields: { name: 'outside' } },
    ask: { type: 'http_request', in: { flow: '@outside.flow', url: `${fixture.outside.url}/stock` } },
    asked: { type: 'function_return', in: { flow: '@ask.flow', value: '=ask.body' } },
    calling: { type: 'trigger_custom_function', fields: { name: 'calling' } },
    call: { type: 'function_custom_execute', in: { flow: '@calling.flow', function: 'outside' } },
  })
  await fixture.quoin.addUser('builder', [
    'blueprints_view',
    'blueprintactions_view',
    'runs_view',
    'blueprints_update',
  ])
})
afterAll(() => fixture.close())

function send(body: JsonObject): Promise<Answer> {
  return fixture.quoin.send('POST', `/blueprints/${hand.guid}/run`, { as: 'builder', body })
}

async function run(body: JsonObject): Promise<JsonObject> {
  const answer = await send(body)
  expect([answer.status, answer.body]).toEqual([200, expect.anything()])
  return objectOf(answer.body)
}

const kept = async (): Promise<JsonValue[]> =>
  (await fixture.quoin.documents('kept')).map(({ _meta, ...fields }) => fields)

const inputs = (ended: JsonObject) => objectOf(objectsOf(ended.steps)[0]?.out)

test('a schedule whose runs may not overlap is refused while it runs by hand', async () => {
  const real = (trigger: string) => send({ trigger, effects: 'real' })
  const waiting = (count: number) => expect.poll(() => fixture.held.length, { timeout: 20_000 }).toBe(count)
  const answerAll = () => {
    for (const response of fixture.held.splice(0)) response.end('{}')
  }
  const first = real('hourly')
  await waiting(1)
  const second = await real('hourly')
  expect([second.status, second.text]).toEqual([409, expect.stringContaining('running already')])
  expect(await run({ trigger: 'daily', effects: 'real' })).toMatchObject({ status: 'ended' })
  answerAll()
  expect((await first).status).toBe(200)
  const both = [real('any'), real('any')]
  await waiting(2)
  answerAll()
  expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200])
  const again = real('hourly')
  await waiting(1)
  answerAll()
  expect((await again).status).toBe(200)
})

/** Without effects first, so that what it left behind would be found. */
const cases: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ['a function', { trigger: 'add', input: { a: 1, b: 2 } }, { sum: 3, by: 'builder' }],
  [
    'a schedule',
    { trigger: 'daily', input: { planned_at: '2030-01-02T03:04:05Z' } },
    { planned: '2030-01-02T03:04:05.000Z', by: null },
  ],
  [
    'a storage event',
    {
      trigger: 'changed',
      input: {
        event: 'on_updated',
        document: { _meta: { guid: 'one' }, state: 'paid', total: 1 },
        previous: { _meta: { guid: 'one' }, state: 'new', total: 1 },
      },
    },
    { of: 'one', keys: ['state'] },
  ],
  [
    'a failure event',
    { trigger: 'broken', input: { code: 'CONFLICT', message: 'tried' } },
    { code: 'CONFLICT', message: 'tried' },
  ],
]

describe.each(cases)('%s', (_what, body, written) => {
  test('without effects leaves nothing behind', async () => {
    const before = await kept()
    const ended = await run(body)
    expect(ended).toMatchObject({ status: 'ended', error: null, recorded_as: 'tried', deployment: 1 })
    expect(objectsOf(ended.steps).at(1)?.out).toMatchObject({ document: written })
    expect(await kept()).toEqual(before)
  })

  test('for real writes once, and the audit log says who', async () => {
    const before = await kept()
    const ended = await run({ ...body, effects: 'real' })
    expect(ended).toMatchObject({ status: 'ended', error: null, recorded_as: 'by_hand', replay_of: null })
    expect(await kept()).toEqual([...before, written])
    const [audited] = objectsOf(
      await fixture.quoin.manage('POST', '/_system/auditlogs', {
        filters: { action: 'run' },
        sort: [{ '_meta.cms': 'desc' }],
        limit: 1,
      }),
    )
    expect(audited).toMatchObject({
      guid: hand.guid,
      name: 'By hand',
      user: { username: 'builder' },
      after: { trigger: ended.label },
    })
  })
})

test('the result of a function and its values are in the reply', async () => {
  const ended = await run({ trigger: 'add', input: { a: '20', b: 22 } })
  expect(ended).toMatchObject({ trigger_type: 'function', label: 'add', result: 42 })
  expect(inputs(ended)).toMatchObject({ a: 20, b: 22 })
})

test('a recorded run gives the input', async () => {
  const first = await run({ trigger: 'add', input: { a: 5, b: 6 } })
  const again = await run({ trigger: 'add', from_run: first.guid ?? null })
  expect(again).toMatchObject({ result: 11, recorded_as: 'tried' })
})

describe('endpoints and pages', () => {
  test('an endpoint runs as its caller, without effects', async () => {
    const input = { params: { name: 'Ada' }, query: { loud: 1 } }
    const ended = await run({ trigger: 'GET greeting/{name}', input })
    expect(ended.reply).toMatchObject({ status: 200, body: { hello: 'Ada', loud: '1', to: 'builder' } })
    expect(ended.request).toMatchObject({ path: '/api/v1/greeting/Ada', params: { name: 'Ada' } })
    const unsigned = await run({ trigger: 'get', input, anonymous: true })
    expect(objectOf(unsigned.reply).body).toMatchObject({ hello: 'Ada', to: null })
  })

  test('a page is looked at', async () => {
    const ended = await run({ trigger: 'page', input: { params: { name: 'Ada' } } })
    expect(ended).toMatchObject({ trigger_type: 'page', status: 'ended' })
    expect(JSON.stringify(objectOf(ended.reply).body)).toContain('Page of Ada')
  })

  test.each(['get', 'page'])('%s is refused for real: its address has access and limits', async (trigger) => {
    const answer = await send({ trigger, effects: 'real' })
    expect([answer.status, objectOf(answer.body).error]).toEqual([409, 'CONFLICT'])
  })
})

describe('blocks that ask outside', () => {
  test('fail without effects, ask for real, and give what a recorded run has', async () => {
    const asked = fixture.asked()
    const tried = await run({ trigger: 'outside' })
    expect(tried).toMatchObject({ status: 'failed', error: { block: hand.block('ask') } })
    expect(storyOf(tried, hand).at(-1)).toContain('no external requests are sent')
    const calling = await run({ trigger: 'calling' })
    expect(calling).toMatchObject({ status: 'failed', error: { block: hand.block('ask') } })
    expect(fixture.asked()).toBe(asked)
    const real = await run({ trigger: 'outside', effects: 'real' })
    expect(real.result).toMatchObject({ asked: asked + 1 })
    const again = await run({ trigger: 'outside', from_run: real.guid ?? null })
    expect(again.result).toMatchObject({ asked: asked + 1 })
    expect(fixture.asked()).toBe(asked + 1)
  })
})

test('staged blocks run without effects, and not for real', async () => {
  const path = `/blueprintactions/${hand.block('sum')}`
  const stored = objectOf(await fixture.quoin.manage('GET', path))
  const pins = objectsOf(stored.in_pins).map((pin) =>
    pin.id === 'value' ? { ...pin, expression: 'params.a * 100' } : pin,
  )
  await fixture.quoin.manage('PUT', path, { in_pins: pins })
  const body = { trigger: 'add', input: { a: 3, b: 4 } }
  expect(await run({ ...body, state: 'staged' })).toMatchObject({ result: 300, deployment: 0 })
  expect(await run(body)).toMatchObject({ result: 7 })
  expect((await send({ ...body, state: 'staged', effects: 'real' })).status).toBe(409)
})

describe('what is refused', () => {
  test.each<[string, number, JsonObject, string]>([
    ['a trigger that is not there', 404, { trigger: 'no' }, 'There is no trigger'],
    ['a block that is no trigger', 404, { trigger: 'sum' }, 'There is no trigger'],
    [
      'an event that is not listened for',
      400,
      { trigger: 'changed', input: { event: 'on_created' } },
      'on_updated',
    ],
    ['an event without a document', 400, { trigger: 'changed' }, 'document must be an object'],
    ['a time that is none', 400, { trigger: 'daily', input: { planned_at: 'soon' } }, 'ISO 8601'],
    ['a field that means nothing', 400, { trigger: 'daily', input: { when: 1 } }, 'planned_at'],
    ['an unknown effect', 400, { trigger: 'daily', effects: 'some' }, 'effects'],
    ['a run that is not there', 404, { trigger: 'add', from_run: 'no' }, 'no'],
  ])('%s', async (_what, status, body, words) => {
    const answer = await send(body)
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringContaining(words)])
  })

  test('a run of another blueprint as the input', async () => {
    const other = await fixture.install('Other', {
      add: { type: 'trigger_custom_function', fields: { name: 'others' } },
      end: { type: 'function_return', in: { flow: '@add.flow', value: 'secret of the others' } },
    })
    const { body } = await fixture.quoin.send('POST', `/blueprints/${other.guid}/run`, {
      as: 'admin',
      body: { trigger: 'others' },
    })
    const answer = await send({ trigger: 'add', from_run: objectOf(body).guid ?? null })
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([
      409,
      expect.stringContaining('another blueprint'),
    ])
  })

  test('a blueprint that is not active runs without effects only', async () => {
    await fixture.quoin.manage('PUT', `/blueprints/update/set/inactive/${hand.guid}`)
    const body = { trigger: 'daily' }
    expect((await send({ ...body, effects: 'real' })).status).toBe(409)
    expect(await run({ ...body, state: 'saved' })).toMatchObject({ status: 'ended' })
  })
})

describe('a try asks for the scopes that a deploy of the blocks asks for', () => {
  let files: TracedBlueprint
  const ofBuilders = [
    ...['blueprints_view', 'blueprintactions_view', 'blueprintactions_update'],
    ...['runs_view', 'blueprints_update'],
  ]
  beforeAll(async () => {
    await fixture.quoin.addUser('reader', ofBuilders)
    await fixture.quoin.addUser('archivist', [...ofBuilders, 'assets_view'])
    const form = new FormData()
    form.append('file', new Blob(['private']), 'payslip.txt')
    const headers = { authorization: `Bearer ${await fixture.quoin.tokenOf('admin')}` }
    const sent = await fetch(`${await fixture.quoin.quoin.server.listen()}/api/v1/_system/assets/stream`, {
      method: 'POST',
      headers,
      body: form,
    })
    expect(sent.ok).toBe(true)
    files = await fixture.install('Files', {
      all: { type: 'trigger_custom_function', fields: { name: 'all_files' } },
      list: { type: 'list_files', in: { flow: '@all.flow' } },
      link: { type: 'link_file', in: { flow: '@list.flow', file: 'payslip.txt', valid_for: '366d' } },
      found: {
        type: 'function_return',
        in: { flow: '@link.flow', value: '={ url: link.url, all: list.files }' },
      },
      page: { type: 'state_page', in: { url: 'files', title: 'Files' } },
      listed: { type: 'list_files', in: { flow: '@page.flow' } },
      h1: { type: 'state_h1', in: { text: '="Of " + listed.files[0].name' } },
      shown: { type: 'state_render_page', in: { flow: '@listed.flow', state: '@h1.state' } },
    })
  })

  const tried = (state: string) => ['run', { trigger: 'all', state }] as const
  const ways: readonly (readonly [string, () => readonly [string, JsonObject]])[] = [
    ['a try of staged blocks', () => tried('staged')],
    ['a try of saved blocks', () => tried('saved')],
    ['a comparison', () => ['compare', { state: 'staged' }]],
    ['a preview of a page', () => ['preview', { page: files.block('page') }]],
  ]
  const asked = (as: string, [path, body]: readonly [string, JsonObject]) =>
    fixture.quoin.send('POST', `/blueprints/${files.guid}/${path}`, { as, body })

  test.each(ways)('%s', async (_, way) => {
    const refused = await asked('reader', way())
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      403,
      expect.stringContaining('assets_view'),
    ])
    expect(JSON.stringify(refused.body)).not.toContain('payslip')
    expect((await asked('archivist', way())).status).toBe(200)
  })

  test('a replay, and deployed blocks once they are not served', async () => {
    const { guid } = objectOf((await asked('reader', tried('deployed'))).body)
    const replay = (as: string, state: string) =>
      fixture.quoin.send('POST', `/runs/${String(guid)}/replay`, { as, body: { state } })
    expect((await replay('reader', 'saved')).status).toBe(403)
    expect((await replay('archivist', 'saved')).status).toBe(200)
    expect((await replay('reader', 'deployed')).status).toBe(200)
    await fixture.quoin.manage('PUT', `/blueprints/update/set/inactive/${files.guid}`)
    expect((await replay('reader', 'deployed')).status).toBe(403)
    expect((await asked('reader', tried('deployed'))).status).toBe(403)
    expect((await asked('archivist', tried('deployed'))).status).toBe(200)
  })
})
