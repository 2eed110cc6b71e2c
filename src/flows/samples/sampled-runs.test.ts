import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'
import { countOf, timeAt } from './sample.ts'
import { BlockTimes } from './sampled-runs.ts'

// Which part of a run is the time of which block: the clock here goes on by a millisecond each time that it is looked at.

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

/** By block: how often it was executed, and milliseconds of one execution. */
async function timesOf(blocks: FlowBlocks) {
  let now = 0
  const recorder = new BlockTimes(() => {
    now += 1
    return now
  })
  const { end } = await fixture.run(blocks, { query: { a: '1' } }, {}, { recorder })
  const times = [...recorder.all].map(([{ blueprint, node }, passes]) => {
    expect(blueprint).toBe('blueprint')
    return [node.block.guid, [countOf(passes), Math.round(timeAt(passes, 0.5) / 1_000)]] as const
  })
  return { end, times: Object.fromEntries(times) }
}

const get = { type: 'on_startup_register_uri_get', in: { uri: 'test' } }
/** Its work, and its pins. */
const ALONE = 2

test('a block that reads the value of another one does not have its time', async () => {
  const alone = await timesOf({ get, reply: { type: 'reply', in: { flow: '@get.flow', value: '=query.a' } } })
  expect(alone.times).toEqual({ reply: [1, ALONE] })
  const reading = await timesOf({
    get,
    one: { type: 'value_default', in: { value: '=query.a' } },
    two: { type: 'value_default', in: { value: '=one.value' } },
    reply: { type: 'reply', in: { flow: '@get.flow', value: '=two.value' } },
  })
  // The clock is looked at twice for the pins of the other block and twice for its work: what is left is the time around them.
  expect(reading.times).toEqual({ one: [1, ALONE], two: [1, ALONE + 2], reply: [1, ALONE + 2] })
})

test('a block with a body has the time of all passes, and what is in it is counted for each', async () => {
  const { times } = await timesOf({
    get,
    each: { type: 'each', in: { flow: '@get.flow', list: '=[1, 2, 3]' } },
    check: { type: 'branch', in: { flow: '@each.each', condition: '=each.item > 1' } },
    reply: { type: 'reply', in: { flow: '@each.flow', value: 1 } },
  })
  const [passes, one] = times.check ?? [0, 0]
  expect([passes, one]).toEqual([3, ALONE])
  expect(times.each?.[1]).toBeGreaterThanOrEqual(3 * one)
})

test('a block whose work fails has the time until then; one whose pins fail, and those behind, have none', async () => {
  const { end, times } = await timesOf({
    get,
    failing: { type: 'each', in: { flow: '@get.flow', list: [1], storage: 'goods' } },
    search: { type: 'function_search', in: { flow: '@failing.error', storage: 'goods', limit: '=0 - 5' } },
    reply: { type: 'reply', in: { flow: '@search.flow', value: 1 } },
  })
  expect(end.error?.code).toBe('INTERNAL')
  expect(Object.keys(times)).toEqual(['failing'])
})
