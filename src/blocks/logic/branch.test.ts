import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './branch.ts'

test.each(['maybe', {}, []])('the condition %j is refused', async (condition) => {
  await expect(runBlock(block, { inputs: { condition } })).rejects.toThrow('must be true or false')
})

test.each([
  [true, 'true'],
  [false, 'false'],
  ['yes', 'true'],
  ['0', 'false'],
  [0, 'false'],
  [undefined, 'false'],
  [null, 'false'],
  ['', 'false'],
])('%j goes on at %s', async (condition, next) => {
  expect(await runBlock(block, { inputs: { condition } })).toMatchObject({ next, outputs: {} })
})

test('it has no flow out-pin beside its two, and error', () => {
  expect(Object.keys(block.out)).toEqual(['true', 'false', 'error'])
})
