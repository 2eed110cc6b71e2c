import { describe, expect, test } from 'vitest'
import type { FieldRule } from '../field-rule.ts'
import type { JsonValue } from '../json.ts'
import { convertedValue } from './converted-value.ts'
import type { FieldLimits } from './field-limits.ts'
import type { FieldType } from './field-type.ts'

const zone = { timeZone: 'Europe/Riga', renamedValues: [] }

function converted(type: FieldType, value: JsonValue, limits: FieldLimits = {}) {
  const rule: FieldRule = {
    ...{ name: 'f', storage: 's', type, limits },
    ...{ required: false, defaultValue: undefined },
  }
  return convertedValue(rule, value, zone)
}

describe('what does not fit stays as it is, with the reason', () => {
  test.each<[FieldType, JsonValue, FieldLimits?]>([
    ['number', 'twelve'],
    ['number', '12 €'],
    ['number', '50 %'],
    ['number', '9007199254740993'],
    ['number', '0.1234567890123456789'],
    ['number', [1, 2]],
    ['number', { a: 1 }],
    ['integer', '7.5'],
    ['decimal', '12.345', { places: 2 }],
    ['number', '12', { max: 10 }],
    ['boolean', 'perhaps'],
    ['boolean', 2],
    ['string', ['a', 'b']],
    ['string', { a: 1 }],
    ['string', 'abcd', { max_length: 3 }],
    ['day', 'soon'],
    ['day', '2026-02-30'],
    ['instant', '25:00'],
    ['choice', 'c', { choices: ['a', 'b'] }],
    ['choices', ['a', 'c'], { choices: ['a', 'b'] }],
    ['list', ['1', 'x'], { items: 'integer' }],
    ['email', 'ann'],
    ['reference', 'a'],
  ])('%s: %j', (type, value, limits) => {
    expect(converted(type, value, limits)).toEqual({ problem: expect.any(String) })
  })
})

describe('converted', () => {
  test.each<[FieldType, JsonValue, JsonValue, FieldLimits?]>([
    ['number', '12', 12],
    ['number', ' 7.50 ', 7.5],
    ['number', '1,234.5', 1234.5],
    ['number', '', null],
    ['number', '  ', null],
    ['number', true, 1],
    ['number', ['3'], 3],
    ['number', [], null],
    ['decimal', '0.10', 0.1, { places: 2 }],
    ['integer', '-5', -5],
    ['string', 12, '12'],
    ['string', 0.1, '0.1'],
    ['string', false, 'false'],
    ['string', ['only'], 'only'],
    ['boolean', 'yes', true],
    ['boolean', '0', false],
    ['boolean', 1, true],
    ['day', '31.01.2026', '2026-01-31'],
    // 23:30 in UTC is the next day in Riga.
    ['day', '2026-01-31T23:30:00Z', '2026-02-01'],
    ['day', 1769902200, '2026-02-01'],
    ['instant', '2026-01-31', '2026-01-30T22:00:00.000Z'],
    ['instant', '2026-01-31T09:00', '2026-01-31T07:00:00.000Z'],
    ['instant', '31.1.2026 9:05', '2026-01-31T07:05:00.000Z'],
    ['instant', '2026-01-31T09:00:00+01:00', '2026-01-31T09:00:00+01:00'],
    ['instant', 1769850000, '2026-01-31T09:00:00.000Z'],
    ['date', '31.01.2026', '2026-01-31'],
    ['choice', 'B', 'B', { choices: ['A', 'B'] }],
    ['choice', '2', 2, { choices: [1, 2] }],
    ['choice', ['a'], 'a', { choices: ['a'] }],
    ['choices', 'a', ['a'], { choices: ['a', 'b'] }],
    ['choices', 'a; b', ['a', 'b'], { choices: ['a', 'b'] }],
    ['list', 'Smith, John', ['Smith, John'], { items: 'string' }],
    ['list', '["a","b"]', ['a', 'b'], { items: 'string' }],
    ['list', ['1', '2'], [1, 2], { items: 'integer' }],
    ['array', 5, [5]],
    ['email', ' ann@example.com ', 'ann@example.com'],
  ])('%s: %j', (type, value, requested, limits) => {
    expect(converted(type, value, limits)).toEqual({ value: requested })
  })
})

test('a choice that has another name, also in a list', () => {
  const rule: FieldRule = {
    ...{ name: 'f', storage: 's', type: 'choice', limits: { choices: ['opened', 'done'] } },
    ...{ required: false, defaultValue: undefined },
  }
  const renamed = { ...zone, renamedValues: [{ from: 'open', to: 'opened' }] }
  expect(convertedValue(rule, 'open', renamed)).toEqual({ value: 'opened' })
  expect(convertedValue(rule, 'done', renamed)).toEqual({ value: 'done' })
  expect(convertedValue(rule, 'lost', renamed)).toEqual({ problem: expect.stringContaining('one of') })
  const several: FieldRule = { ...rule, type: 'choices' }
  expect(convertedValue(several, ['open', 'done'], renamed)).toEqual({ value: ['opened', 'done'] })
})
