import { expect, test } from 'vitest'
import type { JsonValue } from '../../shared/json.ts'
import type { Setting } from '../setting.ts'
import { readSettings } from './read-settings.ts'

const help = 'A setting.'

function read(setting: Setting, value?: JsonValue) {
  return readSettings({ s: setting }, value === undefined ? {} : { s: value })
}

const refusedCases: readonly [Setting, JsonValue | undefined, string][] = [
  [{ kind: 'text', help }, 5, 'must be text'],
  [{ kind: 'text', help, required: true }, undefined, 'is not set'],
  [{ kind: 'text', help, required: true }, '', 'is not set'],
  [{ kind: 'text', help, required: true }, null, 'is not set'],
  [
    { kind: 'storage', help },
    'Tasks!',
    'must be 1 to 63 characters of a–z, 0–9, _ and -, and start with a letter',
  ],
  [{ kind: 'storage', help }, 1, 'must be the name of a storage'],
  [{ kind: 'number', help }, '5', 'must be a number'],
  [{ kind: 'number', help, min: 1 }, 0, 'must be at least 1'],
  [{ kind: 'number', help, max: 9 }, 10, 'must be at most 9'],
  [{ kind: 'switch', help }, 'true', 'must be true or false'],
  [{ kind: 'choice', help, options: ['a', 'b'] }, 'c', 'must be one of a, b'],
  [{ kind: 'names', help }, 'title', 'must be a list of names'],
  [{ kind: 'names', help }, [1], 'must be a list of names'],
  [{ kind: 'names', help }, ['a', 'a'], 'holds "a" twice'],
  [{ kind: 'names', help }, ['a..b'], 'holds "a..b", which has an empty part between dots'],
  [{ kind: 'names', help }, ['__proto__'], 'holds "__proto__", which may not use __proto__'],
  [{ kind: 'names', help }, Array.from({ length: 201 }, (_, at) => `f${at}`), 'must hold at most 200 names'],
  [{ kind: 'names', help, required: true }, [], 'is not set'],
]

test.each(refusedCases)('%j refuses %j', (setting, value, message) => {
  expect(read(setting, value).problems).toEqual([{ setting: 's', message }])
})

const acceptedCases: readonly [Setting, JsonValue | undefined, unknown][] = [
  [{ kind: 'text', help }, undefined, undefined],
  [{ kind: 'text', help, default: 'a' }, undefined, 'a'],
  [{ kind: 'text', help, default: 'a' }, '', 'a'],
  [{ kind: 'text', help, default: 'a' }, 'b', 'b'],
  [{ kind: 'storage', help }, 'tasks', 'tasks'],
  [{ kind: 'number', help, default: 3 }, null, 3],
  [{ kind: 'number', help, min: 0, max: 9 }, 9, 9],
  [{ kind: 'switch', help, default: true }, false, false],
  [{ kind: 'choice', help, options: ['a', 'b'], default: 'a' }, 'b', 'b'],
  [{ kind: 'names', help }, undefined, []],
  [{ kind: 'names', help }, ['title', 'customer.name'], ['title', 'customer.name']],
]

test.each(acceptedCases)('%j reads %j', (setting, value, expected) => {
  expect(read(setting, value)).toEqual({ values: { s: expected }, problems: [] })
})

test('fields without a setting, and what objects inherit, are no settings', () => {
  expect(readSettings({}, { old: 1 })).toEqual({ values: {}, problems: [] })
  expect(readSettings({ toString: { kind: 'text' as const, help } }, {})).toEqual({
    values: { toString: undefined },
    problems: [],
  })
})

test('all problems are told at once', () => {
  const { problems } = readSettings(
    { a: { kind: 'text', help, required: true }, b: { kind: 'switch', help } },
    { b: 1 },
  )
  expect(problems.map(({ setting }) => setting)).toEqual(['a', 'b'])
})
