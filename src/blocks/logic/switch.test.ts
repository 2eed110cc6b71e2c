import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './switch.ts'

const cases = ['open', 'in progress', '5', 'true']

test('without a case it is not set', async () => {
  await expect(runBlock(block, { inputs: { value: 'open' } })).rejects.toThrow('cases is not set')
})

test.each([
  ['open', 'open'],
  ['in progress', 'in progress'],
  [5, '5'],
  ['5', '5'],
  [true, 'true'],
  ['Open', 'default'],
  [' open', 'default'],
  [undefined, 'default'],
  [null, 'default'],
  [['open'], 'default'],
  [{ open: 1 }, 'default'],
  ['toString', 'default'],
])('%j continues at %s', async (value, way) => {
  expect((await runBlock(block, { inputs: { value }, fields: { cases } })).next).toBe(way)
})
