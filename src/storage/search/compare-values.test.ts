import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareScalars, compareStrings, sortValue } from './evaluate-query.ts'

test('strings are in the order of their UTF-8 bytes', () => {
  const border = fc.constantFrom('a', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}')
  const unit = fc.oneof(border, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }))
  const text = fc.string({ unit, maxLength: 4 })
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareStrings(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
    { numRuns: 2_000 },
  )
})

test('numbers stand before strings', () => {
  const sorted = ['b', 10, '', -1, 'a', 9].toSorted(compareScalars)
  expect(sorted).toEqual([-1, 9, 10, '', 'a', 'b'])
})

test.each([
  ['text', 'text'],
  [5, 5],
  [true, 1],
  [false, 0],
  [null, undefined],
  [[1], undefined],
  [{ a: 1 }, undefined],
])('%j is sorted as %j', (value, expected) => {
  expect(sortValue({ field: value }, ['field'])).toBe(expected)
  expect(sortValue({}, ['field'])).toBeUndefined()
})
