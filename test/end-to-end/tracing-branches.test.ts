/** A breakpoint in one of several branches that run at once, and runs that a schedule starts. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectOf, objectsOf } from './harness.ts'
import {
  openTracingFixture,
  soon,
  storyOf,
  type TracedBlueprint,
  type TracingFixture,
} from './tracing-fixture.ts'

let fixture: TracingFixture
let both: TracedBlueprint
let beats: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture()
  const log = (flow: string, value: string) => ({ type: 'function_console_log', in: { flow, value } })
  const write = (flow: string, mutations: string) => ({
    type: 'function_create_document_from_mutations',
    in: { flow, storage: '@storage.storage', mutations },
  })
  both = await fixture.install('Both', {
    storage: { type: 'storage', fields: { storage: 'branched' } },
    get: { type: 'on_startup_register_uri_get', in: { uri: 'branches' } },
    // Two wires leave the same pin: two branches, and the server outside keeps neither from going on.
    left: log('@get.flow', 'left'),
    ask: { type: 'http_request', in: { flow: '@left.flow', url: fixture.outside.url } },
    left_fields: { type: 'mutations_set_custom_field', in: { field: 'from', value: 'left' } },
    left_write: write('@ask.flow', '@left_fields.mutations'),
    right: log('@get.flow', 'right'),
    right_fields: { type: 'mutations_set_custom_field', in: { field: 'from', value: 'right' } },
    right_write: write('@right.flow', '@right_fields.mutations'),
    reply: { type: 'httpconnection_set_json', in: { flow: '@left_write.flow', value: 'both' } },
  })
  beats = await fixture.install('Beats', {
    beats: { type: 'storage', fields: { storage: 'beats' } },
    second: { type: 'schedule_repeating_event', in: { every: '1s' } },
    fields: {
      type: 'mutations_set_bp_field_multiple',
      in: { planned_at: '@second.planned_at' },
      fields: { fields: ['planned_at'] },
    },
    keep: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@second.flow', storage: '@beats.storage', mutations: '@fields.mutations' },
    },
  })
})
afterAll(() => fixture.close())
afterEach(async () => {
  await both.trace(false)
  await beats.trace(false)
})

const breakAt = (blueprint: TracedBlueprint, ...names: string[]) =>
  blueprint.trace(true, { breakpoints: names.map((name) => blueprint.block(name)) })
const get = () => fixture.quoin.send('GET', '/branches')
const steer = (run: unknown, how: 'step' | 'resume' | 'stop') =>
  fixture.quoin.manage('POST', `/runs/${String(run)}/${how}`)
const written = async () => (await fixture.quoin.documents('branched')).map(({ from }) => from).sort()

/** Where the one run that stands still does. */
function paused(blueprint: TracedBlueprint, name: string): Promise<JsonObject> {
  return soon(async () => {
    const found = objectsOf(await fixture.quoin.manage('GET', `/runs/paused?blueprint=${blueprint.guid}`))
    if (found.length > 1) throw new Error('More than one run is paused.')
    return blueprint.nameOf(found[0]?.block) === name ? found[0] : undefined
  })
}

const runOf = async (guid: unknown) => objectOf(await fixture.quoin.manage('GET', `/runs/${String(guid)}`))
const blocksOf = (run: JsonObject) => objectsOf(run.steps).map(({ block }) => both.nameOf(block))

describe('a breakpoint in one of two branches', () => {
  test('stopped, nothing of either branch stays', async () => {
    await breakAt(both, 'left')
    const answer = get()
    const { run } = await paused(both, 'left')
    await steer(run, 'stop')
    expect((await answer).status).toBe(409)
    expect([await written(), fixture.asked()]).toEqual([[], 0])
    expect(await runOf(run)).toMatchObject({ status: 'failed' })
  })

  test('holds up the other one too, and both go on once', async () => {
    await breakAt(both, 'left')
    const answer = get()
    const { run } = await paused(both, 'left')
    expect(blocksOf(await runOf(run))).not.toContain('right_write')
    expect([await written(), fixture.asked()]).toEqual([[], 0])
    await steer(run, 'resume')
    expect((await answer).body).toBe('both')
    const whole = await soon(async () => {
      const now = await runOf(run)
      return now.status === 'ended' ? now : undefined
    })
    const ran = blocksOf(whole)
    for (const name of ['left', 'ask', 'left_write', 'reply', 'right', 'right_write'])
      expect([name, ran.filter((one) => one === name).length]).toEqual([name, 1])
    expect(await written()).toEqual(['left', 'right'])
  })

  test('each in its own branch: one after the other', async () => {
    const before = await written()
    await breakAt(both, 'left', 'right')
    const answer = get()
    const first = await paused(both, 'left')
    await steer(first.run, 'resume')
    const second = await paused(both, 'right')
    expect(second.run).toBe(first.run)
    await steer(second.run, 'resume')
    expect((await answer).body).toBe('both')
    expect(await written()).toHaveLength(before.length + 2)
  })

  test('step by step goes through both', async () => {
    await breakAt(both, 'left')
    const answer = get()
    const { run } = await paused(both, 'left')
    await steer(run, 'step')
    await paused(both, 'right')
    await both.trace(false)
    expect((await answer).body).toBe('both')
    const ran = blocksOf(await runOf(run))
    expect(ran.filter((one) => one === 'right')).toHaveLength(1)
  })
})

describe('a run that a schedule starts', () => {
  test('is traced, with when it was planned', async () => {
    await beats.trace(true)
    const [run] = await soon(async () => {
      const ended = await beats.runs('&status=ended')
      return ended.length > 0 ? ended.slice(-1) : undefined
    })
    const whole = await runOf(run?.guid)
    expect(whole).toMatchObject({
      trigger: beats.block('second'),
      trigger_type: 'schedule',
      status: 'ended',
      error: null,
      request: null,
      reply: null,
      user: null,
    })
    expect(storyOf(whole, beats)).toEqual(['0 second → flow', '0 fields', '0 keep'])
    const [trigger] = objectsOf(whole.steps)
    const planned = objectOf(trigger?.out).planned_at
    const stored = (await fixture.quoin.documents('beats')).map(({ planned_at }) => planned_at)
    expect(stored).toContain(planned)
  })

  test('stops at a breakpoint, and its tick is not fired again meanwhile', async () => {
    await breakAt(beats, 'keep')
    const { run } = await paused(beats, 'keep')
    const planned = async () => objectOf(objectsOf((await runOf(run)).steps)[0]?.out).planned_at
    const tick = await planned()
    const of = async () =>
      (await fixture.quoin.documents('beats')).filter(({ planned_at }) => planned_at === tick).length
    expect(await of()).toBe(0)
    await beats.trace(false)
    await soon(async () => ((await of()) > 0 ? true : undefined))
    expect(await runOf(run)).toMatchObject({ status: 'ended', error: null })
    expect(await of()).toBe(1)
  })

  test('is run again as it was, and writes nothing', async () => {
    await beats.trace(true)
    const [run] = await soon(async () => {
      const ended = await beats.runs('&status=ended')
      return ended.length > 0 ? ended : undefined
    })
    await beats.trace(false)
    const before = objectsOf((await runOf(run?.guid)).steps)[0]?.out
    const again = objectOf(
      await fixture.quoin.manage('POST', `/runs/${String(run?.guid)}/replay`, { state: 'deployed' }),
    )
    expect(again).toMatchObject({ status: 'ended', replay_of: run?.guid, trigger_type: 'schedule' })
    expect(objectsOf(again.steps)[0]?.out).toEqual(before)
    const tick = objectOf(before ?? {}).planned_at
    const kept = (await fixture.quoin.documents('beats')).filter(({ planned_at }) => planned_at === tick)
    expect(kept).toHaveLength(1)
  })
})
