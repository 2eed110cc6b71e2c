import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './function_custom_execute.ts'

test.each([
  [{}, 'is empty'],
  [{ function: 5 }, 'must be the name of a function'],
  [{ function: ' ' }, 'must be 1 to 128 letters'],
  [{ function: 'a\nb' }, 'must be 1 to 128 letters'],
])('%j is refused: %s', async (inputs, message) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(message)
})

test('a function that fails fails the block', async () => {
  const functions = {
    f: () => {
      throw new RangeError('inside')
    },
  }
  await expect(runBlock(block, { inputs: { function: 'f' }, functions })).rejects.toThrow('inside')
})

test('it hands over the chosen parameters and gives the result', async () => {
  const ran = await runBlock(block, {
    inputs: { function: ' sum ' },
    fields: { parameters: ['a', 'b', 'none'] },
    more: { a: 1, b: new StoredJson('[2]') },
    functions: { sum: ({ a, b }) => ({ a: a ?? null, b: b ?? null }) },
  })
  expect(ran.calls).toEqual([{ name: 'sum', parameters: { a: 1, b: [2], none: undefined } }])
  expect(ran).toMatchObject({ next: 'flow', outputs: { value: { a: 1, b: [2] } } })
})

test('a function that returns nothing gives nothing', async () => {
  const ran = await runBlock(block, { inputs: { function: 'f' }, functions: { f: () => undefined } })
  expect(ran.outputs.value).toBeUndefined()
  expect(ran.next).toBe('flow')
})
