/** Recorded replies that a builder pins to blocks outside, and loops over other servers and files that are replayed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectOf, objectsOf } from './harness.ts'
import { openTracingFixture, type TracedBlueprint, type TracingFixture } from './tracing-fixture.ts'

let fixture: TracingFixture
let shop: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture()
  const url = fixture.outside.url
  shop = await fixture.install('Shop', {
    seen: { type: 'storage', fields: { storage: 'seen' } },
    stock: { type: 'on_startup_register_uri_get', in: { uri: 'stock' } },
    ask: { type: 'http_request', in: { flow: '@stock.flow', url } },
    told: { type: 'reply', in: { flow: '@ask.flow', value: '=ask.body.asked' } },

    pages: { type: 'on_startup_register_uri_get', in: { uri: 'pages' } },
    each: {
      type: 'each_page',
      in: { flow: '@pages.flow', url, items_field: 'items', max_pages: 3 },
      fields: { next_by: 'number' },
    },
    set: { type: 'mutations_set_custom_field', in: { field: 'page', value: '=each.page' } },
    keep: {
      type: 'function_create_document_from_mutations',
      in: {
        flow: '@each.each',
        storage: 'seen',
        mutations: '@set.mutations',
      },
    },
    all: { type: 'function_search', in: { flow: '@each.flow', storage: 'seen' } },
    listed: { type: 'reply', in: { flow: '@all.flow', value: '=[each.pages, all.total]' } },
  })
  await fixture.quoin.addUser('builder', [
    'blueprints_view',
    'blueprintactions_view',
    'runs_view',
    'blueprints_update',
  ])
  await shop.trace(true, { minutes: 60 })
})
afterAll(() => fixture.close())

const path = (run: JsonObject) => `/runs/${String(run.guid)}/replay`
const replay = async (run: JsonObject, body: JsonObject) =>
  objectOf(await fixture.quoin.manage('POST', path(run), body))
const refused = async (run: JsonObject, body: JsonObject) => {
  const { status, body: said } = await fixture.quoin.send('POST', path(run), { as: 'builder', body })
  return [status, String(objectOf(said).message)]
}
const runOf = async (trigger: string) => {
  const reply = await fixture.quoin.send('GET', `/${trigger}`)
  expect(reply.status, reply.text).toBe(200)
  return shop.lastRun(trigger)
}
const bodyOf = (run: JsonObject) => objectOf(run.reply).body

describe('a pinned reply', () => {
  test('is given in place of that of the replayed run, and no request is sent', async () => {
    const [first, second] = [await runOf('stock'), await runOf('stock')]
    const asked = fixture.asked()
    expect(bodyOf(second)).not.toEqual(bodyOf(first))
    for (const state of ['saved', 'staged']) {
      const plain = await replay(second, { state })
      expect(bodyOf(plain)).toEqual(bodyOf(second))
      const pinned = await replay(second, {
        state,
        pinned: [{ block: shop.block('ask'), run: first.guid ?? '' }],
      })
      expect(bodyOf(pinned)).toEqual(bodyOf(first))
      const step = objectsOf(pinned.steps).find(({ block }) => block === shop.block('ask'))
      expect(step?.note).toBe('Pinned reply')
    }
    expect(fixture.asked()).toBe(asked)
  })

  test('serves a block that the replayed run did not execute, as often as it is asked for', async () => {
    const stock = await runOf('stock')
    const other = await runOf('pages')
    const asked = fixture.asked()
    const flow = (block: string, pin = 'flow') => ({ id: 'flow', from: [{ block: shop.block(block), pin }] })
    const change = async (name: string, pins: readonly JsonObject[]) =>
      fixture.quoin.manage('PUT', `/blueprintactions/${shop.block(name)}`, { in_pins: [...pins] })
    // Each pass of the other flow asks it now.
    await change('ask', [flow('each', 'each'), { id: 'url', value: fixture.outside.url }])
    const without = await replay(other, { state: 'staged' })
    expect(without).toMatchObject({ status: 'failed', error: { block: shop.block('ask') } })
    const pinned = [{ block: shop.block('ask'), run: stock.guid ?? '' }]
    const again = await replay(other, { state: 'staged', pinned })
    expect(again.status).toBe('ended')
    const times = objectsOf(again.steps).filter(({ block }) => block === shop.block('ask'))
    expect(times.map(({ out }) => objectOf(objectOf(out).body).asked)).toEqual(
      [1, 1, 1].map(() => bodyOf(stock)),
    )
    expect(fixture.asked()).toBe(asked)
    await fixture.quoin.manage('DELETE', `/blueprintactions/unsaved/${shop.guid}`)
  })

  test('is given to a run by hand, on drawn blocks and without effects only', async () => {
    const run = await runOf('stock')
    const asked = fixture.asked()
    const pinned = [{ block: shop.block('ask'), run: run.guid ?? '' }]
    const byHand = (body: JsonObject) =>
      fixture.quoin.send('POST', `/blueprints/${shop.guid}/run`, {
        as: 'admin',
        body: { trigger: 'GET stock', ...body },
      })
    const [without, tried] = [await byHand({ state: 'staged' }), await byHand({ state: 'staged', pinned })]
    expect(objectOf(without.body)).toMatchObject({ status: 'failed', error: { block: shop.block('ask') } })
    expect(bodyOf(objectOf(tried.body))).toEqual(bodyOf(run))
    for (const wrong of [{ state: 'deployed' }, { state: 'deployed', effects: 'real' }])
      expect((await byHand({ ...wrong, pinned })).status).toBe(400)
    expect(fixture.asked()).toBe(asked)
  })

  test('is never used by deployed blocks', async () => {
    const run = await runOf('stock')
    const pinned = [{ block: shop.block('ask'), run: run.guid ?? '' }]
    expect(await refused(run, { state: 'deployed', pinned })).toEqual([
      400,
      expect.stringContaining('deployed'),
    ])
    const asked = fixture.asked()
    await runOf('stock')
    expect(fixture.asked()).toBe(asked + 1)
  })

  test.each<[string, () => JsonObject, number]>([
    ['of a run that is gone', () => ({ run: '01890000-0000-7000-8000-000000000000' }), 409],
    ['of a block that the run did not execute', () => ({ block: shop.block('each') }), 409],
    ['with another field', () => ({ out: {} }), 400],
  ])('%s is refused', async (_what, wrong, status) => {
    const run = await runOf('stock')
    const pinned = [{ block: shop.block('ask'), run: run.guid ?? '', ...wrong() }]
    expect((await refused(run, { state: 'staged', pinned }))[0]).toBe(status)
  })

  test('of a run of another blueprint is refused', async () => {
    const other = await fixture.install('Other', {
      get: { type: 'on_startup_register_uri_get', in: { uri: 'other' } },
      ask: { type: 'http_request', in: { flow: '@get.flow', url: fixture.outside.url } },
      told: { type: 'reply', in: { flow: '@ask.flow', value: '=ask.body.asked' } },
    })
    await other.trace(true)
    await fixture.quoin.send('GET', '/other')
    const run = await runOf('stock')
    const pinned = [{ block: shop.block('ask'), run: (await other.lastRun('get')).guid ?? '' }]
    expect(await refused(run, { state: 'staged', pinned })).toEqual([
      409,
      expect.stringContaining('another blueprint'),
    ])
  })
})

describe('a loop over pages', () => {
  test('is replayed pass by pass on the present blocks, and nothing stays', async () => {
    const run = await runOf('pages')
    const before = (await fixture.quoin.documents('seen')).length
    const asked = fixture.asked()
    expect(bodyOf(run)).toEqual([3, before])
    const again = await replay(run, { state: 'saved' })
    expect(bodyOf(again)).toEqual([3, before + 3])
    const kept = objectsOf(again.steps).filter(({ block }) => block === shop.block('keep'))
    expect(kept.map(({ out }) => objectOf(objectOf(out).document).page)).toEqual([1, 2, 3])
    expect([(await fixture.quoin.documents('seen')).length, fixture.asked()]).toEqual([before, asked])
  })

  test('that failed in a pass is replayed up to there', async () => {
    await runOf('pages')
    const change = (field: string) =>
      fixture.quoin.manage('PUT', `/blueprintactions/${shop.block('set')}`, {
        in_pins: [
          { id: 'field', value: field },
          { id: 'value', value: '=each.page' },
        ],
      })
    await change('=each.page == 2 ? "_meta" : "page"')
    await fixture.quoin.manage('POST', `/blueprintactions/unsaved/${shop.guid}`)
    await fixture.quoin.manage('POST', `/blueprints/deploy/${shop.guid}`)
    expect((await fixture.quoin.send('GET', '/pages')).status).toBe(500)
    const failed = await shop.lastRun('pages')
    expect(await replay(failed, { state: 'saved' })).toMatchObject({
      status: 'failed',
      compared: { status: [500, 500] },
    })
    await change('page')
    expect(await replay(failed, { state: 'staged' })).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('no pass behind it is recorded') },
    })
  })
})
