import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fieldOverlaps, overlap } from './field-path.ts'

const part = fc.constantFrom('a', 'b', 'ab', 'c')
const field = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))

test('few fields or many, they are those that overlap one by one', () => {
  const property = fc.property(fc.array(field, { maxLength: 14 }), field, (fields, name) => {
    const { overlaps, hasInside } = fieldOverlaps(fields)
    expect([overlaps(name), hasInside(name)]).toEqual([
      fields.some((one) => overlap(one, name)),
      fields.some((one) => one.startsWith(`${name}.`)),
    ])
  })
  fc.assert(property, { numRuns: 2_000 })
})
