import { expect, test } from 'vitest'
import type { JsonValue } from '../../shared/json.ts'
import { differences } from './compare-state.ts'

const found = (expected: JsonValue, actual: JsonValue | undefined) => differences(expected, actual, 'body', 0)

test.each<[string, JsonValue, JsonValue | undefined, string]>([
  ['another value', 1, 2, 'body: expected 1, got 2'],
  ['another type', 1, '1', 'body: expected 1, got "1"'],
  ['nothing', 'a', undefined, 'body: expected "a", got nothing'],
  ['a field', { a: { b: 1 } }, { a: { b: 2 } }, 'body.a.b: expected 1, got 2'],
  ['a field that is missing', { a: 1 }, {}, 'body.a: expected 1, got nothing'],
  ['an object for a list', { a: 1 }, [1], 'body: expected {"a":1}, got [1]'],
  ['fewer items', [1], [1, 2], 'body: expected 1 items, got 2: [1,2]'],
  ['an item', [{ a: 1 }], [{ a: 2 }], 'body.0.a: expected 1, got 2'],
  ['an item that is not among them', { contains: [3] }, [1, 2], 'body: expected 3 in [1,2]'],
  ['a part of a text', { contains: ['c'] }, 'ab', 'body: expected "c" in "ab"'],
  ['what has no parts', { contains: [1] }, 1, 'body: expected 1 in 1'],
  ['a condition', '=value > 2', 2, 'body: =value > 2 does not hold for 2'],
  ['a condition that gives no condition', '=value + 1', 2, 'body: =value + 1 does not hold for 2'],
  ['a condition that fails', '=value.a.b == 1', 5, 'body: =value.a.b == 1 '],
  ['a condition that cannot be read', '=value >', 2, 'body: the condition =value > cannot be read: '],
])('%s differs', (_name, expected, actual, message) => {
  expect(found(expected, actual)).toEqual([expect.stringContaining(message)])
})

test.each<[string, JsonValue, JsonValue | undefined]>([
  ['fields that are not named', { a: 1 }, { a: 1, b: 2 }],
  ['of items too', [{ a: 1 }], [{ a: 1, b: 2 }]],
  ['an empty object for each object', {}, { a: 1 }],
  ['null for nothing', null, undefined],
  ['items in any order', { contains: [{ a: 2 }, 1] }, [1, { a: 2, b: 3 }, 4]],
  ['a part of a text', { contains: ['b'] }, 'abc'],
  ['a condition', '=value >= 2 && value < 3', 2],
])('%s: as expected', (_name, expected, actual) => {
  expect(found(expected, actual)).toEqual([])
})

test('of many differences the first are told', () => {
  const expected = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, 1]))
  const reported = found(expected, {})
  expect(reported).toHaveLength(21)
  expect(reported.at(-1)).toBe('80 more differences')
})
