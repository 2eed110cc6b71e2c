import { expect, test } from 'vitest'
import { hardPattern, lettersInDisorder } from '../../../test/hard-pattern.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { checkStorageFields } from './check-storage-fields.ts'

const rule = (name: string, more: Partial<FieldRule> = {}): FieldRule => ({
  name,
  storage: 'tasks',
  type: 'string',
  required: false,
  defaultValue: undefined,
  limits: {},
  ...more,
})
const rules = [
  rule('title', { required: true, limits: { max_length: 5 } }),
  rule('state', { required: true, defaultValue: 'open' }),
  rule('owner.age', { required: true, type: 'number' }),
]

test.each([
  [undefined, false, { title: 'is required and must not be empty' }],
  [
    { title: 'too long', state: 5 },
    false,
    { title: 'must have at most 5 characters', state: 'must be text' },
  ],
  [{ title: 'a', owner: {} }, false, { 'owner.age': 'is required and must not be empty' }],
  [{ title: '' }, true, { title: 'is required and must not be empty' }],
])('%j (partial: %j) lists every bad field', (body, partial, reasons) => {
  expect(() => checkStorageFields(rules, body, partial)).toThrow(
    expect.objectContaining({ code: 'INVALID_BODY', reasons }),
  )
})

test.each([
  [{ title: 'a', unknown: 1 }, false],
  [{ title: 'a', owner: { age: 1 } }, false],
  [{}, true],
])('%j (partial: %j) fits', (body, partial) => {
  expect(() => checkStorageFields(rules, body, partial)).not.toThrow()
})

test('a list is no object', () => {
  expect(() => checkStorageFields(rules, [], false)).toThrow('must be a JSON object')
})

test('the patterns of a request have one budget together, and those of the next request another', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const patterned = names.map((name) => rule(name, { limits: { pattern: hardPattern(75) } }))
  const bodyOf = (...some: string[]) =>
    Object.fromEntries(some.map((name) => [name, `${lettersInDisorder(3_000)}${'a'.repeat(76)}`]))
  const check = (...some: string[]) => checkStorageFields(patterned, bodyOf(...some), true)
  expect(() => check('a')).not.toThrow()
  expect(() => check(...names)).toThrow('f is too long to be held against its pattern')
  expect(() => check('a', 'f')).not.toThrow()
})
