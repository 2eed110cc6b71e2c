import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonObject } from '../../shared/json.ts'
import { namedValue, pinsNamed, withNamedValues } from './named-values.ts'

test('each name is an optional pin of the type any', () => {
  expect(pinsNamed(['a', 'b.c'], (name) => `The ${name}.`)).toEqual({
    a: { type: 'any', help: 'The a.' },
    'b.c': { type: 'any', help: 'The b.c.' },
  })
})

test.each([
  ['a', 1],
  ['nothing', null],
  ['missing', undefined],
  ['toString', undefined],
])('the pin %s holds %j', (name, value) => {
  expect(namedValue({ more: { a: 1, nothing: null } }, name)).toBe(value)
})

test.each([[() => 1], [Symbol('a')], [1n]])(
  'a value that no pin of the type any gives is a fault of ours',
  (value) => {
    expect(() => namedValue({ more: { a: value } }, 'a')).toThrow(TypeError)
  },
)

test('what was set is read back, the rest is as before, and the original is untouched', () => {
  const key = fc.constantFrom('a', 'b', 'c')
  const name = fc.array(key, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'))
  const object = fc
    .dictionary(key, fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue())))
    .map((value): JsonObject => JSON.parse(JSON.stringify(value)))
  fc.assert(
    fc.property(object, name, fc.jsonValue(), (before, field, value) => {
      const text = JSON.stringify(before)
      const after = withNamedValues(before, [field], { more: { [field]: value } })
      expect(valueAt(after, parseFieldPath(field))).toBe(value)
      expect(JSON.stringify(before)).toBe(text)
      const [first] = parseFieldPath(field)
      for (const other of Object.keys(before)) if (other !== first) expect(after[other]).toBe(before[other])
    }),
  )
})
