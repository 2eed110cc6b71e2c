/** What each block got and gave the last time, whatever kind of run passed it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blockMark } from '../../src/expressions/language/rename-names.ts'
import { candidateBlocks } from '../../src/flows/blueprints/staged-content.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectOf, objectsOf } from './harness.ts'
import { openTracingFixture, type TracedBlueprint, type TracingFixture } from './tracing-fixture.ts'

let fixture: TracingFixture
let shop: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture()
  shop = await fixture.install('Shop', {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'goods' }, scopes: ['*public'] },
    check: { type: 'branch', in: { flow: '@post.flow', condition: '=body.price > 0' } },
    kept: {
      type: 'reply',
      in: { flow: '@check.true', value: '={ price: body.price, password: body.password }' },
    },
    refused: { type: 'reply', in: { flow: '@check.false', code: 400, value: '={ price: body.price }' } },
    get: { type: 'on_startup_register_uri_get', in: { uri: 'goods' }, scopes: ['*public'] },
    list: {
      type: 'function_search',
      in: { flow: '@get.flow', storage: 'goods', limit: '=0 - 5' },
    },
    listed: { type: 'reply', in: { flow: '@list.flow', value: '=list.total' } },
    never: { type: 'on_startup_register_uri_get', in: { uri: 'never' }, scopes: ['*public'] },
    nothing: { type: 'reply', in: { flow: '@never.flow', value: 1 } },
  })
})
afterAll(() => fixture.close())

const post = (price: number) =>
  fixture.quoin.send('POST', '/goods', { body: { price, password: 'hunter2 of Ada' } })
async function last() {
  const answer = objectOf(await fixture.quoin.manage('GET', `/blueprints/${shop.guid}/last-values`))
  const runs = new Map(objectsOf(answer.runs).map((run) => [run.guid, run]))
  const steps = new Map(
    objectsOf(answer.steps).map((step): [string, JsonObject] => [
      shop.nameOf(step.block),
      { ...step, as: runs.get(step.run)?.recorded_as ?? null },
    ]),
  )
  return { answer, runs, steps }
}

test('without a run there are no values', async () => {
  expect((await last()).answer).toEqual({ runs: [], steps: [] })
})

test('an unknown blueprint is 404', async () => {
  const answer = await fixture.quoin.send('GET', '/blueprints/nine/last-values', { as: 'admin' })
  expect(answer.status).toBe(404)
})

test('each block has the values of the newest run that passed it', async () => {
  await shop.trace(true)
  await post(3)
  await post(-3)
  await post(-4)
  await shop.trace(false)
  const { steps, runs, answer } = await last()
  expect(steps.get('check')).toMatchObject({ in: { condition: false }, as: 'traced' })
  expect(steps.get('refused')).toMatchObject({ in: { value: { price: -4 } }, run: steps.get('check')?.run })
  expect(steps.get('kept')).toMatchObject({ in: { value: { price: 3 } } })
  expect(runs.size).toBe(2)
  expect([...steps.keys()].toSorted()).toEqual(['check', 'kept', 'post', 'refused'])
  expect(JSON.stringify(answer)).not.toContain('hunter2')
})

test('runs by hand, tries and runs that failed count too', async () => {
  const run = objectOf(
    await fixture.quoin.manage('POST', `/blueprints/${shop.guid}/run`, {
      trigger: 'POST goods',
      input: { body: { price: 9 } },
    }),
  )
  expect((await last()).steps.get('kept')).toMatchObject({
    ...{ run: run.guid, as: 'tried', in: { value: { price: 9 } } },
  })
  const failed = await fixture.quoin.send('GET', '/goods')
  expect(failed.status).toBe(500)
  const { steps } = await last()
  expect(steps.get('list')).toMatchObject({ as: 'failed', error: expect.stringContaining('limit') })
  expect(steps.get('kept')).toMatchObject({ run: run.guid })
})

test('the mark is that of the block as it ran, whatever is staged since', async () => {
  const { steps } = await last()
  const guid = shop.block('kept')
  const { records } = fixture.quoin.quoin.flows
  const content = async () => {
    const staged = await candidateBlocks(records, shop.guid, 'staged')
    const found = staged.find((block) => block.guid === guid)
    if (!found) throw new Error('The block is gone.')
    return found
  }
  const mark = steps.get('kept')?.mark
  expect(mark).toBe(blockMark(await content()))
  await fixture.quoin.manage('PUT', `/blueprintactions/${guid}`, { title: 'Another title' })
  expect(blockMark(await content())).toBe(mark)
  const in_pins = (await content()).in_pins.map((pin) =>
    pin.id === 'value' ? { id: 'value', value: 1 } : pin,
  )
  await fixture.quoin.manage('PUT', `/blueprintactions/${guid}`, { in_pins })
  expect(blockMark(await content())).not.toBe(mark)
  expect((await last()).steps.get('kept')?.mark).toBe(mark)
})

test('a block whose run is no longer kept has none', async () => {
  await shop.trace(true, { keep_last: 2 })
  for (const price of [-1, -2, -3]) await post(price)
  await shop.trace(false, { keep_last: 2 })
  expect([...(await last()).steps.keys()].toSorted()).toEqual(['check', 'post', 'refused'])
})
