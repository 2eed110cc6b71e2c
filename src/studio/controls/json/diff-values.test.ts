import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffValues } from './diff-values.ts'

const diff = (before: unknown, after: unknown) =>
  diffValues(before, after).map(({ path, change }) => `${change} ${path}`)

describe('the difference of two values', () => {
  it.each([
    ['nothing', { a: 1 }, { a: 1 }, []],
    ['the order of fields', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['a field more', {}, { a: 1 }, ['added a']],
    ['a field less', { a: 1 }, {}, ['removed a']],
    ['a deep field', { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, ['changed a.b.c']],
    ['a whole object, once', {}, { a: { b: 1, c: 2 } }, ['added a']],
    ['plain lists as a whole', { a: [1, 2] }, { a: [2, 1] }, ['changed a']],
    [
      'lists of objects by place',
      { a: [{ x: 1 }, { x: 2 }] },
      { a: [{ x: 1 }, { x: 3 }] },
      ['changed a.1.x'],
    ],
    ['another type', { a: '1' }, { a: 1 }, ['changed a']],
    ['a record that is new', null, { a: 1 }, ['added ']],
    ['a record that is gone', { a: 1 }, null, ['removed ']],
  ])('sees %s', (_what, before, after, expected) => {
    expect(diff(before, after)).toEqual(expected)
  })

  it('is nothing exactly between equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        expect(diffValues(value, structuredClone(value))).toEqual([])
      }),
    )
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.integer()),
        fc.string(),
        fc.integer(),
        (value, key, number) => {
          fc.pre(value[key] !== number && key !== '__proto__')
          expect(diffValues(value, { ...value, [key]: number })).toHaveLength(1)
        },
      ),
    )
  })
})
