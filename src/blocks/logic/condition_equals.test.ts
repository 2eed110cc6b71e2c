import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './condition_equals.ts'

test.each([
  ['a', 'b', false],
  ['5', 5, false],
  [1, true, false],
  ['Won', 'won', false],
  ['', undefined, false],
  [undefined, undefined, true],
  [null, undefined, true],
  ['a', 'a', true],
  [0, 0.0, true],
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, true],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [[1, 2], [2, 1], false],
  [new StoredJson('[1]'), [1], true],
])('%j and %j: %j', async (value, other, condition) => {
  expect((await runBlock(block, { inputs: { value, other } })).outputs).toEqual({ condition })
})

test.each([
  ['Won', 'wON', true],
  ['Straße', 'STRASSE', true],
  ['Won', 'Lost', false],
])('%j and %j without regard to case: %j', async (value, other, condition) => {
  expect((await runBlock(block, { inputs: { value, other, ignore_case: true } })).outputs).toEqual({
    condition,
  })
})
