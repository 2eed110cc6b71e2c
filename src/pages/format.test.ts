import { expect, test } from 'vitest'
import { formatDate, formatDateTime, formatNumber, formatRelative, readMoment } from './format.ts'

/** Spaces that do not break are spaces. */
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ')

test.each([
  [1234.5, 'en', {}, '1,234.5'],
  [1972, 'en', { useGrouping: 'min2' }, '1972'],
  [12345, 'en', { useGrouping: 'min2' }, '12,345'],
  [1234.5, 'de', {}, '1.234,5'],
  [12, 'de', { style: 'currency', currency: 'EUR' }, '12,00 €'],
  [0.251, 'en', { style: 'percent', maximumFractionDigits: 1 }, '25.1%'],
  [12, 'en', { style: 'currency', currency: 'no such' }, '12'],
] as const)('%d in %s with %j is %s', (number, locale, options, text) => {
  expect(plain(formatNumber(number, locale, options))).toBe(text)
})

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T09:30:00+02:00', '2026-01-31T07:30:00.000Z'],
  [1_769_850_000, '2026-01-31T09:00:00.000Z'],
  [1_769_850_000_000, '2026-01-31T09:00:00.000Z'],
  ['31.1.2026', undefined],
  ['2026-13-45', undefined],
  ['1', undefined],
  [true, undefined],
  [null, undefined],
  [8.7e15, undefined],
])('%j is the moment %s', (value, iso) => {
  expect(readMoment(value)?.toISOString()).toBe(iso)
})

test('dates and moments are written in a time zone, and UTC says so', () => {
  const moment = new Date('2026-01-31T23:30:00Z')
  const zones = ['UTC', 'Europe/Berlin']
  expect(zones.map((zone) => formatDate(moment, 'en', zone))).toEqual(['Jan 31, 2026', 'Feb 1, 2026'])
  expect(formatDate(moment, 'de', 'UTC')).toBe('31.01.2026')
  expect(zones.map((zone) => plain(formatDateTime(moment, 'en', zone)))).toEqual([
    'Jan 31, 2026, 11:30 PM UTC',
    'Feb 1, 2026, 12:30 AM',
  ])
})

test.each([
  [0, 'now'],
  [-90, '1 minute ago'],
  [-3 * 86_400, '3 days ago'],
  [86_400, 'tomorrow'],
  [-400 * 86_400, 'last year'],
])('%d seconds from now is %s', (seconds, text) => {
  const now = Date.UTC(2026, 0, 31)
  expect(formatRelative(new Date(now + seconds * 1000), now, 'en')).toBe(text)
})
