/** How often and how long the blocks of deployed blueprints run, from sampled runs. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectOf, objectsOf } from './harness.ts'
import { openTracingFixture, soon, type TracedBlueprint, type TracingFixture } from './tracing-fixture.ts'

let fixture: TracingFixture
let shop: TracedBlueprint
let prices: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture()
  prices = await fixture.install('Prices', {
    priced: { type: 'trigger_custom_function', fields: { name: 'price' } },
    price: { type: 'function_return', in: { flow: '@priced.flow', value: 3 } },
  })
  shop = await fixture.install('Shop', {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'goods' }, scopes: ['*public'] },
    ask: {
      type: 'function_custom_execute',
      in: { flow: '@post.flow', function: 'price', item: '=body.item' },
      fields: { parameters: ['item'] },
    },
    check: { type: 'branch', in: { flow: '@ask.flow', condition: '=body.item != "none"' } },
    kept: {
      type: 'reply',
      in: { flow: '@check.true', value: '={ item: body.item, all: body.all.map(one => one * 2).length }' },
    },
    refused: { type: 'reply', in: { flow: '@check.false', code: 400, value: 'none' } },
    failing: { type: 'on_startup_register_uri_get', in: { uri: 'failing' }, scopes: ['*public'] },
    search: { type: 'function_search', in: { flow: '@failing.flow', storage: 'goods', limit: '=0 - 5' } },
  })
})
afterAll(() => fixture.close())

async function times(of: TracedBlueprint) {
  const answer = objectOf(await fixture.quoin.manage('GET', `/blueprints/${of.guid}/block-times`))
  const blocks = objectsOf(answer.blocks).map((one): [string, JsonObject] => [of.nameOf(one.block), one])
  return { answer, blocks: new Map(blocks) }
}
const post = (item: string) =>
  fixture.quoin.send('POST', '/goods', { body: { item, all: Array.from({ length: 5_000 }, (_, at) => at) } })
/** Sends until so many runs are sampled: the first one makes the copy, and then there is one a second. */
const until = (runs: number, of = shop) =>
  soon(async () => {
    expect((await post('tea of Ada')).status).toBe(200)
    const found = await times(of)
    return Number(found.answer.runs) >= runs ? found : undefined
  })

test('without a run there are none', async () => {
  expect((await times(shop)).answer).toEqual({ deployment: 1, runs: 0, blocks: [] })
})

test.each([
  ['an unknown blueprint', 'admin', 'nine', 404],
  ['a caller who may not see blueprints', 'nobody', '', 403],
])('%s', async (_, as, guid, status) => {
  if (as !== 'admin') await fixture.quoin.addUser(as, ['runs_view'])
  const path = `/blueprints/${guid === '' ? shop.guid : guid}/block-times`
  expect((await fixture.quoin.send('GET', path, { as })).status).toBe(status)
})

test('blocks that sampled runs passed have their count and times, and nothing else is kept', async () => {
  const { answer, blocks } = await until(2)
  const runs = Number(answer.runs)
  expect([...blocks.keys()].toSorted()).toEqual(['ask', 'check', 'kept', 'post'])
  for (const block of blocks.values()) expect(block.passes).toBe(runs)
  const of = (name: string, field: string) => Number(blocks.get(name)?.[field])
  // Its expression goes through 5,000 elements, and a trigger has the time of the whole run.
  expect(of('check', 'p50_us')).toBeLessThan(of('kept', 'p50_us'))
  expect(of('post', 'p50_us')).toBeGreaterThanOrEqual(0.8 * of('kept', 'p50_us'))
  for (const name of blocks.keys()) expect(of(name, 'p95_us')).toBeGreaterThanOrEqual(of(name, 'p50_us'))
  const stored = await fixture.quoin.documents('_samples')
  expect(stored.length).toBeGreaterThan(0)
  expect(JSON.stringify(stored)).not.toContain('tea of Ada')
})

test('a function of another blueprint has its times with that one', async () => {
  const { answer, blocks } = await soon(async () => {
    await post('tea')
    const found = await times(prices)
    return found.blocks.has('price') ? found : undefined
  })
  expect(answer).toMatchObject({ deployment: 1, runs: 0 })
  expect([...blocks.keys()]).toEqual(['price'])
})

test('a run that fails counts as far as it came', async () => {
  const found = await soon(async () => {
    expect((await fixture.quoin.send('GET', '/failing')).status).toBe(500)
    const { blocks } = await times(shop)
    return blocks.has('failing') ? blocks : undefined
  })
  expect(found.has('search')).toBe(false)
})

test('traced runs are no samples', async () => {
  await shop.trace(true)
  const before = (await times(shop)).answer.runs
  await post('tea')
  await shop.trace(false)
  expect((await times(shop)).answer.runs).toBe(before)
})

test('a deployed version has its own times', async () => {
  await fixture.quoin.manage('PUT', `/blueprintactions/${shop.block('kept')}`, {
    in_pins: [
      { id: 'flow', from: [{ block: shop.block('check'), pin: 'true' }] },
      { id: 'value', value: 1 },
    ],
  })
  await fixture.quoin.manage('POST', `/blueprintactions/unsaved/${shop.guid}`)
  await fixture.quoin.manage('POST', `/blueprints/deploy/${shop.guid}`)
  expect((await times(shop)).answer).toMatchObject({ deployment: 2, runs: 0, blocks: [] })
  expect((await until(1)).answer.deployment).toBe(2)
  const stored = await fixture.quoin.documents('_samples')
  expect(
    stored.filter(({ blueprint }) => blueprint === shop.guid).map(({ deployment }) => deployment),
  ).toEqual([2])
})
