import { expect, test } from 'vitest'
import { listenTo } from '../../../test/run-block.ts'
import type { CustomOutPin } from '../../shared/blueprint.ts'
import { PinError } from '../block.ts'
import block from './trigger_custom_function.ts'

test.each(['\n', ' ', '-a', 'a\nb', 'a/b', 'a'.repeat(129)])('the name %j is refused', (name) => {
  expect(() => listenTo(block, { fields: { name } })).toThrow('must be 1 to 128 letters, digits')
})

test('a function without a name is refused', () => {
  expect(() => listenTo(block, { fields: {} })).toThrow('name is not set')
})

const refusedCases: readonly [readonly CustomOutPin[], string][] = [
  [[{ id: 'flow', type: 'value' }], 'has the name "flow" twice, or it is taken'],
  [
    [
      { id: 'a', type: 'value' },
      { id: 'a', type: 'number' },
    ],
    'has the name "a" twice, or it is taken',
  ],
  [[{ id: 'a b', type: 'value' }], 'has the name "a b": letters, digits and _, starting with a letter'],
  [[{ id: '__proto__', type: 'value' }], 'has the name "__proto__"'],
  [[{ id: 'q', type: 'query' }], 'has "q" of the type query, which cannot be passed'],
  [[{ id: 'c', type: 'connection' }], 'has "c" of the type connection, which cannot be passed'],
  [[{ id: 'f', type: 'flow' }], 'has "f" of the type flow, which cannot be passed'],
  [Array.from({ length: 51 }, (_, at) => ({ id: `p${at}`, type: 'any' as const })), 'must be at most 50'],
]

test.each(refusedCases)('the parameters %j are refused: %s', (custom, message) => {
  const listening = () => listenTo(block, { fields: { name: 'f' }, custom })
  expect(listening).toThrow(PinError)
  expect(listening).toThrow(message)
})

test('it listens for its name, with its parameters', () => {
  const custom: CustomOutPin[] = [
    { id: 'order', type: 'object' },
    { id: 'day', type: 'date' },
  ]
  expect(listenTo(block, { fields: { name: ' Send invoice ' }, custom })).toEqual({
    name: 'Send invoice',
    description: '',
    parameters: custom,
  })
  expect(block.moreOut?.({ name: 'f' }, custom)).toMatchObject({
    order: { type: 'object' },
    day: { type: 'date' },
  })
})

test('it starts with the parameters it was called with', () => {
  expect(block.start({ parameters: { order: { a: 1 }, none: undefined } })).toEqual({ order: { a: 1 } })
})
