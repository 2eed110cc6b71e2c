/** Runs that are traced: their records, access to them, and no effect on clients. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { objectOf, objectsOf } from './harness.ts'
import {
  openTracingFixture,
  soon,
  storyOf,
  type TracedBlueprint,
  type TracingFixture,
} from './tracing-fixture.ts'

let fixture: TracingFixture
let notes: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture()
  const sees = ['blueprints_view', 'blueprintactions_view', 'runs_view']
  await fixture.quoin.addUser('viewer', sees)
  await fixture.quoin.addUser('builder', [...sees, 'blueprints_update'])
  await fixture.quoin.addUser('stranger', ['blueprints_view', 'blueprintactions_view', 'blueprints_update'])
  await fixture.quoin.addUser('nobody', [])
  notes = await fixture.install('Notes', {
    notes: { type: 'storage', fields: { storage: 'notes' } },
    post: { type: 'on_startup_register_uri_post', in: { uri: 'notes' } },
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@post.body' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: '@notes.storage', mutations: '@set.mutations' },
    },
    created: {
      type: 'httpconnection_set_json',
      in: { flow: '@create.flow', value: '@create.document', code: 201 },
    },

    numbers: { type: 'on_startup_register_uri_post', in: { uri: 'numbered' } },
    list: {
      type: 'object_update_fields',
      in: { object: '@numbers.body' },
      fields: { out_fields: ['items'] },
    },
    line: {
      type: 'object_new_fields',
      in: { item: '@each.item', place: '@each.index' },
      fields: { fields: ['item', 'place'] },
    },
    each: { type: 'array_map', in: { array: '@list.items', result: '@line.object' } },
    numbered: { type: 'httpconnection_set_json', in: { flow: '@numbers.flow', value: '@each.array' } },

    fail: { type: 'on_startup_register_uri_get', in: { uri: 'failing' } },
    wrong: { type: 'value_default', in: { default: 'many' } },
    search: {
      type: 'function_search',
      in: { flow: '@fail.flow', storage: '@notes.storage', limit: '@wrong.value' },
    },
    never: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: 'never' } },

    catch: { type: 'on_startup_register_uri_get', in: { uri: 'catching' } },
    search_too: {
      type: 'function_search',
      in: { flow: '@catch.flow', storage: '@notes.storage', limit: '@wrong.value' },
    },
    caught: { type: 'httpconnection_set_json', in: { flow: '@search_too.error', value: 'caught' } },

    call: { type: 'on_startup_register_uri_get', in: { uri: 'calls/{n}' } },
    n: { type: 'httpconnection_get_params', in: { field: 'n' } },
    twice: {
      type: 'function_custom_execute',
      in: { flow: '@call.flow', function: 'echo', n: '@n.value' },
      fields: { parameters: ['n'] },
    },
    again: {
      type: 'function_custom_execute',
      in: { flow: '@twice.flow', function: 'echo', n: '@twice.value' },
      fields: { parameters: ['n'] },
    },
    said: { type: 'httpconnection_set_json', in: { flow: '@again.flow', value: '@again.value' } },
    echo: {
      type: 'trigger_custom_function',
      out: [{ id: 'n', type: 'value' }],
      fields: { name: 'echo' },
    },
    echoed: { type: 'function_return', in: { flow: '@echo.flow', value: '@echo.n' } },

    on_note: { type: 'storage_event', in: { storage: '@notes.storage', events: ['on_created'] } },
    heard: { type: 'function_console_log', in: { flow: '@on_note.flow', value: 'heard' } },
  })
})
afterAll(() => fixture.close())

const post = (body: JsonValue, headers: Record<string, string> = {}) =>
  fixture.quoin.send('POST', '/notes', { body, headers })

describe('who may', () => {
  test.each([
    ['GET', '/blueprints/{b}/tracing', 'view', 200],
    ['PUT', '/blueprints/{b}/tracing', 'update', 200],
    ['GET', '/runs', 'view', 200],
    ['GET', '/runs/paused', 'view', 200],
    ['GET', '/runs/{r}', 'view', 404],
    ['POST', '/runs/{r}/replay', 'update', 404],
    ['POST', '/runs/{r}/step', 'update', 404],
    ['POST', '/runs/{r}/resume', 'update', 404],
    ['POST', '/runs/{r}/stop', 'update', 404],
  ] as const)('%s %s', async (method, path, verb, status) => {
    const url = path.replace('{b}', notes.guid).replace('{r}', '01890000-0000-7000-8000-000000000000')
    const body = method === 'PUT' ? { on: false } : undefined
    const send = async (as?: string) =>
      (await fixture.quoin.send(method, url, { ...(as !== undefined && { as }), ...(body && { body }) }))
        .status
    expect(await send()).toBe(401)
    expect(await send('nobody')).toBe(403)
    expect(await send('viewer')).toBe(verb === 'view' ? status : 403)
    expect(await send('builder')).toBe(status)
    expect(await send('stranger')).toBe(path.startsWith('/runs') ? 403 : status)
  })
})

describe('turning it on', () => {
  test.each<[string, JsonObject, number]>([
    ['nothing said', {}, 400],
    ['no time', { on: true, minutes: 0 }, 400],
    ['more than a day', { on: true, minutes: 1441 }, 400],
    ['too many kept', { on: true, keep_last: 201 }, 400],
    ['fewer than none recorded', { on: true, record_one_in: -1 }, 400],
    ['what it does not know', { on: true, until: 5 }, 400],
    ['a breakpoint that is no block', { on: true, breakpoints: ['nothing'] }, 422],
  ])('%s is refused', async (_what, body, status) => {
    const path = `/blueprints/${notes.guid}/tracing`
    expect((await fixture.quoin.send('PUT', path, { as: 'builder', body })).status).toBe(status)
    expect(await fixture.quoin.manage('GET', path)).toMatchObject({ on: false, until: null })
  })

  test('a value block or a trigger has no breakpoint, and is named', async () => {
    const [set, create] = [notes.block('set'), notes.block('create')]
    const path = `/blueprints/${notes.guid}/tracing`
    const body = { on: true, breakpoints: [set, create, notes.block('post')] }
    const answer = await fixture.quoin.send('PUT', path, { as: 'builder', body })
    expect(objectsOf(objectOf(answer.body).problems).map(({ block }) => notes.nameOf(block))).toEqual([
      'set',
      'post',
    ])
  })

  test('there is no tracing of what is no blueprint', async () => {
    const path = '/blueprints/01890000-0000-7000-8000-000000000000/tracing'
    expect((await fixture.quoin.send('GET', path, { as: 'builder' })).status).toBe(404)
    expect((await fixture.quoin.send('PUT', path, { as: 'builder', body: { on: true } })).status).toBe(404)
  })

  test('says for how long, is audited, and ends by itself', async () => {
    const before = Date.now()
    const { on, until, ...rest } = await notes.trace(true, { minutes: 2, breakpoints: [] })
    expect([on, rest]).toEqual([true, { keep_last: 50, breakpoints: [], record_one_in: 0 }])
    expect(Date.parse(String(until)) - before).toBeGreaterThanOrEqual(120_000)
    const audit = { filters: { category: 'tracing', guid: notes.guid } }
    const [record] = objectsOf(await fixture.quoin.manage('POST', '/_system/auditlogs', audit))
    expect(record).toMatchObject({ name: 'Notes', user: { username: 'admin' } })
    fixture.quoin.advance(121_000)
    const path = `/blueprints/${notes.guid}/tracing`
    expect(await fixture.quoin.manage('GET', path)).toMatchObject({ on: false, until: null })
    expect((await post({ untraced: true })).status).toBe(201)
    expect(await notes.runs()).toEqual([])
  })
})

describe('a record', () => {
  test('the request, the reply and each step with what it got and gave', async () => {
    await notes.trace(true)
    const answer = await post({ text: 'first' })
    const run = await notes.lastRun('post')
    expect(run).toMatchObject({
      blueprint: notes.guid,
      trigger: notes.block('post'),
      trigger_type: 'http',
      label: 'POST notes',
      status: 'ended',
      error: null,
      user: null,
      deployment: 1,
      replay_of: null,
      cut: false,
      request: { method: 'POST', path: '/api/v1/notes', query: {}, body: { text: 'first' } },
      reply: { status: 201, body: answer.body },
    })
    expect(storyOf(run, notes)).toEqual(['0 post → flow', '0 set', '0 create → flow', '0 created'])
    const steps = objectsOf(run.steps)
    expect(steps.map(({ kind }) => kind)).toEqual(['trigger', 'value', 'flow', 'flow'])
    expect(steps[2]).toMatchObject({ in: { storage: 'notes' }, out: { document: { text: 'first' } } })
    const times = steps.flatMap(({ at_us, us }) => [at_us, us])
    expect(times.every((time) => Number.isInteger(time) && Number(time) >= 0)).toBe(true)
    const [summary] = await notes.runs(`&trigger=${notes.block('post')}`)
    const { request: _1, steps: _2, cut: _3, result: _4, compared: _5, send_again: _6, ...short } = run
    expect(summary).toEqual({ ...short, reply: { status: 201 }, steps: 4 })
  })

  test('no secret, under whatever name it comes up again', async () => {
    await post(
      { password: 'correct horse', note: 'correct horse', text: 'is correct horse!' },
      { 'x-token-of-mine': 'abcdefgh' },
    )
    const run = await notes.lastRun('post')
    const text = JSON.stringify(run)
    expect(text).not.toContain('correct horse')
    expect(text).not.toContain('abcdefgh')
    expect(run).toMatchObject({ request: { body: { password: '•••', note: '•••', text: 'is •••!' } } })
    // What was stored is not the trace's affair.
    expect(objectOf((await fixture.quoin.documents('notes')).at(-1))).toMatchObject({
      password: 'correct horse',
    })
  })

  test('long values are cut, with their size', async () => {
    const long = 'ä'.repeat(100_000)
    const answer = await post({ long })
    const run = await notes.lastRun('post')
    expect(objectOf(objectsOf(run.steps)[1]?.in).object).toEqual({
      $cut: expect.stringMatching(/^\{"long":"ä+$/),
      bytes: 200_011,
    })
    expect(run).toMatchObject({ reply: { body: { bytes: Buffer.byteLength(answer.text) } } })
    expect(Buffer.byteLength(JSON.stringify(run))).toBeLessThan(256 * 1024)
  })

  test('a map over 1,000 items is cut, and what follows it is there', async () => {
    const items = Array.from({ length: 1_000 }, (_, index) => index)
    const answer = await fixture.quoin.send('POST', '/numbered', { body: { items } })
    expect(Array.isArray(answer.body) && answer.body.length).toBe(1_000)
    const run = await notes.lastRun()
    const story = storyOf(run, notes)
    expect(story.filter((line) => line === '0 line')).toHaveLength(25)
    expect(story.at(-1)).toBe('0 numbered')
    expect(run.cut).toBe(true)
    const [summary] = await notes.runs()
    expect(summary?.steps).toBe(1_004)
  })

  test('a block that fails in the middle, and why', async () => {
    const answer = await fixture.quoin.send('GET', '/failing')
    expect(answer.status).toBe(500)
    const run = await notes.lastRun()
    expect(storyOf(run, notes)).toEqual([
      '0 fail → flow',
      '0 search !limit must be a whole number from 0 to 10,000',
    ])
    expect(run).toMatchObject({
      status: 'failed',
      reply: { status: 500, body: answer.body },
      error: {
        code: 'INTERNAL',
        block: notes.block('search'),
        message: 'limit must be a whole number from 0 to 10,000',
      },
    })
  })

  test('a failure that the flow takes care of', async () => {
    expect((await fixture.quoin.send('GET', '/catching')).body).toBe('caught')
    const run = await notes.lastRun()
    expect(storyOf(run, notes)).toEqual([
      '0 catch → flow',
      '0 search_too → error !limit must be a whole number from 0 to 10,000',
      '0 caught',
    ])
    expect(run).toMatchObject({ status: 'ended', error: null })
  })

  test('calls of functions, each in a frame of its own', async () => {
    expect((await fixture.quoin.send('GET', '/calls/7')).body).toBe('7')
    const run = await notes.lastRun()
    expect(storyOf(run, notes)).toEqual([
      '0 call → flow',
      '0 n',
      '0 twice → flow',
      '1 echo → flow',
      '1 echoed',
      '0 again → flow',
      '2 echo → flow',
      '2 echoed',
      '0 said',
    ])
    expect(run).toMatchObject({ label: 'GET calls/{n}', request: { params: { n: '7' } } })
  })

  test('runs that no request starts', async () => {
    await post({ text: 'tell' })
    // It is seen while it runs too: it ends with its job.
    const ended = `&status=ended&trigger=${notes.block('on_note')}`
    const run = await soon(async () => (await notes.runs(ended))[0])
    expect(run).toMatchObject({
      trigger_type: 'storage',
      label: 'notes on_created',
      reply: null,
      status: 'ended',
    })
    const whole = objectOf(await fixture.quoin.manage('GET', `/runs/${String(run.guid)}`))
    expect(whole.request).toBeNull()
    expect(storyOf(whole, notes)).toEqual(['0 on_note → flow', '0 heard'])
  })

  test('two at once do not mix', async () => {
    const sent = ['3', '4', '5', '6', '7', '8'].map((n) => fixture.quoin.send('GET', `/calls/${n}`))
    const bodies = (await Promise.all(sent)).map(({ body }) => body)
    expect(bodies).toEqual(['3', '4', '5', '6', '7', '8'])
    const summaries = await notes.runs(`&trigger=${notes.block('call')}&limit=6`)
    for (const { guid } of summaries) {
      const run = objectOf(await fixture.quoin.manage('GET', `/runs/${String(guid)}`))
      const { n } = objectOf(objectOf(run.request).params)
      expect(objectOf(run.reply).body).toBe(n)
      expect(objectsOf(run.steps).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect(JSON.stringify(run.steps)).toContain(`"${String(n)}"`)
    }
  })

  test('only the last ones, the newest first, page by page', async () => {
    await notes.trace(true, { keep_last: 3 })
    for (let n = 0; n < 5; n++) await fixture.quoin.send('GET', `/calls/${n}`)
    const params = await soon(async () => {
      const found = await notes.runs()
      return found.length === 3 ? found : undefined
    })
    const labels = await Promise.all(
      params.map(
        async ({ guid }) => objectOf(await fixture.quoin.manage('GET', `/runs/${String(guid)}`)).request,
      ),
    )
    expect(labels.map((request) => objectOf(objectOf(request).params).n)).toEqual(['4', '3', '2'])
    const first = await fixture.quoin.send('GET', `/runs?blueprint=${notes.guid}&limit=2`, { as: 'viewer' })
    expect([objectsOf(first.body).length, first.headers['x-total-count']]).toEqual([2, '3'])
    const after = encodeURIComponent(String(first.headers['x-next-cursor']))
    const second = await fixture.quoin.send('GET', `/runs?blueprint=${notes.guid}&limit=2&after=${after}`, {
      as: 'viewer',
    })
    expect(objectsOf(second.body).map(({ guid }) => guid)).toEqual([params[2]?.guid])
    expect(await notes.runs('&status=failed')).toEqual([])
    await notes.trace(true)
  })
})

describe('the list', () => {
  test('of what went wrong reaches all of them, part by part', async () => {
    await notes.trace(true, { keep_last: 200 })
    const before = (await notes.runs('&failed=true&limit=200')).length
    const of = (status: number) => async () =>
      expect((await fixture.quoin.send('GET', status === 500 ? '/failing' : '/calls/1')).status).toBe(status)
    for (const ask of [of(500), of(200), of(200), of(500), of(200)]) await ask()
    const page = (query: string) =>
      fixture.quoin.send('GET', `/runs?blueprint=${notes.guid}&failed=true${query}`, { as: 'viewer' })
    const [first, second] = [await page('&limit=1'), await page('&limit=1&offset=1')]
    expect(first.headers['x-total-count']).toBe(String(before + 2))
    const shown = [first, second].flatMap(({ body }) => objectsOf(body))
    expect(shown.map(({ label, status }) => [label, status])).toEqual([
      ['GET failing', 'failed'],
      ['GET failing', 'failed'],
    ])
    expect(shown[0]?.guid).not.toBe(shown[1]?.guid)
    expect((await page('&limit=0')).headers['x-total-count']).toBe(String(before + 2))
    expect((await notes.runs('&failed=false&limit=5')).length).toBe(5)
    expect((await fixture.quoin.send('GET', '/runs?failed=perhaps', { as: 'viewer' })).status).toBe(400)
  })

  test('of what went wrong has refusals of a flow too, which are no failed runs', async () => {
    const gate = await fixture.install('Gate', {
      gate: { type: 'on_startup_register_uri_get', in: { uri: 'gate' } },
      shut: { type: 'httpconnection_set_json', in: { flow: '@gate.flow', value: 'shut', code: 403 } },
    })
    await gate.trace(true)
    expect((await fixture.quoin.send('GET', '/gate')).status).toBe(403)
    expect((await gate.runs('&failed=true')).map(({ status }) => status)).toEqual(['ended'])
    expect(await gate.runs('&failed=true&status=failed')).toEqual([])
    await gate.trace(false)
  })
})

describe('one request', () => {
  test('is traced for users who may change blueprints, and names the run', async () => {
    await notes.trace(false)
    const send = (as?: string) =>
      fixture.quoin.send('GET', '/calls/9', {
        ...(as !== undefined && { as }),
        headers: { 'x-quoin-trace': '1' },
      })
    const before = await notes.runs()
    for (const as of [undefined, 'nobody', 'viewer']) {
      const answer = await send(as)
      expect([answer.status, answer.headers['x-quoin-run']]).toEqual([200, undefined])
    }
    expect(await notes.runs()).toEqual(before)
    const answer = await send('builder')
    const run = objectOf(await fixture.quoin.manage('GET', `/runs/${String(answer.headers['x-quoin-run'])}`))
    expect(run).toMatchObject({ user: 'builder', reply: { body: '9' } })
    expect(JSON.stringify(run)).not.toContain(await fixture.quoin.tokenOf('builder'))
    expect(
      (await fixture.quoin.send('GET', '/calls/9', { as: 'builder' })).headers['x-quoin-run'],
    ).toBeUndefined()
  })

  test('of any caller can be traced with the token of a user who may', async () => {
    const send = (token: string) =>
      fixture.quoin.send('GET', '/calls/9', { headers: { 'x-quoin-trace': `Bearer ${token}` } })
    for (const token of ['nonsense', '', 'x'.repeat(1_000), await fixture.quoin.tokenOf('viewer')]) {
      const answer = await send(token)
      expect([answer.status, answer.body, answer.headers['x-quoin-run']]).toEqual([200, '9', undefined])
    }
    const token = await fixture.quoin.tokenOf('builder')
    const answer = await send(token)
    const run = objectOf(await fixture.quoin.manage('GET', `/runs/${String(answer.headers['x-quoin-run'])}`))
    expect(run).toMatchObject({ user: null, reply: { body: '9' } })
    // Nor does the flow see who looks over its shoulder.
    expect(JSON.stringify(run)).not.toContain(token)
    expect(JSON.stringify(run)).not.toContain('x-quoin-trace')
  })
})

describe('without an effect on clients', () => {
  test('a run that is not traced executes the flow that has no probe in it', async () => {
    await notes.trace(true)
    const { live } = fixture.quoin.quoin.flows
    const { compiled } = live.table().blueprints.get(notes.guid) ?? {}
    const [endpoint] = compiled?.endpoints ?? []
    await post({ text: 'traced' })
    // Tracing compiled a second one and left the first as it was.
    expect(live.table().blueprints.get(notes.guid)?.compiled).toBe(compiled)
    expect(compiled?.endpoints[0]?.flow).toBe(endpoint?.flow)
    await notes.trace(false)
    const before = (await notes.runs()).length
    await post({ text: 'untraced' })
    expect((await notes.runs()).length).toBe(before)
  })
})

test('pages, and jobs that wait in a queue', async () => {
  const page = await fixture.install('Hello', {
    page: { type: 'state_page', in: { url: 'hello/{name}', title: 'Hello' } },
    name: { type: 'httpconnection_get_params', in: { field: 'name' } },
    h1: { type: 'state_h1', in: { text: '@name.value' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@h1.state' } },
    later: { type: 'on_startup_register_uri_post', in: { uri: 'later' } },
    queue: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@later.flow', function: 'do_later', queue: 'jobs', what: 'tea' },
      fields: { parameters: ['what'] },
    },
    ok: { type: 'httpconnection_set_json', in: { flow: '@queue.flow', value: 'ok' } },
    do_later: {
      type: 'trigger_custom_function',
      out: [{ id: 'what', type: 'value' }],
      fields: { name: 'do_later' },
    },
    done: { type: 'function_return', in: { flow: '@do_later.flow', value: '@do_later.what' } },
  })
  await page.trace(true)
  const { app } = fixture.quoin.quoin.server
  const shown = await app.inject({ method: 'GET', url: '/hello/Ada' })
  expect([shown.statusCode, shown.body.includes('Ada')]).toEqual([200, true])
  const visit = await page.lastRun()
  expect(visit).toMatchObject({ trigger_type: 'page', label: '/hello/{name}', reply: { status: 200 } })
  expect(storyOf(visit, page)).toEqual(['0 page → flow', '0 name', '0 h1', '0 show'])
  const again = objectOf(await fixture.quoin.manage('POST', `/runs/${String(visit.guid)}/replay`))
  expect([storyOf(again, page), again.compared]).toEqual([
    storyOf(visit, page),
    expect.objectContaining({ status: [200, 200], same: true }),
  ])

  await fixture.quoin.send('POST', '/later', { body: {} })
  const job = await soon(async () => (await page.runs(`&trigger=${page.block('do_later')}`))[0])
  const whole = objectOf(await fixture.quoin.manage('GET', `/runs/${String(job.guid)}`))
  expect(whole).toMatchObject({ trigger_type: 'function', label: 'do_later', result: 'tea', reply: null })
  expect(storyOf(whole, page)).toEqual(['0 do_later → flow', '0 done'])
})
