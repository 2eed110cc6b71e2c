/** Runs that stand still: where, for how long, and the effect on other runs. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Answer, objectOf, objectsOf, openTestQuoin } from './harness.ts'
import {
  openTracingFixture,
  soon,
  storyOf,
  type TracedBlueprint,
  type TracingFixture,
} from './tracing-fixture.ts'

let fixture: TracingFixture
let steps: TracedBlueprint
let others: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture()
  others = await fixture.install('Others', {
    other: {
      type: 'trigger_custom_function',
      out: [{ id: 'n', type: 'value' }],
      fields: { name: 'other' },
    },
    inner: { type: 'function_return', in: { flow: '@other.flow', value: '@other.n' } },
  })
  steps = await fixture.install('Steps', {
    storage: { type: 'storage', fields: { storage: 'stepped' } },
    get: { type: 'on_startup_register_uri_get', in: { uri: 'steps/{n}' } },
    n: { type: 'httpconnection_get_params', in: { field: 'n' } },
    first: { type: 'function_search', in: { flow: '@get.flow', storage: '@storage.storage' } },
    second: {
      type: 'function_custom_execute',
      in: { flow: '@first.flow', function: 'other', n: '@n.value' },
      fields: { parameters: ['n'] },
    },
    third: { type: 'httpconnection_set_json', in: { flow: '@second.flow', value: '@second.value' } },

    post: { type: 'on_startup_register_uri_post', in: { uri: 'steps' } },
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@post.body' } },
    write: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: '@storage.storage', mutations: '@set.mutations' },
    },
    ask: { type: 'http_request', in: { flow: '@write.flow', url: fixture.outside.url } },
    done: { type: 'httpconnection_set_json', in: { flow: '@ask.flow', value: '@write.document' } },
    behind: { type: 'function_console_log', in: { flow: '@done.flow', value: 'behind' } },
  })
})
afterAll(() => fixture.close())
afterEach(async () => {
  await steps.trace(false)
  await others.trace(false)
})

const breakAt = (...names: string[]) =>
  steps.trace(true, { breakpoints: names.map((name) => steps.block(name)) })
const get = (n = '7') => fixture.quoin.send('GET', `/steps/${n}`)
const paused = async () =>
  objectsOf(await fixture.quoin.manage('GET', `/runs/paused?blueprint=${steps.guid}`))

/** The one run that stands still, at a block by name. */
function pausedAt(name: string): Promise<JsonObject> {
  return soon(async () => {
    const [found, more] = await paused()
    if (more) throw new Error('More than one run is paused.')
    return found && [steps.nameOf(found.block), others.nameOf(found.block)].includes(name) ? found : undefined
  })
}

const steer = (run: JsonValue | undefined, how: 'step' | 'resume' | 'stop') =>
  fixture.quoin.manage('POST', `/runs/${String(run)}/${how}`)

/** Whether it has been answered. */
function answered(answer: Promise<Answer>): { readonly now: () => Promise<boolean> } {
  let is = false
  void answer.then(() => {
    is = true
  })
  return { now: () => new Promise((resolve) => setImmediate(() => resolve(is))) }
}

describe('a breakpoint', () => {
  test('pauses before its block, with what the block got; resuming goes on to the end', async () => {
    await breakAt('third')
    const answer = get()
    const is = answered(answer)
    const { run, ...pause } = await pausedAt('third')
    expect(pause).toMatchObject({ blueprint: steps.guid, in: { value: '7', code: 200 } })
    expect(Date.parse(String(pause.until)) - Date.parse(String(pause.since))).toBe(60_000)
    expect(storyOf(pause, steps).map((line) => line.split(' ')[1])).toEqual([
      'get',
      'first',
      'n',
      'second',
      expect.any(String),
      expect.any(String),
      'third',
    ])
    expect(await fixture.quoin.manage('GET', `/runs/${String(run)}`)).toMatchObject({
      status: 'paused',
      reply: null,
    })
    expect(objectsOf(await steps.runs('&status=paused')).map(({ guid }) => guid)).toEqual([run])
    expect(await is.now()).toBe(false)
    expect(await steer(run, 'resume')).toMatchObject({ status: 'ended', reply: { status: 200 } })
    expect((await answer).body).toBe('7')
    expect(await paused()).toEqual([])
  })

  test('step goes on to the next flow block, into functions and out of them', async () => {
    await breakAt('first')
    const answer = get()
    const seen: string[] = []
    for (const name of ['first', 'second', 'inner', 'third']) {
      const { run, block } = await pausedAt(name)
      seen.push(name)
      expect([steps.nameOf(block), others.nameOf(block)]).toContain(name)
      await steer(run, 'step')
    }
    expect(seen).toHaveLength(4)
    expect((await answer).body).toBe('7')
  })

  test('in a function of another blueprint', async () => {
    await steps.trace(true, { breakpoints: [] })
    await others.trace(true, { breakpoints: [others.block('inner')] })
    const answer = get()
    const { run } = await pausedAt('inner')
    await steer(run, 'resume')
    expect((await answer).body).toBe('7')
  })

  test('stop fails the run, and what it did is undone', async () => {
    await breakAt('third')
    const answer = get()
    const { run } = await pausedAt('third')
    expect(await steer(run, 'stop')).toMatchObject({
      status: 'failed',
      error: { code: 'CONFLICT', message: expect.stringContaining('RUN_STOPPED') },
    })
    const { status, body } = await answer
    expect([status, body]).toEqual([409, { error: expect.stringContaining('RUN_STOPPED') }])
    for (const how of ['step', 'resume', 'stop'])
      expect((await fixture.quoin.send('POST', `/runs/${String(run)}/${how}`, { as: 'admin' })).status).toBe(
        404,
      )
  })

  test('a run that has written and not committed goes on, and says so; after the commit it pauses', async () => {
    await breakAt('write', 'ask', 'behind')
    const answer = fixture.quoin.send('POST', '/steps', { body: { text: 'a' } })
    const { run } = await pausedAt('write')
    await steer(run, 'step')
    // A block that touches the world outside has everything committed before it begins.
    await pausedAt('ask')
    expect(await fixture.quoin.documents('stepped')).toHaveLength(1)
    await steer(run, 'resume')
    expect((await answer).status).toBe(200)
    await pausedAt('behind')
    await steer(run, 'resume')
    const whole = objectOf(await fixture.quoin.manage('GET', `/runs/${String(run)}`))
    expect(whole).toMatchObject({ status: 'ended' })
  })

  test('not between a write and its commit', async () => {
    const both = await fixture.install('Both', {
      storage: { type: 'storage', fields: { storage: 'stepped' } },
      post: { type: 'on_startup_register_uri_post', in: { uri: 'both' } },
      set: { type: 'mutations_set_bp_field_multiple', in: { object: '@post.body' } },
      write: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@post.flow', storage: '@storage.storage', mutations: '@set.mutations' },
      },
      done: { type: 'httpconnection_set_json', in: { flow: '@write.flow', value: 'done' } },
    })
    await both.trace(true, { breakpoints: [both.block('done')] })
    expect((await fixture.quoin.send('POST', '/both', { body: { a: 1 } })).body).toBe('done')
    const run = await both.lastRun()
    expect(objectsOf(run.steps).map(({ note }) => note)).toEqual([
      null,
      null,
      null,
      expect.stringContaining('has uncommitted writes'),
    ])
    await both.trace(false)
  })

  test('others are served meanwhile, and write', async () => {
    await breakAt('third')
    const answer = get()
    const { run } = await pausedAt('third')
    const { database } = fixture.quoin.quoin
    const before = (await fixture.quoin.documents('stepped')).length
    await fixture.quoin.send('POST', '/both', { body: { b: 1 } })
    expect((await fixture.quoin.documents('stepped')).length).toBe(before + 1)
    expect(database.has('stepped')).toBe(true)
    await steer(run, 'resume')
    await answer
  })

  test('turning tracing off lets it go on', async () => {
    await breakAt('first', 'third')
    const answer = get()
    await pausedAt('first')
    await steps.trace(false)
    expect((await answer).body).toBe('7')
    // And off it stays: the second breakpoint is passed.
    await breakAt('first')
    expect(await paused()).toEqual([])
  })

  test('at most ten at once', async () => {
    await breakAt('third')
    const answers = Array.from({ length: 12 }, (_, n) => get(String(n)))
    await soon(async () => ((await paused()).length === 10 ? true : undefined))
    const through = await soon(async () => {
      const found = await steps.runs('&status=ended&limit=2')
      const notes = await Promise.all(
        found.map(
          async ({ guid }) =>
            objectsOf(objectOf(await fixture.quoin.manage('GET', `/runs/${String(guid)}`)).steps).at(-1)
              ?.note,
        ),
      )
      return notes.length === 2 && notes.every((note) => String(note).includes('10 runs')) ? found : undefined
    })
    expect(through).toHaveLength(2)
    await steps.trace(false)
    expect((await Promise.all(answers)).map(({ body }) => body)).toEqual(
      Array.from({ length: 12 }, (_, n) => String(n)),
    )
  })
})

test('a pause does not count against the deadline of the run', async () => {
  const short = await openTestQuoin({ QUOIN_RUN_DEADLINE: '1000' })
  try {
    const blueprint = await short.install('Short', {
      get: { type: 'on_startup_register_uri_get', in: { uri: 'short' } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'in time' } },
    })
    const blocks = objectsOf(await short.manage('GET', `/blueprints/${blueprint}/blocks`))
    const breakpoints = blocks
      .filter(({ type }) => type === 'httpconnection_set_json')
      .map(({ _meta }) => objectOf(_meta).guid ?? '')
    await short.manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true, breakpoints })
    const answer = short.send('GET', '/short')
    const [pause] = await soon(async () => {
      const found = objectsOf(await short.manage('GET', '/runs/paused'))
      return found.length > 0 ? found : undefined
    })
    short.advance(30_000)
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    await short.manage('POST', `/runs/${String(pause?.run)}/resume`)
    expect((await answer).body).toBe('in time')
  } finally {
    await short.close()
  }
})

test('a node that stops lets its paused runs go on', async () => {
  const stopping = await openTestQuoin()
  const blueprint = await stopping.install('Stopping', {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'stopping' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'answered' } },
  })
  const blocks = objectsOf(await stopping.manage('GET', `/blueprints/${blueprint}/blocks`))
  const [reply] = blocks.filter(({ type }) => type === 'httpconnection_set_json')
  const breakpoints = [objectOf(reply?._meta).guid ?? '']
  await stopping.manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true, breakpoints })
  const answer = stopping.send('GET', '/stopping')
  await soon(async () => objectsOf(await stopping.manage('GET', '/runs/paused'))[0])
  // Otherwise it would wait a minute for a request.
  await Promise.all([stopping.close(), answer])
  expect((await answer).body).toBe('answered')
})

describe('the stream', () => {
  test('tells when a run begins, pauses and ends, to who may hear it, and of this blueprint only', async () => {
    const address = await fixture.quoin.quoin.server.listen()
    const stream = async (as: string, blueprint: string) =>
      fetch(`${address}/api/v1/runs/stream?blueprint=${blueprint}`, {
        headers: { authorization: `Bearer ${await fixture.quoin.tokenOf(as)}` },
      })
    await fixture.quoin.addUser('nobody', [])
    expect((await fetch(`${address}/api/v1/runs/stream`)).status).toBe(401)
    expect((await stream('nobody', steps.guid)).status).toBe(403)
    const [ours, theirs] = await Promise.all([stream('admin', steps.guid), stream('admin', others.guid)])
    expect([ours.status, ours.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const events = eventsOf(ours)
    const none = eventsOf(theirs)
    await breakAt('third')
    const answer = fetch(`${address}/api/v1/steps/8`)
    const { run } = await pausedAt('third')
    await steer(run, 'resume')
    expect(await (await answer).json()).toBe('8')
    await soon(async () => (events.length >= 3 ? true : undefined))
    expect(events.map(({ guid, status }) => [guid, status])).toEqual([
      [run, 'running'],
      [run, 'paused'],
      [run, 'ended'],
    ])
    const {
      request: _1,
      steps: _2,
      cut: _3,
      result: _4,
      compared: _5,
      send_again: _6,
      ...summary
    } = objectOf(await fixture.quoin.manage('GET', `/runs/${String(run)}`))
    expect(events[2]).toEqual({ ...summary, reply: { status: 200 }, steps: events[2]?.steps })
    expect(none).toEqual([])
  })
})

/** Fills as they arrive. */
function eventsOf(response: Response): JsonObject[] {
  const events: JsonObject[] = []
  const read = async () => {
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const whole = text.split('\n\n')
      text = whole.pop() ?? ''
      for (const event of whole) {
        const data = /^event: run\ndata: (.+)$/.exec(event)?.[1]
        if (data !== undefined) events.push(JSON.parse(data))
      }
    }
  }
  void read().catch(() => undefined)
  return events
}
