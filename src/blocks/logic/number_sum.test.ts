import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './number_sum.ts'

test.each([
  [[1e308, 1e308], undefined, 'array'],
  [[{ n: 1 }], '__proto__', 'field'],
  [[{ n: 1 }], 'a..b', 'field'],
])('%j by %j is refused', async (array, field, pin) => {
  await expect(runBlock(block, { inputs: { array, field } })).rejects.toMatchObject({ pin })
})

test.each([
  [undefined, undefined, { number: 0, count: 0 }],
  [[], 'amount', { number: 0, count: 0 }],
  [[1, 2, 3.5], undefined, { number: 6.5, count: 3, average: 6.5 / 3 }],
  [[{ amount: 10 }, { amount: -4 }], 'amount', { number: 6, count: 2, average: 3 }],
  [[{ deal: { amount: 2 } }, {}, null, 'x'], 'deal.amount', { number: 2, count: 1, average: 2 }],
  [[0.1, 0.2], undefined, { number: 0.3, count: 2, average: 0.15 }],
  [[1, '2', true, null, [4]], undefined, { number: 1, count: 1, average: 1 }],
  [Array.from({ length: 10 }, () => 0.1), undefined, { number: 1, count: 10, average: 0.1 }],
])('%j by %j', async (array, field, outputs) => {
  expect((await runBlock(block, { inputs: { array, field } })).outputs).toEqual(outputs)
})
