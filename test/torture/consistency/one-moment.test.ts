import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Change, momentProblems, type View } from './one-moment.ts'

type Shown = Readonly<Record<string, string | null>>

const open = Number.POSITIVE_INFINITY
const change = (invoked: number, returned: number, sets: Shown): Change => ({
  name: `change at ${invoked}`,
  invoked,
  returned,
  sets: new Map(Object.entries(sets)),
})
const view = (invoked: number, returned: number, sees: Shown): View => ({
  name: `view at ${invoked}`,
  invoked,
  returned,
  sees: new Map(Object.entries(sees)),
})

test.each<[string, Change[], View[]]>([
  ['an old list', [change(0, 1, { x: '1' })], [view(2, 3, { x: null })]],
  ['a list of the future', [change(4, 5, { x: '1' })], [view(2, 3, { x: '1' })]],
  ['what was never written', [change(0, 1, { x: '1' })], [view(2, 3, { x: '2' })]],
  ['what a failed run wrote', [], [view(2, 3, { x: '1' })]],
  ['half a pair', [change(0, 9, { x: '1', y: '1' })], [view(2, 3, { x: '1', y: null })]],
  [
    'parts of two moments',
    [change(0, 1, { x: '1', y: '1' }), change(2, 3, { x: '2' }), change(4, 5, { y: '2' })],
    [view(0, 9, { x: '1', y: '2' })],
  ],
  ['a list that goes back', [change(0, 9, { x: '1' })], [view(1, 2, { x: '1' }), view(3, 4, { x: null })]],
  [
    'two lists that saw two writes in opposite orders',
    [change(0, 9, { x: '1' }), change(0, 9, { y: '1' })],
    [view(1, 8, { x: '1', y: null }), view(1, 8, { x: null, y: '1' })],
  ],
  ['a deleted document', [change(0, 1, { x: '1' }), change(2, 3, { x: null })], [view(4, 5, { x: '1' })]],
])('%s is found', (_, changes, views) => {
  expect(momentProblems(changes, views)).not.toEqual([])
})

test.each<[string, Change[], View[]]>([
  ['a list before', [change(4, 5, { x: '1' })], [view(2, 3, { x: null })]],
  ['a list after', [change(0, 1, { x: '1' })], [view(2, 3, { x: '1' })]],
  ['a list beside a write, without it', [change(0, 9, { x: '1' })], [view(2, 3, { x: null })]],
  ['a list beside a write, with it', [change(0, 9, { x: '1' })], [view(2, 3, { x: '1' })]],
  [
    'a write without an answer that happened late',
    [change(0, open, { x: '1' })],
    [view(1, 2, { x: null }), view(8, 9, { x: '1' })],
  ],
  ['a write without an answer that never happened', [change(0, open, { x: '1' })], [view(8, 9, { x: null })]],
  ['after a delete', [change(0, 1, { x: '1' }), change(2, 3, { x: null })], [view(4, 5, { x: null })]],
  [
    'a list around the life of a document',
    [change(1, 2, { x: '1' }), change(3, 4, { x: null })],
    [view(0, 9, { x: null })],
  ],
])('%s is fine', (_, changes, views) => {
  expect(momentProblems(changes, views)).toEqual([])
})

/** Every order of everything, with every choice of the changes without an answer. */
function bruteForce(changes: readonly Change[], views: readonly View[]): boolean {
  const orders = (
    left: readonly (Change | View)[],
    now: number,
    state: ReadonlyMap<string, string | null>,
  ): boolean => {
    if (left.every((one) => 'sets' in one && one.returned === open)) return true
    return left.some((one) => {
      const time = Math.max(now, one.invoked)
      if (time > one.returned) return false
      const others = left.filter((other) => other !== one)
      // Changes of one key come in their order.
      if (
        'sets' in one &&
        others.some(
          (other) =>
            'sets' in other &&
            left.indexOf(other) < left.indexOf(one) &&
            [...one.sets.keys()].some((key) => other.sets.has(key)),
        )
      )
        return false
      if ('sets' in one) return orders(others, time, new Map([...state, ...one.sets]))
      const fits = [...one.sees].every(([key, shown]) => (state.get(key) ?? null) === shown)
      return fits && orders(others, time, state)
    })
  }
  return orders([...changes, ...views], Number.NEGATIVE_INFINITY, new Map())
}

/** One to three changes of two keys: together, or x before y. */
const someChanges = fc
  .record({
    start: fc.nat(6),
    lengths: fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4)),
    gap: fc.nat(2),
    last: fc.boolean(),
    count: fc.nat(3),
    pair: fc.boolean(),
  })
  .map(({ start, lengths, gap, last, count, pair }) => {
    const sets: Shown[] = pair
      ? [{ x: '1', y: '1' }, { x: '2', y: '2' }, { x: '3' }]
      : [{ x: '1' }, { y: '1' }, { x: '2' }]
    let time = start
    return sets.slice(0, count).map((one, place) => {
      const from = time
      time += (lengths[place] ?? 0) + gap
      return change(from, last && place === count - 1 ? open : from + (lengths[place] ?? 0), one)
    })
  })
const shown = fc.constantFrom(null, '1', '2')
const someView = fc
  .record({ from: fc.nat(12), length: fc.nat(5), x: shown, y: shown })
  .map(({ from, length, x, y }) => view(from, from + length, { x, y }))

test('it says what trying every order says', () => {
  const found = { true: 0, false: 0 }
  fc.assert(
    fc.property(someChanges, fc.array(someView, { maxLength: 3 }), (changes, views) => {
      const expected = bruteForce(changes, views)
      found[`${expected}`] += 1
      return (momentProblems(changes, views).length === 0) === expected
    }),
    { numRuns: 2_000, seed: 1 },
  )
  expect(Math.min(found.true, found.false)).toBeGreaterThan(100)
})
