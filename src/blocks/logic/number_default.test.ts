import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './number_default.ts'

test.each([{ value: 'abc' }, { value: 'abc', default: 1 }, { default: 'x' }, { value: [] }])(
  '%j is refused',
  async (inputs) => {
    await expect(runBlock(block, { inputs })).rejects.toThrow('must be a number')
  },
)

test.each([
  [{}, undefined],
  [{ value: 5 }, 5],
  [{ value: '5', default: 1 }, 5],
  [{ value: 0, default: 1 }, 0],
  [{ default: 1 }, 1],
  [{ value: null, default: 1 }, 1],
  [{ value: '', default: 1 }, 1],
  [{ value: -0.5, default: 1 }, -0.5],
])('%j gives %j', async (inputs, number) => {
  expect((await runBlock(block, { inputs })).outputs.number).toBe(number)
})
