import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './condition_not_empty_value.ts'

test.each([
  [undefined, false],
  [null, false],
  ['', false],
  [' \t\n\u00a0', false],
  [[], false],
  [{}, false],
  [new StoredJson('[]'), false],
  [new StoredJson('{}'), false],
  [new StoredJson('null'), false],
  ['a', true],
  [' a ', true],
  ['0', true],
  [0, true],
  [false, true],
  [[null], true],
  [{ a: null }, true],
  [new StoredJson('[1]'), true],
  [new StoredJson('{"a":1}'), true],
  [new StoredJson('[{"title":"A"}]'), true],
])('%j: %j', async (value, condition) => {
  expect((await runBlock(block, { inputs: { value } })).outputs).toEqual({ condition })
})

test('a long list is not parsed: text that is no JSON goes unnoticed', async () => {
  const { outputs } = await runBlock(block, { inputs: { value: new StoredJson('[{"title": ???') } })
  expect(outputs.condition).toBe(true)
})
