import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './condition_in_list.ts'

test.each([
  [undefined, ['a'], { condition: false }],
  [undefined, [null], { condition: false }],
  ['a', undefined, { condition: false }],
  ['a', [], { condition: false }],
  ['a', ['A', 'ab'], { condition: false }],
  ['5', [5], { condition: false }],
  ['b', ['a', 'b', 'b'], { condition: true, index: 1 }],
  [0, [0], { condition: true, index: 0 }],
  [{ a: 1 }, [{ a: 2 }, { a: 1 }], { condition: true, index: 1 }],
])('%j in %j: %j', async (value, array, outputs) => {
  expect((await runBlock(block, { inputs: { value, array } })).outputs).toEqual(outputs)
})
