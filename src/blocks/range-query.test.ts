import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noon } from '../../test/run-block.ts'
import type { JsonValue } from '../shared/json.ts'
import { matches } from '../storage/search/evaluate-query.ts'
import { rangeQuery } from './range-query.ts'

type Bound = 'gte' | 'gt' | 'lte' | 'lt'

function holds(bounds: { readonly [name in Bound]?: JsonValue }, due: JsonValue): boolean {
  const query = rangeQuery('due', bounds, noon)
  return query === undefined || matches(query, { due })
}

const within: Readonly<Record<Bound, (time: number, bound: number) => boolean>> = {
  gte: (time, bound) => time >= bound,
  gt: (time, bound) => time > bound,
  lte: (time, bound) => time <= bound,
  lt: (time, bound) => time < bound,
}

/** How documents spell an instant: Unix seconds, and ISO text as long as it has to be, or longer. */
function spellings(time: number): JsonValue[] {
  const full = new Date(time).toISOString()
  const all: JsonValue[] = [time / 1000, full]
  if (time % 1000 === 0) all.push(full.replace('.000Z', 'Z'))
  if (full.endsWith('T00:00:00.000Z')) all.push(full.slice(0, 10))
  return all
}

const DAY = 86_400_000
const day = fc.integer({ min: 19_000, max: 19_003 }).map((days) => days * DAY)
const second = fc.integer({ min: 0, max: 3 }).map((seconds) => 19_000 * DAY + seconds * 1000)
const instant = fc.oneof(
  day,
  second,
  day.map((time) => time - 1000),
)
const bound = fc.constantFrom<Bound>('gte', 'gt', 'lte', 'lt')

describe('rangeQuery', () => {
  test('is right for every spelling of an instant on a whole second', () => {
    fc.assert(
      fc.property(bound, instant, instant, (name, asked, stored) => {
        const input = new Date(asked).toISOString()
        for (const spelling of spellings(stored))
          expect([spelling, holds({ [name]: input }, spelling)]).toEqual([
            spelling,
            within[name](stored, asked),
          ])
      }),
    )
  })

  test('is right to the millisecond for text with milliseconds and for Unix seconds', () => {
    const fine = fc.integer({ min: 1, max: 999 }).map((milliseconds) => 19_000 * DAY + milliseconds)
    fc.assert(
      fc.property(bound, fine, fine, (name, asked, stored) => {
        const input = new Date(asked).toISOString()
        expect(holds({ [name]: input }, new Date(stored).toISOString())).toBe(within[name](stored, asked))
        expect(holds({ [name]: input }, stored / 1000)).toBe(within[name](stored, asked))
      }),
    )
  })

  test.each<[string, Parameters<typeof holds>[0], JsonValue, boolean]>([
    ['text does not find a number by its spelling', { gte: 'a' }, 5, false],
    ['text that spells a number finds numbers', { gte: '5', lt: '10' }, 7, true],
    ['and text', { gte: '10', lt: '5' }, '3', true],
    ['but a number finds no text', { gte: 5 }, '7', false],
    ['a date finds no boolean', { gte: '2026-01-01' }, true, false],
    ['nor what is missing', { gte: '2026-01-01' }, null, false],
    ['one item of a list is enough', { gte: 5, lt: 7 }, [1, 6], true],
    ['but one item must be within all bounds', { gte: 5, lt: 7 }, [1, 9], false],
    ['to a day includes that day', { lte: '2026-01-31' }, '2026-01-31T10:00:00Z', true],
    ['to a day includes the day itself', { lte: '2026-01-31' }, '2026-01-31', true],
    ['to a day includes its seconds', { lte: '2026-01-31' }, Date.UTC(2026, 0, 31, 23, 59, 59) / 1000, true],
    ['to a day is not the next one', { lte: '2026-01-31' }, '2026-02-01', false],
    ['before a day is not that day', { lt: '2026-01-31' }, '2026-01-31T00:00:00Z', false],
    ['after a day is not that day', { gt: '2026-01-31' }, '2026-01-31T10:00:00Z', false],
    ['after a day is the next one', { gt: '2026-01-31' }, '2026-02-01T00:00:00Z', true],
    ['to an instant is that instant', { lte: '2026-01-31T00:00:00Z' }, '2026-01-31T10:00:00Z', false],
    ['until today includes today', { lte: 'now/d' }, '2026-01-31T23:59:59.999Z', true],
    ['to its last second', { lte: 'now/d' }, '2026-01-31T23:59:59Z', true],
    ['and not tomorrow', { lte: 'now/d' }, '2026-02-01', false],
    ['after today is not today', { gt: 'now/d' }, '2026-01-31T23:59:59Z', false],
    ['after today is tomorrow', { gt: 'now/d' }, '2026-02-01', true],
    ['before today is not today', { lt: 'now/d' }, '2026-01-31', false],
  ])('%s', (_name, bounds, due, is) => {
    expect(holds(bounds, due)).toBe(is)
  })
})
