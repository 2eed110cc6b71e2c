import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import type { FieldType } from './field-type.ts'
import { type DecimalMark, type TextTarget, valueOfText } from './value-of-text.ts'

type Target = FieldType | TextTarget

function read(target: Target, text: string, decimal?: DecimalMark) {
  return valueOfText(typeof target === 'string' ? { type: target } : target, text, decimal)
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
