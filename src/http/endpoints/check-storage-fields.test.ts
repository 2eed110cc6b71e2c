import { expect, test } from 'vitest'
import { hardPattern, lettersInDisorder } from '../../../test/hard-pattern.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { checkStorageFields, withFieldValues } from './check-storage-fields.ts'

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

const typed = [
  rule('title'),
  rule('price', { type: 'decimal' }),
  rule('ready', { type: 'boolean' }),
  rule('at', { type: 'instant' }),
  rule('born', { type: 'date' }),
  rule('size', { type: 'choice', limits: { choices: ['s', 2] } }),
  rule('tags', { type: 'list', limits: { items: 'integer' } }),
  rule('sizes', { type: 'choices', limits: { choices: ['s', 2] } }),
  rule('place', { type: 'object' }),
]
const form = (body: RunRequest['body'], type = 'application/x-www-form-urlencoded'): RunRequest => ({
  ...{ method: 'POST', url: '/a', headers: { 'content-type': type }, ip: '192.0.2.1', query: {}, path: {} },
  ...{ body, user: undefined },
})

test.each<[string, RunRequest['body'], boolean, RunRequest['body']]>([
  ['numbers', { price: '4.50' }, false, { price: 4.5 }],
  ['what is no number', { price: '4,50' }, false, { price: '4,50' }],
  ['more digits than a number keeps', { price: '9007199254740993' }, false, { price: '9007199254740993' }],
  ['checked boxes', { ready: 'on' }, false, { ready: true }],
  ['conditions', { ready: 'false' }, false, { ready: false }],
  [
    'texts',
    { title: '007', at: '2026-01-31T09:00Z', born: '2026-01-31' },
    false,
    { title: '007', at: '2026-01-31T09:00Z', born: '2026-01-31' },
  ],
  ['Unix seconds', { born: '1767225600' }, false, { born: 1_767_225_600 }],
  ['choices', { size: '2', sizes: ['s', '2'] }, false, { size: 2, sizes: ['s', 2] }],
  ['one of a list', { tags: '1' }, false, { tags: [1] }],
  ['names with brackets', { 'tags[]': ['1', '2'] }, false, { tags: [1, 2], 'tags[]': ['1', '2'] }],
  ['JSON', { tags: '[1,2]', place: '{"a":1}' }, false, { tags: [1, 2], place: { a: 1 } }],
  ['parts that are no text', { tags: [3], place: { a: 1 } }, false, { tags: [3], place: { a: 1 } }],
  ['blanks of a new document', { title: '', price: '', size: ' ' }, false, { title: '' }],
  ['blanks of a change', { title: '', price: '' }, true, { title: '', price: null }],
  ['what is no field', { other: '5' }, false, { other: '5' }],
])('a form is read by the types of the fields: %s', (_what, body, isChange, requested) => {
  expect(withFieldValues(form(body), typed, isChange).body).toEqual(requested)
  const json = form(body, 'application/json')
  expect(withFieldValues(json, typed, isChange)).toBe(json)
})
