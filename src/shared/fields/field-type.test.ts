import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { fieldValueProblem } from '../field-rule.ts'
import type { JsonValue } from '../json.ts'
import { patternBudget } from '../texts/pattern-budget.ts'
import type { FieldLimits } from './field-limits.ts'
import { type FieldType, fieldTypeEntries, fieldTypes } from './field-type.ts'

type Row = readonly [
  type: FieldType,
  limits: FieldLimits,
  fits: readonly JsonValue[],
  doesNot: readonly JsonValue[],
]

const guid = '01900000-0000-7000-8000-000000000001'
const rows: readonly Row[] = [
  ['string', {}, ['a', '', ' '], [1, true, [], {}]],
  ['number', {}, [0, -1.5, 1e300], ['1', '', true]],
  ['boolean', {}, [true, false], ['true', 1, '']],
  ['object', {}, [{}, { a: 1 }], [[], 'x', 1]],
  ['array', {}, [[], [1, 'a', null]], [{}, 'x']],
  ['date', {}, ['2026-01-31', '2026-01-31T09:00Z', 1_769_817_600], ['31.1.2026', '']],
  ['line', { max_length: 3 }, ['', 'ab', 'a b'], ['a\nb', 'a\r', '\n', 'a\u2028', 'a\u0085', 'long', 1]],
  ['long_text', { max_length: 3 }, ['', 'a\nb'], [1, 'long']],
  ['integer', { min: 1 }, [1, 2 ** 53 - 1], [0, 1.5, '1', 2 ** 53]],
  ['decimal', {}, [0, 1.1, -19.99, 0.07, 1_000_000.01], [0.001, 1.005, '1.10', 2 ** 53]],
  ['decimal', { places: 0 }, [1], [1.5]],
  ['decimal', { currency: 'EUR' }, [1.25], [1.255]],
  ['decimal', { currency: 'JPY' }, [5000], [1.5]],
  ['decimal', { currency: 'KWD' }, [1.255], [1.2555]],
  ['decimal', { currency: 'JPY', places: 2 }, [1.25], []],
  ['decimal', { places: 4, max: 9 }, [0.0001], [0.00001, 9.0001]],
  ['day', { min: '2026-01-01' }, ['2026-01-31'], ['2026-02-30', '2026-01-31T09:00Z', '2025-12-31', 1, '']],
  ['instant', {}, ['2026-01-31T09:00:00Z', '2026-01-31T09:00+02:00'], ['2026-01-31', '2026-01-31T09:00', 1]],
  ['instant', { max: '2026-01-01T00:00Z' }, ['2026-01-01T01:00+01:00'], ['2026-01-01T00:00-01:00']],
  ['choice', { choices: ['a', 2] }, ['a', 2], ['b', '2', ['a'], true]],
  ['choices', { choices: ['a', 2], max_length: 2 }, [[], ['a', 2]], ['a', ['b'], ['a', 'a', 'a']]],
  ['email', {}, ['ann@example.com'], ['ann', 'a b@example.com', `${'x'.repeat(320)}@example.com`, '']],
  [
    'url',
    {},
    ['https://example.com/a?b'],
    ['example.com', 'ftp://example.com', 'javascript:alert(1)', 'http://a b'],
  ],
  ['phone', {}, ['+49 30 123456', '(030) 12-34/5'], ['call me', '12', '1'.repeat(21), 30]],
  ['reference', {}, [guid], ['x', 1, '']],
  ['file', {}, [{ guid, name: 'a.txt' }], [{ name: 'a.txt' }, guid, []]],
  ['files', { max_length: 1 }, [[], [{ guid }]], [{ guid }, [guid], [{ guid }, { guid }]]],
  ['autonumber', { start: 1000 }, [0, 1, 1000], [1.5, '1', true]],
  ['created_by', {}, [{ guid: 'u', username: 'ann' }], ['ann', {}]],
  ['changed_by', {}, [{ guid: 'u', username: 'ann' }], ['ann', []]],
  ['list', { items: 'integer' }, [[], [1, 2]], [[1, 'x'], [1.5], [null], 1]],
  ['list', { items: 'day', choices: ['2026-01-01'] }, [['2026-01-01']], [['2026-01-02'], ['x']]],
]

const problemOf = (type: FieldType, limits: FieldLimits, value: JsonValue) =>
  fieldValueProblem(
    { name: 'f', storage: 'tasks', type, required: false, defaultValue: undefined, limits },
    value,
    patternBudget(),
  )

describe.each(rows)('%s %j', (type, limits, fits, doesNot) => {
  test('takes what fits, and null', () => {
    for (const value of [...fits, null])
      expect([value, problemOf(type, limits, value)]).toEqual([value, undefined])
  })

  test('refuses what does not', () => {
    for (const value of doesNot)
      expect([value, problemOf(type, limits, value)]).toEqual([
        value,
        expect.stringMatching(/^(?:must|may|has) /),
      ])
  })
})

test('every type is tried', () => {
  expect(new Set(rows.map(([type]) => type))).toEqual(new Set(fieldTypes))
})

test('docs/data.md has each type with its limits', async () => {
  const page = await readFile(new URL('../../../docs/data.md', import.meta.url), 'utf8')
  for (const type of fieldTypes) {
    const { label, limits } = fieldTypeEntries[type]
    const row = page.split('\n').find((line) => line.startsWith(`| \`${type}\` | ${label}`))
    expect(row?.split('|').at(-2)?.trim()).toBe(limits.map((limit) => `\`${limit}\``).join(', '))
  }
})

test('a type needs only limits that it has', () => {
  for (const { needs, limits } of Object.values(fieldTypeEntries))
    if (needs !== undefined) expect(limits).toContain(needs)
})

test('a long text of times is refused at once: each time was read to the end', () => {
  expect(problemOf('instant', {}, '00:00'.repeat(200_000))).toContain('must be a time with a time zone')
})

test('a list of one type has at most 10,000 items, and one of anything as many as a document can hold', () => {
  const days = Array.from({ length: 10_001 }, () => '2026-01-31')
  expect(problemOf('list', { items: 'day' }, days)).toBe('must have at most 10000 items')
  expect(problemOf('list', { items: 'day' }, days.slice(1))).toBeUndefined()
  expect(problemOf('array', {}, days)).toBeUndefined()
})

test('an item that does not fit is counted', () => {
  expect(problemOf('list', { items: 'email' }, ['ann@example.com', 'x'])).toBe(
    'has an item 2 that must be an e-mail address such as ann@example.com',
  )
})
