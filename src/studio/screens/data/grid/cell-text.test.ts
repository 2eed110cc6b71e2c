import { describe, expect, test } from 'vitest'
import { cellText, copiedText } from './cell-text.ts'
import type { CellKind } from './grid-column.ts'

const decimal = { type: 'decimal', validation_rules: { places: 2 } }

function shown(kind: CellKind, value: unknown, field?: typeof decimal) {
  return cellText({ kind, field }, value, new Map([['g', 'Ann']]))
}

describe('what a cell shows', () => {
  test.each<[CellKind, unknown, string]>([
    ['text', undefined, ''],
    ['text', null, ''],
    ['text', 'x'.repeat(1_000), 'x'.repeat(300)],
    ['number', 2026, '2026'],
    ['number', 12_345.5, '12,345.5'],
    ['number', 'no number', 'no number'],
    ['day', '2026-01-31', 'Jan 31, 2026'],
    ['day', 'soon', 'soon'],
    ['seconds', 12, '12'],
    ['reference', 'g', 'Ann'],
    ['reference', '01900000-0000-7000-8000-000000000001', '01900000'],
    ['choices', ['a', 'b'], 'a, b'],
    ['person', { guid: 'u', username: 'ann' }, 'ann'],
    ['json', { a: 1 }, '{"a":1}'],
    ['json', ['a', 1, true], 'a, 1, true'],
    ['json', [{ a: 1 }], '[{"a":1}]'],
  ])('%s %j: %s', (kind, value, text) => {
    expect(shown(kind, value).text).toBe(text)
  })

  test('a decimal has all of its places, and its exact value when it is pointed at', () => {
    expect(shown('number', 12_345.5, decimal)).toEqual({ text: '12,345.50', exact: '12345.5' })
  })

  test('money is shown in its currency, and copied as the number that is stored', () => {
    const money = { type: 'decimal', validation_rules: { currency: 'EUR' } }
    expect(cellText({ kind: 'number', field: money }, 1234.5)).toEqual({
      text: '€1,234.50',
      exact: '1234.5',
    })
    expect(copiedText(1234.5)).toBe('1234.5')
  })

  test('an instant tells what is stored when it is pointed at', () => {
    expect(shown('instant', '2026-01-31T09:00:00Z').exact).toBe('2026-01-31T09:00:00Z')
  })
})

test.each([
  [undefined, ''],
  [null, ''],
  [12_345.5, '12345.5'],
  [true, 'true'],
  ['a\tb', 'a\tb'],
  [['a'], '["a"]'],
])('%j is copied as %j', (value, text) => {
  expect(copiedText(value)).toBe(text)
})
