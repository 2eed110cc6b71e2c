import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canConvert, type PinType, pinTypes } from '../../shared/pin-type.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { PinError } from '../block.ts'
import type { InPin } from '../pin.ts'
import { converterFor, finishPin, identity } from './convert-pin.ts'

const help = 'A pin.'

function convert(pin: Omit<InPin, 'help'>, value: unknown, from: PinType = 'any'): unknown {
  return converterFor('p', { help, ...pin }, from)(value)
}

/** The message of the PinError; anything else that happens fails the test. */
function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (!(error instanceof PinError)) throw error
    expect(error.pin).toBe('p')
    return error.message
  }
  throw new Error('It was not refused.')
}

const deep = '['.repeat(65) + ']'.repeat(65)

const refusedCases: readonly [Omit<InPin, 'help'>, unknown, string][] = [
  [{ type: 'value' }, {}, 'must be text'],
  [{ type: 'value' }, ['a'], 'must be text'],
  [{ type: 'value' }, new StoredJson('{"a":1}'), 'must be text'],
  [{ type: 'value', choices: ['asc', 'desc'] }, 'up', 'must be one of asc, desc'],
  [{ type: 'line' }, 'a\nb', 'must be one line without line breaks and other control characters'],
  [{ type: 'line' }, {}, 'must be text'],
  [{ type: 'number' }, 'abc', 'must be a number'],
  [{ type: 'number' }, '0x10', 'must be a number'],
  [{ type: 'number' }, '1e999', 'must be a number'],
  [{ type: 'number' }, '12px', 'must be a number'],
  [{ type: 'number' }, '1,5', 'must be a number'],
  [{ type: 'number' }, 'Infinity', 'must be a number'],
  [{ type: 'number' }, '.', 'must be a number'],
  [{ type: 'number' }, '  ', 'must be a number'],
  [{ type: 'number' }, `${'1'.repeat(100_000)}x`, 'must be a number'],
  [{ type: 'number' }, Number.NaN, 'must be a number'],
  [{ type: 'number' }, [1], 'must be a number'],
  [{ type: 'number', min: 0 }, -1, 'must be a number of at least 0'],
  [{ type: 'number', max: 2.5 }, 3, 'must be a number of at most 2.5'],
  [{ type: 'number', integer: true }, 1.5, 'must be a whole number'],
  [{ type: 'number', integer: true }, 2 ** 60, 'must be a whole number'],
  [{ type: 'number', min: 0, max: 10_000, integer: true }, 'abc', 'must be a whole number from 0 to 10,000'],
  [
    { type: 'number', min: 0, max: 10_000, integer: true },
    '10001',
    'must be a whole number from 0 to 10,000',
  ],
  [{ type: 'condition' }, 'maybe', 'must be true or false'],
  [{ type: 'condition' }, '5', 'must be true or false'],
  [{ type: 'condition' }, {}, 'must be true or false'],
  [{ type: 'object' }, 'no json', 'must be an object'],
  [{ type: 'object' }, '[1]', 'must be an object'],
  [{ type: 'object' }, '{"__proto__":{"admin":true}}', 'must be an object'],
  [{ type: 'object' }, '[{}]', 'must be an object'],
  [{ type: 'object' }, ' {', 'must be an object'],
  [{ type: 'object' }, [1], 'must be an object'],
  [{ type: 'object' }, new Date(0), 'must be an object'],
  [{ type: 'object' }, 5, 'must be an object'],
  [{ type: 'object', raw: true }, new StoredJson('[1]'), 'must be an object'],
  [{ type: 'array' }, '[1', 'must be a list'],
  [{ type: 'array' }, deep, 'must be a list'],
  [{ type: 'date' }, 'foo 1', 'must be a date, such as 2026-01-31 or 2026-01-31T09:00:00Z'],
  [{ type: 'document' }, 'text', 'must be a document'],
  [{ type: 'documents' }, {}, 'must be a list of documents'],
  [{ type: 'documents', raw: true }, new StoredJson('{}'), 'must be a list of documents'],
  [{ type: 'user' }, 'me', 'must be a user'],
  [{ type: 'file' }, 'a.txt', 'must be a file'],
  [{ type: 'function' }, 5, 'must be the name of a function'],
  [{ type: 'storage' }, {}, 'must be the name of a storage'],
  ...[{ field: 'due' }, '', ' ', 'a..b', 'a"b', '__proto__ desc', 5].map(
    (value): (typeof refusedCases)[number] => [
      { type: 'sort' },
      value,
      'must be names of fields, such as due or country, amount desc',
    ],
  ),
]

test.each(refusedCases)('%j refuses %j: %s', (pin, value, message) => {
  expect(refusal(() => convert(pin, value))).toBe(message)
})

const noon = new Date('2026-01-31T12:00:00.500Z')

const acceptedCases: readonly [Omit<InPin, 'help'>, unknown, unknown][] = [
  [{ type: 'value' }, 'a', 'a'],
  [{ type: 'value' }, '', ''],
  [{ type: 'value' }, 1.5, '1.5'],
  [{ type: 'value' }, false, 'false'],
  [{ type: 'value' }, noon, '2026-01-31T12:00:00.500Z'],
  [{ type: 'value', choices: ['1', '2'] }, 2, '2'],
  [{ type: 'number' }, ' 12 ', 12],
  [{ type: 'number' }, '-1.5', -1.5],
  [{ type: 'number' }, '+.5', 0.5],
  [{ type: 'number' }, '1e3', 1000],
  [{ type: 'number' }, '007', 7],
  [{ type: 'number' }, true, 1],
  [{ type: 'number' }, false, 0],
  [{ type: 'number' }, noon, 1769860800],
  [{ type: 'number', min: 0, max: 10, integer: true }, '10', 10],
  [{ type: 'condition' }, ' Yes ', true],
  [{ type: 'condition' }, 'on', true],
  [{ type: 'condition' }, '0', false],
  [{ type: 'condition' }, 'off', false],
  [{ type: 'condition' }, 0, false],
  [{ type: 'condition' }, 5, true],
  [{ type: 'object' }, '{"a":1}', { a: 1 }],
  [{ type: 'object' }, '\n {"a":1} ', { a: 1 }],
  [{ type: 'object' }, new StoredJson('{"a":1}'), { a: 1 }],
  [{ type: 'array' }, '[1,2]', [1, 2]],
  [{ type: 'array' }, 'a,b', ['a,b']],
  [{ type: 'array' }, 0, [0]],
  [{ type: 'array' }, { a: 1 }, [{ a: 1 }]],
  [{ type: 'array' }, noon, ['2026-01-31T12:00:00.500Z']],
  [{ type: 'array' }, new StoredJson('[{"a":1}]'), [{ a: 1 }]],
  [{ type: 'array', raw: true }, new StoredJson('{"a":1}'), [{ a: 1 }]],
  [{ type: 'date' }, '2026-01-31', new Date('2026-01-31T00:00:00Z')],
  [{ type: 'document' }, new StoredJson('{"a":1}'), { a: 1 }],
  [{ type: 'documents' }, new StoredJson('[{"a":1}]'), [{ a: 1 }]],
  [{ type: 'any' }, new StoredJson('[null]'), [null]],
  [{ type: 'any' }, noon, '2026-01-31T12:00:00.500Z'],
  [{ type: 'any' }, '', ''],
  [{ type: 'any' }, null, null],
  [{ type: 'storage' }, 'tasks', 'tasks'],
  [{ type: 'query' }, { kind: 'all' }, { kind: 'all' }],
  [{ type: 'sort' }, 'due', { field: 'due', order: 'asc', missing: 'last' }],
  [{ type: 'sort' }, ' _meta.created  desc ', { field: '_meta.created', order: 'desc', missing: 'last' }],
  [{ type: 'sort' }, 'first name asc', { field: 'first name', order: 'asc', missing: 'last' }],
  [{ type: 'sort' }, 'desc', { field: 'desc', order: 'asc', missing: 'last' }],
]

test.each(acceptedCases)('%j turns %j into %j', (pin, value, expected) => {
  expect(convert(pin, value)).toEqual(expected)
})

test('raw pins get stored JSON as it is', () => {
  const one = new StoredJson('{"a":1}')
  for (const type of ['document', 'object', 'any'] as const)
    expect(convert({ type, raw: true }, one)).toBe(one)
  const list = new StoredJson('[{"a":1}]')
  for (const type of ['documents', 'array', 'any'] as const)
    expect(convert({ type, raw: true }, list)).toBe(list)
})

describe('empty', () => {
  test.each(pinTypes.filter((type) => type !== 'any' && type !== 'flow'))('%s: undefined', (type) => {
    expect(convert({ type }, undefined)).toBeUndefined()
  })
  test.each(['value', 'number', 'condition', 'object', 'array', 'date', 'document'] as const)(
    '%s: null',
    (type) => {
      expect(convert({ type }, null)).toBeUndefined()
    },
  )
  test.each(['number', 'condition', 'object', 'array', 'date'] as const)('%s: the empty text', (type) => {
    expect(convert({ type }, '')).toBeUndefined()
  })
  test('the empty text where a default stands ready, whatever the wire', () => {
    expect(convert({ type: 'value', default: 'GET' }, '')).toBeUndefined()
    expect(convert({ type: 'value', default: 'GET' }, '', 'value')).toBeUndefined()
    expect(convert({ type: 'any', default: 'x' }, '', 'value')).toBeUndefined()
  })
})

describe('identity, so that the compiler can leave the converter out', () => {
  test.each([
    ['value', 'value', {}],
    ['number', 'number', {}],
    ['number', 'number', { default: 5 }],
    ['condition', 'condition', {}],
    ['date', 'date', {}],
    ['user', 'user', {}],
    ['query', 'query', {}],
    ['mutations', 'mutations', {}],
    ['connection', 'connection', {}],
    ['any', 'value', {}],
    ['any', 'documents', { raw: true }],
    ['any', 'any', { raw: true }],
    ['documents', 'documents', { raw: true }],
  ] as const)('%s from %s %j', (to, from, more) => {
    expect(converterFor('p', { type: to, help, ...more }, from)).toBe(identity)
  })
  test.each([
    ['value', 'value', { default: 'a' }],
    ['value', 'value', { choices: ['a'] }],
    ['number', 'number', { min: 1 }],
    ['number', 'number', { integer: true }],
    ['number', 'value', {}],
    ['document', 'document', {}],
    ['object', 'object', {}],
    ['any', 'any', {}],
    ['any', 'date', { raw: true }],
  ] as const)('not %s from %s %j', (to, from, more) => {
    expect(converterFor('p', { type: to, help, ...more }, from)).not.toBe(identity)
  })
})

const finishCases: readonly [Omit<InPin, 'help'>, unknown, unknown][] = [
  [{ type: 'value' }, undefined, undefined],
  [{ type: 'value', default: 'GET' }, undefined, 'GET'],
  [{ type: 'value', default: '' }, undefined, ''],
  [{ type: 'value', default: 'GET' }, 'POST', 'POST'],
  [{ type: 'number', default: 0 }, undefined, 0],
  [{ type: 'condition', default: false }, undefined, false],
  [{ type: 'condition', default: true }, false, false],
  [{ type: 'date', default: '2026-01-31' }, undefined, new Date('2026-01-31')],
  [{ type: 'object', default: '{}' }, undefined, {}],
  [{ type: 'value', required: true }, '', ''],
  [{ type: 'any', required: true }, null, null],
  [{ type: 'query', several: true }, undefined, []],
  [{ type: 'value', several: true }, [undefined, 'a', undefined, 'b'], ['a', 'b']],
]

test.each(finishCases)('finishes %j with %j: %j', (pin, value, expected) => {
  expect(finishPin('p', { help, ...pin }, value)).toEqual(expected)
})

test.each([
  { type: 'value', required: true },
  { type: 'query', required: true, several: true },
] as const)('an empty required pin is refused: %j', (pin) => {
  expect(refusal(() => finishPin('p', { help, ...pin }, undefined))).toBe('is empty')
})

test('whatever comes, a pin gets what its type promises, or a PinError', () => {
  const promised: Partial<Record<PinType, (value: unknown) => boolean>> = {
    value: (value) => typeof value === 'string',
    number: (value) => typeof value === 'number' && Number.isFinite(value),
    condition: (value) => typeof value === 'boolean',
    object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    array: (value) => Array.isArray(value),
    date: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  }
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.string(),
    fc.double(),
    fc.date({ noInvalidDate: true }),
    fc.jsonValue().map((value) => new StoredJson(JSON.stringify(value))),
  )
  const types = Object.keys(promised).filter((type): type is PinType => canConvert('any', type as PinType))
  fc.assert(
    fc.property(fc.constantFrom(...types), anything, (type, value) => {
      try {
        const converted = convert({ type }, value)
        return converted === undefined || promised[type]?.(converted) === true
      } catch (error) {
        return error instanceof PinError
      }
    }),
    { numRuns: 2000 },
  )
})
