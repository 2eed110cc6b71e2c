import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasIsoDateShape, isSameDay, readIsoDate, wholeDayBounds } from './dates.ts'

const refused = [
  '',
  'foo 1',
  '2026',
  '2026-01',
  '2026-1-1',
  '2026-13-01',
  '2026-02-30',
  '2025-02-29',
  '2026-01-31T25:00',
  '2026-01-31T09',
  '2026-01-31T09:00:00.',
  '2026-01-31T09:00 +02:00',
  '2026-01-31T09:00Zulu',
  '+012026-01-31',
]

const read: [text: string, same: string][] = [
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-01-31T09:00', '2026-01-31T09:00:00.000Z'],
  ['2026-01-31 09:00:30', '2026-01-31T09:00:30.000Z'],
  ['2026-01-31t09:00:30.25z', '2026-01-31T09:00:30.250Z'],
  ['2026-01-31T09:00+02:00', '2026-01-31T07:00:00.000Z'],
  ['2026-01-31T23:30-02:00', '2026-02-01T01:30:00.000Z'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ['0000-01-01', '0000-01-01T00:00:00.000Z'],
]

describe('readIsoDate', () => {
  test.each(refused)('does not take %j', (text) => {
    expect(readIsoDate(text)).toBeUndefined()
  })

  test.each(read)('%s', (text, same) => {
    expect(new Date(readIsoDate(text) ?? Number.NaN).toISOString()).toBe(same)
  })

  test('reads back every date that JavaScript writes with four digits for the year', () => {
    const dates = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(fc.property(dates, (date) => readIsoDate(date.toISOString()) === date.getTime()))
  })
})

test.each([
  ['2026-02-30', true],
  ['2026-01-31T99:00', true],
  ['2026-01-31 and more', true],
  ['2026-01-311', false],
  ['20260131', false],
  ['on 2026-01-31', false],
])('%s has the shape of a date: %s', (text, is) => {
  expect(hasIsoDateShape(text)).toBe(is)
})

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
