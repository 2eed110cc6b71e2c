import { describe, expect, test } from 'vitest'
import { type FieldRule, fieldValueProblem } from './field-rule.ts'
import type { JsonValue } from './json.ts'
import { patternBudget } from './texts/pattern-budget.ts'

const rule = (changes: Partial<FieldRule>): FieldRule => ({
  name: 'f',
  storage: 'tasks',
  type: 'string',
  required: false,
  defaultValue: undefined,
  limits: {},
  ...changes,
})

type Row = readonly [what: string, Partial<FieldRule>, JsonValue | undefined, string | undefined]

const required = 'is required and must not be empty'

describe('a value', () => {
  test.each<Row>([
    ['nothing, required', { required: true }, undefined, required],
    ['null, required', { required: true }, null, required],
    ['blanks, required', { required: true }, ' \n', required],
    ['no items, required', { type: 'array', required: true }, [], required],
    ['no keys, required', { type: 'object', required: true }, {}, required],
    ['false, required', { type: 'boolean', required: true }, false, undefined],
    ['0, required', { type: 'number', required: true }, 0, undefined],
    ['nothing', {}, undefined, undefined],
    ['null', { type: 'number' }, null, undefined],
    ['nothing, everywhere', { required: true, storage: undefined }, undefined, undefined],
    ['blank, everywhere', { required: true, storage: undefined }, '', required],

    ['a number as text', {}, 5, 'must be text'],
    ['text as a number', { type: 'number' }, '5', 'must be a number'],
    ['blank as a number', { type: 'number' }, '', 'must be a number'],
    ['text as a boolean', { type: 'boolean' }, 'true', 'must be true or false'],
    ['a list as an object', { type: 'object' }, [], 'must be an object'],
    ['an object as a list', { type: 'array' }, {}, 'must be a list'],
    ['no date', { type: 'date' }, '31-01-2026', 'must be a date such as 2026-01-31 or 2026-01-31T09:00Z'],
    ['30 February', { type: 'date' }, '2026-02-30', expect.stringContaining('must be a date')],
    ['a date', { type: 'date' }, '2026-01-31', undefined],
    ['Unix seconds', { type: 'date' }, 1_769_817_600, undefined],

    ['below min', { type: 'number', limits: { min: 1 } }, 0, 'must be at least 1'],
    ['at min', { type: 'number', limits: { min: 1 } }, 1, undefined],
    ['above max', { type: 'number', limits: { max: 9 } }, 9.5, 'must be at most 9'],
    [
      'a day early',
      { type: 'date', limits: { min: '2026-01-01' } },
      '2025-12-31',
      'must be at least 2026-01-01',
    ],
    [
      'by zone late',
      { type: 'date', limits: { max: '2026-01-01T00:00Z' } },
      '2026-01-01T00:00-01:00',
      expect.any(String),
    ],

    ['short text', { limits: { min_length: 3 } }, 'ab', 'must have at least 3 characters'],
    ['blank text that may be', { limits: { min_length: 3 } }, '', undefined],
    ['long text', { limits: { max_length: 2 } }, 'abc', 'must have at most 2 characters'],
    ['two emoji', { limits: { max_length: 2 } }, '👍👍', undefined],
    ['many items', { type: 'array', limits: { max_length: 1 } }, [1, 2], 'must have at most 1 items'],

    ['no choice', { limits: { choices: ['a', 'b'] } }, 'c', 'must be one of a, b'],
    ['a choice', { limits: { choices: ['a', 'b'] } }, 'b', undefined],
    ['a number among texts', { type: 'number', limits: { choices: ['1'] } }, 1, 'must be one of 1'],
    ['a list of the same item', { type: 'array', limits: { choices: ['a', 1] } }, ['a', 1, 'a'], undefined],
    ['an item of another type', { type: 'array', limits: { choices: ['1'] } }, ['1', 1], 'may hold only 1'],
    ['an item that is none', { type: 'array', limits: { choices: ['a'] } }, ['a', 'c'], 'may hold only a'],

    ['no match', { limits: { pattern: '^a' } }, 'ba', 'must fit the pattern ^a'],
    ['a match', { limits: { pattern: '^a' } }, 'ab', undefined],
    [
      'text too long to look through',
      { limits: { pattern: 'a' } },
      'a'.repeat(4_001),
      expect.stringContaining('4000'),
    ],
  ])('%s', (_what, changes, value, problem) => {
    expect(fieldValueProblem(rule(changes), value, patternBudget())).toEqual(problem)
  })
})
