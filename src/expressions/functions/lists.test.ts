import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callFunction } from '../../../test/call-function.ts'
import { functionContext } from '../../../test/function-context.ts'

const same = (value: unknown) => value
const long = Array.from({ length: 10_001 }, (_, i) => i)
const tooLong = 'list has more than 10,000 elements'

test.each<[string, unknown[], unknown]>([
  ['first', [[]], undefined],
  ['last', [[]], undefined],
  ['at', [[1], 1], undefined],
  ['map', [[1, 2], () => undefined], [null, null]],
  ['find', [[1], () => false], undefined],
  ['every', [[], () => false], true],
  ['reduce', [[], same, undefined], undefined],
  ['sortBy', [['b', null, 'a'], same], ['a', 'b', null]],
  ['sortBy', [[1, null, 2], same, 'descending'], [2, 1, null]],
  ['sortBy', [[1, '2'], same], 'by gives numbers and texts'],
  ['sortBy', [[{}], same], 'by must give a text, a number or a condition'],
  ['sortBy', [[1], same, 'up'], "direction must be 'ascending' or 'descending'"],
  ['unique', [[1, '1', true, null, 1, null]], [1, '1', true, null]],
  ['unique', [[{ a: 1, b: 2 }, { b: 2, a: 1 }, { a: 1, b: 2, c: null }, [1], [1]]], [{ a: 1, b: 2 }, [1]]],
  ['unique', [['{"a":1}', { a: 1 }]], ['{"a":1}', { a: 1 }]],
  ['groupBy', [[1, null], same], { 1: [1], '': [null] }],
  ['groupBy', [['__proto__'], same], 'by gives a key named __proto__'],
  ['groupBy', [[{}], same], 'by must give a text, a number or a condition'],
  ['countBy', [['__proto__'], same], 'by gives a key named __proto__'],
  ['countBy', [['constructor', 'toString', 'constructor'], same], { constructor: 2, toString: 1 }],
  ['sumBy', [[1, null], same], 1],
  ['sumBy', [[0.1, 0.7, 0.2], same], 1],
  ['sumBy', [['1'], same], 'value must give a number'],
  ['flatten', [[[1, [2]], 3, []]], [1, [2], 3]],
  ['flatten', [[long.slice(1), [1]]], 'list gives a list of more than 10,000 elements'],
  ['range', [3, 3], [3]],
  ['range', [3, 1], []],
  ['range', [0, 10_000], 'to gives a list of more than 10,000 elements'],
  ['range', [-1e300, 1e300], 'to gives a list of more than 10,000 elements'],
  ['concat', [long.slice(1), [1]], 'lists gives a list of more than 10,000 elements'],
  ['chunk', [[], 2], []],
  ['chunk', [[1], 0], 'size must be at least 1'],
  ['filter', [long, same], tooLong],
  ['map', [long, same], tooLong],
  ['reverse', [long], tooLong],
  ['sortBy', [long, same], tooLong],
  ['groupBy', [long, same], tooLong],
  ['keys', [{}], []],
  ['keys', [Object.fromEntries(long.map((i) => [i, i]))], 'object gives a list of more than 10,000 elements'],
  [
    'entries',
    [Object.fromEntries(long.map((i) => [i, i]))],
    'object gives a list of more than 10,000 elements',
  ],
  ['fromEntries', [[{ key: '__proto__', value: 1 }]], 'list gives a key named __proto__'],
  ['fromEntries', [[{ key: 'a' }, { key: 'a', value: 2 }]], { a: 2 }],
  ['fromEntries', [[['a', 1]]], 'list must hold objects with key (a text) and value'],
  ['pick', [{ a: 1 }, ['b', 'constructor', '__proto__']], {}],
  ['omit', [{ a: 1, constructor: 2 }, ['constructor']], { a: 1 }],
  ['merge', [{ a: 1 }, JSON.parse('{"__proto__": {"admin": true}}')], 'objects gives a key named __proto__'],
  ['merge', [{ a: { b: 1 } }, { a: { c: 1 } }], { a: { c: 1 } }],
  ['has', [{ a: null }, 'a'], false],
  ['has', [{ a: 0 }, 'a'], true],
  ['has', [{}, 'toString'], false],
])('%s(%j)', (name, input, expected) => {
  expect(callFunction(name, input)).toEqual(expected)
})

test('an object with keys such as constructor has them as its own', () => {
  const counted = callFunction('countBy', [['constructor'], same])
  expect(Object.entries(Object(counted))).toEqual([['constructor', 1]])
  expect(Object.getPrototypeOf(counted)).toBe(Object.prototype)
})

describe('each element that is looked at costs budget', () => {
  test.each<[string, unknown[], number]>([
    ['filter', [[1, 2, 3], same], 3],
    ['sortBy', [[1, 2, 3], same], 3],
    ['sum', [[1, 2, 3]], 3],
    ['unique', [[1, 2]], 2],
    ['range', [1, 7], 7],
    ['split', ['a,b', ','], 2],
    ['keys', [{ a: 1 }], 1],
    ['contains', [[1, 2], 3], 2],
    ['chunk', [[1, 2, 3], 2], 3],
    ['timesOfDay', ['2026-01-31', '09:00', '10:00', 15], 20 + 4 * 10],
  ])('%s(%j) costs %i', (name, input, expected) => {
    const context = functionContext()
    callFunction(name, input, context)
    expect(context.spent()).toBe(expected)
  })

  test('a budget that is used up ends it before an element is looked at', () => {
    const spend = () => {
      throw new RangeError('used up')
    }
    const look = () => expect.unreachable()
    for (const name of [
      'filter',
      'map',
      'find',
      'some',
      'every',
      'reduce',
      'sortBy',
      'groupBy',
      'countBy',
      'sumBy',
    ])
      expect(() => callFunction(name, [[1], look], functionContext({ spend }))).toThrow(RangeError)
  })
})

test('groups hold every element once, in its order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 5 }), (list, parts) => {
      const by = (value: unknown) => Number(value) % parts
      const groups: [string, unknown][] = Object.entries(Object(callFunction('groupBy', [list, by])))
      for (const [key, items] of groups)
        expect(items).toEqual(list.filter((value) => String(by(value)) === key))
      expect(groups.flatMap(([, items]) => items)).toHaveLength(list.length)
    }),
  )
})

test('sorting is stable, as that of JavaScript is, in both directions', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ key: fc.integer({ min: 0, max: 3 }), id: fc.integer() })), (list) => {
      const key = (item: { key: number }) => item.key
      expect(callFunction('sortBy', [list, key])).toEqual(list.toSorted((a, b) => a.key - b.key))
      expect(callFunction('sortBy', [list, key, 'descending'])).toEqual(
        list.toSorted((a, b) => b.key - a.key),
      )
    }),
  )
})
