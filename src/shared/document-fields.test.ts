import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJsonObject, type JsonValue } from './json.ts'
import { hasManyFields } from './numbers/exact-json.ts'

const wide = (length: number, name = 'f') =>
  Object.fromEntries(Array.from({ length }, (_, at) => [`${name}${at}`, at]))

test.each<[string, JsonValue, boolean]>([
  ['10,000', wide(10_000), false],
  ['10,001', wide(10_001), true],
  ['10,000 in two objects', [wide(5_000), wide(5_000)], false],
  ['10,001 in lists of lists', [[wide(5_000)], [[wide(5_001)]]], true],
  ['colons in texts', Array.from({ length: 20_000 }, () => '":":'), false],
  ['colons in names', wide(10_000, '\\":"\\\\'), false],
  ['short names', wide(10_001, ''), true],
])('%s', (_name, value, many) => {
  for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, 2)])
    expect(hasManyFields(text)).toBe(many)
})

test('of any JSON as many as there are', () => {
  const filler = wide(9_990)
  const count = (value: JsonValue): number =>
    Array.isArray(value)
      ? value.reduce((sum: number, one) => sum + count(one), 0)
      : isJsonObject(value)
        ? Object.values(value).reduce((sum: number, one) => sum + count(one), Object.keys(value).length)
        : 0
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)))
  fc.assert(
    fc.property(json, (value) => {
      expect(hasManyFields(JSON.stringify([value, filler]))).toBe(count(value) > 10)
    }),
    { numRuns: 200 },
  )
})
