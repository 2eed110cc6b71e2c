import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numberInText, readDate, readDuration } from './scalar-values.ts'

test.each([
  'foo 1',
  '',
  '2026',
  '2026-1-1',
  '2026-13-01',
  '2026-02-30',
  '2025-02-29',
  '2026-01-31T24:30Z',
  '2026-01-31T09',
  '2026-01-31T09:00:00+0200',
  '2026-01-31T09:00:00+99:00',
  '31-01-2026',
  '1700000000',
  Number.NaN,
  Number.POSITIVE_INFINITY,
  9e15,
  true,
  null,
  {},
  new Date(Number.NaN),
])('%j is no date', (value) => {
  expect(readDate(value)).toBeUndefined()
})

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  [' 2024-02-29 ', '2024-02-29T00:00:00.000Z'],
  ['2026-01-31T09:30', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31 09:30:15', '2026-01-31T09:30:15.000Z'],
  ['2026-01-31T09:30:15.123456Z', '2026-01-31T09:30:15.123Z'],
  ['2026-01-31t09:30:15z', '2026-01-31T09:30:15.000Z'],
  ['2026-01-31T09:30:15+02:00', '2026-01-31T07:30:15.000Z'],
  [0, '1970-01-01T00:00:00.000Z'],
  [-1.5, '1969-12-31T23:59:58.500Z'],
  [1769850000, '2026-01-31T09:00:00.000Z'],
  [1769850000123, '2026-01-31T09:00:00.123Z'],
  [new Date('2026-01-31T09:00:00Z'), '2026-01-31T09:00:00.000Z'],
])('%j is %s', (value, expected) => {
  expect(readDate(value)?.toISOString()).toBe(expected)
})

test('what a date is written as reads back as the same moment', () => {
  const dates = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  })
  fc.assert(fc.property(dates, (date) => readDate(date.toISOString())?.getTime() === date.getTime()))
})

test.each(['', ' ', '-1', '1.5h', '5 min', '5M', '1w', 'm', '1d2h', '99999999999', '5  m'])(
  '%j is no duration',
  (text) => {
    expect(readDuration(text)).toBeUndefined()
  },
)

test.each([
  ['0', 0],
  ['90', 90_000],
  ['30s', 30_000],
  [' 5 m ', 300_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
])('%j is %d ms', (text, milliseconds) => {
  expect(readDuration(text)).toBe(milliseconds)
})

describe('numberInText', () => {
  test.each([
    '',
    ' ',
    ' 5',
    '5 ',
    '+5',
    '05',
    '007',
    '.5',
    '5.',
    '1e',
    '0x10',
    '1_000',
    '1,000',
    'NaN',
    'Infinity',
    '1e999',
    '--1',
  ])('%j is only text', (text) => {
    expect(numberInText(text)).toBeUndefined()
  })

  test.each(['9007199254740992', '-9007199254740993', '4111111111111111222', '1e20'])(
    '%s is a whole number that would be rounded',
    (text) => {
      expect(numberInText(text)).toBeUndefined()
    },
  )

  test.each([
    ['0', 0],
    ['-0.5', -0.5],
    ['10.50', 10.5],
    ['5e3', 5000],
    ['1E-2', 0.01],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('%s is %d', (text, number) => {
    expect(numberInText(text)).toBe(number)
  })

  test('reads every number as JSON does', () => {
    const numbers = fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, min: -1e9, max: 1e9 }))
    fc.assert(fc.property(numbers, (number) => numberInText(JSON.stringify(number)) === number))
  })
})
