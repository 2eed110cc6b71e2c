import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './function_return.ts'

test.each([
  ['a', 'a'],
  [0, 0],
  [false, false],
  [null, null],
  [undefined, undefined],
  [{ a: [1] }, { a: [1] }],
  [new StoredJson('{"a":1}'), { a: 1 }],
])('%j is the result, and no branch goes on', async (value, result) => {
  const ran = await runBlock(block, { inputs: { value } })
  expect(ran.finished).toEqual([result])
  expect(ran).toMatchObject({ next: null, outputs: {}, replies: [] })
})

test('it has no flow out-pin', () => {
  expect(Object.keys(block.out)).toEqual(['error'])
})
