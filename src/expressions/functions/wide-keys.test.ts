import { expect, test } from 'vitest'
import { wideKeysIn } from './wide-keys.ts'

const wide = (count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, value]))

test.each<[string, unknown, number]>([
  ['few keys', wide(1_000), 0],
  ['many keys', wide(1_001), 1_001],
  ['many objects of few keys', Array.from({ length: 2_000 }, () => ({ a: 1, b: { c: 2 } })), 0],
  ['colons and braces in texts', Array.from({ length: 2_000 }, () => '{":{":":"}'), 0],
  ['quotes and backslashes in texts', { a: '\\', b: '"{:', c: '\\"', ...wide(2_000, '\\\\":') }, 2_003],
  ['many keys inside others', [{ one: wide(1_500), two: [wide(1_500)] }], 3_000],
])('%s', (_, value, keys) => {
  expect(wideKeysIn(JSON.stringify(value))).toBe(keys)
  expect(wideKeysIn(JSON.stringify(value, undefined, 2))).toBe(keys)
})

test.each(['', '"', '{', '}', '}:{', ':', '"\\', '{"a":1', '"\\"', '::::'])(
  '%j is no JSON and does no harm',
  (text) => {
    expect(wideKeysIn(text)).toBe(0)
  },
)
