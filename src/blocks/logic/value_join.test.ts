import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './value_join.ts'

test.each([
  [[{ name: 'Ada' }], 'not objects'],
  [[['a', [{ b: 1 }]]], 'not objects'],
  [['a'.repeat(600_000), 'b'.repeat(600_000)], 'longer than a million'],
  [Array.from({ length: 1_000 }, () => Array(2_000).fill('a'.repeat(900))), 'longer than a million'],
])('values that cannot be joined are refused', async (values, message) => {
  await expect(runBlock(block, { inputs: { values } })).rejects.toThrow(message)
})

test.each([
  [undefined, {}, ''],
  [['', null, []], { separator: ', ', before: '(', after: ')' }, ''],
  [['Ada', 'Lovelace'], { separator: ' ' }, 'Ada Lovelace'],
  [['Ada', '', 'Lovelace'], { separator: ', ' }, 'Ada, Lovelace'],
  [['a', 'b'], {}, 'ab'],
  [[1, true, 'x'], { separator: '-' }, '1-true-x'],
  [[['a', 'b'], 'c'], { separator: ' | ' }, 'a | b | c'],
  [['York'], { before: '(', after: ')' }, '(York)'],
  [[0, false], { separator: ' ' }, '0 false'],
])('%j with %j: %j', async (values, more, value) => {
  expect((await runBlock(block, { inputs: { values, ...more } })).outputs).toEqual({ value })
})
