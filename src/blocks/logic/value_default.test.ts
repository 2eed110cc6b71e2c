import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './value_default.ts'

test.each([{ value: {} }, { value: [1], default: 'a' }, { default: {} }])('%j is refused', async (inputs) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow('must be text')
})

test.each([
  [{}, undefined],
  [{ value: 'a' }, 'a'],
  [{ value: 'a', default: 'b' }, 'a'],
  [{ default: 'b' }, 'b'],
  [{ value: null, default: 'b' }, 'b'],
  [{ value: '', default: 'b' }, 'b'],
  [{ value: ' ', default: 'b' }, ' '],
  [{ value: '', default: '' }, ''],
  [{ value: 0, default: 'b' }, '0'],
  [{ value: false, default: 'b' }, 'false'],
])('%j gives %j', async (inputs, value) => {
  expect((await runBlock(block, { inputs })).outputs.value).toBe(value)
})
