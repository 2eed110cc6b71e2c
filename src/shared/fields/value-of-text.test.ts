import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import type { FieldType } from './field-type.ts'
import { type DecimalMark, type TextDialect, type TextTarget, valueOfText } from './value-of-text.ts'

type Target = FieldType | TextTarget

function read(target: Target, text: string, decimal: DecimalMark = 'point', dates?: TextDialect['dates']) {
  const dialect = { decimal, ...(dates && { dates }) }
  return valueOfText(typeof target === 'string' ? { type: target } : target, text, dialect)
}

describe('refused', () => {
  test.each<[Target, string, string, DecimalMark?]>([
    ['number', 'abc', 'is not a number'],
    ['number', '1,5', 'is not a number'],
    ['number', '1.5', 'is not a number with a decimal comma', 'comma'],
    ['number', '0x10', 'is not a number'],
    ['number', '1e999', 'is not a number'],
    ['boolean', 'perhaps', 'is neither yes nor no'],
    ['object', '{', 'is not JSON'],
    ['object', '1', 'is not an object or a list'],
    [{ type: 'list', limits: { items: 'integer' } }, '1;x', 'has the item "x", which is not a number'],
  ])('%j %j', (target, text, problem, decimal) => {
    expect(read(target, text, decimal)).toEqual({ problem })
  })
})

test('of a list with more than 10,000 items none is read; as JSON it is', () => {
  const target = { type: 'list', limits: { items: 'integer' } } as const
  expect(valueOfText(target, `1${';1'.repeat(9_999)}`)).toMatchObject({ value: { length: 10_000 } })
  for (const text of [`x${';1'.repeat(10_000)}`, `x${',1'.repeat(10_000)}`, ';'.repeat(10_000)])
    expect(valueOfText(target, text)).toEqual({ problem: 'has more than 10,000 items; write them as JSON' })
  expect(valueOfText(target, JSON.stringify(Array(10_001).fill(1)))).toMatchObject({
    value: { length: 10_001 },
  })
})

test('a long text of digits is refused at once: they were shared out in every way', () => {
  expect(read('number', `${'0'.repeat(1_000_000)}x`)).toEqual({ problem: 'is not a number' })
})

describe('read', () => {
  test.each<[Target, string, JsonValue, DecimalMark?]>([
    ['string', '', null],
    ['number', '  ', null],
    ['string', ' a ', ' a '],
    ['string', '007', '007'],
    ['email', ' ann@example.com ', 'ann@example.com'],
    ['number', '2026', 2026],
    ['number', '1,234.5', 1234.5],
    ['number', '1.234,5', 1234.5, 'comma'],
    ['number', '1.234', 1234, 'comma'],
    ['decimal', '-0,07', -0.07, 'comma'],
    ['integer', '1 000', 1000],
    ['boolean', 'Yes', true],
    ['boolean', '0', false],
    ['boolean', 'Ja', true],
    ['boolean', ' nein ', false],
    ['boolean', 'WAHR', true],
    ['boolean', 'falsch', false],
    ['day', '31.1.2026', '2026-01-31'],
    ['day', '1/31/2026', '1/31/2026'],
    ['instant', '2026-01-31 09:00', '2026-01-31T09:00Z'],
    ['instant', '2026-01-31T09:00+02:00', '2026-01-31T09:00+02:00'],
    ['date', '1769817600', 1_769_817_600],
    [{ type: 'choice', limits: { choices: ['a', 2] } }, '2', 2],
    [{ type: 'choice', limits: { choices: ['2', 3] } }, '2', '2'],
    [{ type: 'choices', limits: { choices: ['a', 2] } }, 'a; 2', ['a', 2]],
    [{ type: 'list', limits: { items: 'number' } }, '1,5; 2', [1.5, 2], 'comma'],
    ['array', '["a;b", 1]', ['a;b', 1]],
    ['array', 'a, b', ['a', 'b']],
    ['object', '{"a":1}', { a: 1 }],
  ])('%j %j', (target, text, value, decimal) => {
    expect(read(target, text, decimal)).toEqual({ value })
  })
})

describe('numbers as accounts, banks and SAP write them', () => {
  test.each<[string, number, DecimalMark?]>([
    ['€ 4', 4],
    ['$1,234.50', 1234.5],
    ['1.234,50 €', 1234.5, 'comma'],
    ['EUR 1.234,50', 1234.5, 'comma'],
    ['12.50 USD', 12.5],
    ['-€5', -5],
    ['-5 €', -5],
    ['€ -5', -5],
    ['(12.50)', -12.5],
    ['($1,234.50)', -1234.5],
    ['12.50-', -12.5],
    ['−7', -7],
    ['19 %', 0.19],
    ['7,5%', 0.075, 'comma'],
    ['1’234.50', 1234.5],
    ['12,34,567.89', 1_234_567.89],
  ])('%s is %d', (text, value, decimal) => {
    expect(read('number', text, decimal)).toEqual({ value })
  })

  test.each(['5 apples', '1 2 3 x', '--5', '(-5)-', '5--', '%', '€', 'EUR', '5 % %', '1e5 %x'])(
    '%s is no number',
    (text) => {
      expect(read('number', text)).toEqual({ problem: 'is not a number' })
    },
  )
})

describe('days as a country writes them', () => {
  test.each<[FieldType, string, string, TextDialect['dates']?]>([
    ['day', '3/4/2026', '2026-04-03', 'dmy'],
    ['day', '3/4/2026', '2026-03-04', 'mdy'],
    ['day', '2026/03/04', '2026-03-04'],
    ['day', '03-04-26', '2026-04-03', 'dmy'],
    ['day', '3.4.2026', '2026-04-03'],
    ['day', '2026-03-04', '2026-03-04', 'dmy'],
    ['day', '3/4/2026', '3/4/2026'],
    ['instant', '3/4/2026 9:05', '2026-04-03T09:05Z', 'dmy'],
    ['instant', '2026-04-03', '2026-04-03T00:00:00Z'],
  ])('%s %s is %s', (type, text, value, dates) => {
    expect(read(type, text, 'point', dates)).toEqual({ value })
  })
})
