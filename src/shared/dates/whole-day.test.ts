import { expect, test } from 'vitest'
import { isSameDay, wholeDayBounds } from './whole-day.ts'

test.each([
  ['2026-03-31', '2026-03-31T10:00:00Z', true],
  ['2026-03-31T23:59:59.999Z', '2026-03-31', true],
  ['2026-03-31', '2026-04-01T00:00:00Z', false],
  ['2026-03-31', '2026-03-31', false],
  ['2026-03-3', '2026-03-31T10:00:00Z', false],
  ['2026-03-31', '2026-03-31é', false],
])('%s and %s are of one day: %s', (a, b, expected) => {
  expect(isSameDay(a, b)).toBe(expected)
})

test.each([
  [
    { gte: '2026-03-01', lte: '2026-03-31' },
    { gte: '2026-03-01', lt: '2026-03-31U' },
  ],
  [{ gt: '2026-03-31' }, { gte: '2026-03-31U' }],
  [{ lt: '2026-03-31', lte: '2026-04-30' }, { lt: '2026-03-31' }],
  [{ gte: '2026-05-01', gt: '2026-03-31' }, { gte: '2026-05-01' }],
  [
    { lte: '2026-03-31T10:00:00Z', gt: 'a' },
    { lte: '2026-03-31T10:00:00Z', gt: 'a' },
  ],
  [
    { gte: 1, lte: 5 },
    { gte: 1, lte: 5 },
  ],
])('%j asks for %j', (bounds, expected) => {
  expect(wholeDayBounds(bounds)).toEqual(expected)
})
