import { describe, expect, test, vi } from 'vitest'
import { slowSteps, turnsDuring } from '../../../test/turns-during.ts'
import { atOnce, runCooperatively } from '../cooperative.ts'
import type { FieldLimits } from '../fields/field-limits.ts'
import type { FieldType } from '../fields/field-type.ts'
import { headerLine, recognizedFormat, type TableCell } from './recognized-table.ts'

const rows = (...all: readonly (readonly TableCell[])[]) => all.map((cells, at) => ({ line: at + 1, cells }))
const isField = (text: string) => ['name', 'price', 'due'].includes(text.toLowerCase())

describe('the row that names the columns is', () => {
  test.each<[string, ReturnType<typeof rows>, number | undefined]>([
    ['none of no rows', [], undefined],
    ['the first', rows(['a', 'b'], ['x', 1], ['y', 2]), 1],
    ['the first where all are texts', rows(['a', 'b'], ['x', 'z'], ['y', 'z']), 1],
    [
      'behind a title that is one merged cell',
      rows(['Orders of 2026'], ['a', 'b', 'c'], ['x', 1, 2], ['y', 2, 3]),
      2,
    ],
    [
      'behind a title and a date',
      rows(['Orders', '', ''], ['', '', '1.2.2026'], ['a', 'b', 'c'], ['x', 1, 2]),
      3,
    ],
    [
      'one with names of fields',
      rows(['What', 'How much', 'When'], ['Name', 'Price', 'Due'], ['x', 1, '2026-01-01']),
      2,
    ],
    ['the first, though a value is the name of a field', rows(['a', 'b', 'c'], ['name', 1, 2]), 1],
    [
      'the first with names, though they are years',
      rows(['City', '2025', '2026'], ['x', 1, 2], ['y', 1, 2]),
      1,
    ],
    ['the first where no row fits', rows([1, 2], [3, 4]), 1],
    ['the first of one column', rows(['name'], ['x'], ['y']), 1],
  ])('%s', (_what, all, line) => {
    expect(headerLine(all, isField)).toBe(line)
  })
})

describe('how a column writes its values', () => {
  const of = (type: FieldType, texts: readonly string[], limits: FieldLimits = {}) =>
    atOnce(recognizedFormat({ type, limits }, texts))

  test.each<[FieldType, readonly string[], string | undefined, FieldLimits?]>([
    ['number', ['1.234,56', '12,50 EUR'], 'comma'],
    ['number', ['1,234.56', '$ 7'], 'point'],
    ['number', ['5', '1.234', '1,5'], 'comma'],
    ['number', ['x', '1.234', '12.345.678'], 'comma'],
    ['integer', ['1.234'], 'comma'],
    ['decimal', ['1.234'], 'comma', { places: 2 }],
    ['list', ['1,5; 2'], 'comma', { items: 'number' }],
    ['day', ['3/4/2026', '31/12/2026'], 'dmy'],
    ['day', ['3/4/2026', '12/31/2026'], 'mdy'],
    ['day', ['31.12.2026', '2026-01-31'], 'dmy'],
    ['day', ['26/12/31', '05/06/2'], 'ymd'],
    ['instant', ['12/31/2026 9:05'], 'mdy'],
    ['date', ['31-12-2026'], 'dmy'],
    // One mistake among many.
    ['number', [...Array.from({ length: 20 }, (_, n) => `${n},5`), '1.5'], 'comma'],
  ])('%s %j is %s', (type, texts, format, limits) => {
    expect(of(type, texts, limits)?.format).toBe(format)
  })

  test.each<[FieldType, readonly string[]]>([
    ['number', ['5', '-7', 'x', '']],
    ['number', []],
    ['day', ['2026-01-31', '2026/01/31', 'soon']],
    ['string', ['1.234,5', '3/4/2026']],
    ['boolean', ['1']],
    ['number', ['1'.repeat(5_000)]],
  ])('does not matter for %s %j', (type, texts) => {
    expect(of(type, texts)).toBeUndefined()
  })

  test.each<[FieldType, readonly string[], string, readonly (readonly [string, unknown])[]]>([
    [
      'day',
      ['05/05/2026', '03/04/2026'],
      '03/04/2026',
      [
        ['dmy', '2026-04-03'],
        ['mdy', '2026-03-04'],
      ],
    ],
    [
      'number',
      ['1.234', '5'],
      '1.234',
      [
        ['point', 1.234],
        ['comma', 1234],
      ],
    ],
    [
      'number',
      ['12.50', '12,50'],
      '12.50',
      [
        ['point', 12.5],
        ['comma', null],
      ],
    ],
    [
      'day',
      ['03/04/26'],
      '03/04/26',
      [
        ['dmy', '2026-04-03'],
        ['mdy', '2026-03-04'],
        ['ymd', '2003-04-26'],
      ],
    ],
  ])('is open for %s %j', (type, texts, sample, readings) => {
    const shown = readings.map(([format, value]) => ({ format, value }))
    expect(of(type, texts)).toEqual({ format: undefined, sample, readings: shown })
  })
})

test('other work has its turn while a long column is read', async () => {
  slowSteps()
  const texts = Array.from({ length: 50 }, (_none, n) => `03/04/${1_000 + n}`)
  const read = () => runCooperatively(recognizedFormat({ type: 'day', limits: {} }, texts))
  expect(await turnsDuring(read)).toBeGreaterThan(50)
  vi.restoreAllMocks()
})
