import { expect, test } from 'vitest'
import { emptyContent } from '../../../shared/empty-content.ts'
import {
  bodyObject,
  type FormField,
  fieldText,
  formOf,
  queryField,
  type StorageRule,
  typedValue,
  withBodyField,
  withQueryField,
} from './request-form.ts'

const schema = [
  { name: 'guid', type: 'text', min_length: 3 },
  { name: 'title', type: 'text', required: true, max_length: 20 },
  { name: 'stars', type: 'whole number', required: true, default: 3, min: 1, max: 5 },
  { name: 'state', type: 'text', choices: ['open', 'done'] },
  { name: 'draft', type: 'condition', in: 'query' },
]
const content = { ...emptyContent, type: 'any', fields: { schema } }
const names = (fields: readonly FormField[]) => fields.map(({ name }) => name)

test.each([
  ['POST', ['guid'], ['draft'], ['title', 'stars', 'state']],
  ['GET', ['guid'], ['title', 'stars', 'state', 'draft'], []],
  ['DELETE', ['guid'], ['title', 'stars', 'state', 'draft'], []],
])('the fields of %s are where the endpoint reads them', (method, path, query, body) => {
  const form = formOf(content, method, 'tasks/{guid}', [])
  expect([names(form.path), names(form.query), names(form.body)]).toEqual([path, query, body])
})

test('a field is needed that is required and has no default; its rules come along', () => {
  const { path, body } = formOf(content, 'POST', 'tasks/{guid}/{part}', [])
  expect(body.map(({ required }) => required)).toEqual([true, false, false])
  expect(body[1]).toMatchObject({ default: 3, limits: { min: 1, max: 5 } })
  expect(body[2]?.choices).toEqual(['open', 'done'])
  expect(path).toMatchObject([
    { name: 'guid', required: true, limits: { min_length: 3 } },
    { name: 'part', required: true, type: 'text' },
  ])
})

test('the fields of a storage follow, without those that no client writes', () => {
  const rule = (name: string, more: Partial<StorageRule>): StorageRule => ({ name, type: 'string', ...more })
  const rules = [
    rule('title', { type: 'number' }),
    rule('price', { type: 'decimal', required: true, label: 'Price', help: 'In euros.' }),
    rule('count', { type: 'integer', required: true, default_value: 1, validation_rules: { max: 9 } }),
    rule('total', { type: 'number', computed: 'doc.price * doc.count' }),
    rule('address.city', {}),
    rule('by', { type: 'created_by' }),
  ]
  const made = formOf(content, 'POST', 'tasks', rules).body
  expect(names(made)).toEqual(['guid', 'title', 'stars', 'state', 'price', 'count'])
  expect(made[1]?.type).toBe('text')
  expect(made[4]).toMatchObject({ required: true, help: 'Price: In euros.' })
  expect(made[5]).toMatchObject({ required: false, type: 'whole number', limits: { max: 9 } })
  expect(formOf(content, 'PATCH', 'tasks', rules).body[4]?.required).toBe(false)
})

const field = (type: FormField['type'], choices: FormField['choices'] = []): FormField => ({
  ...{ name: 'f', type, required: false, choices, default: undefined, limits: {}, help: '' },
})

test.each([
  [field('text'), '', undefined, false],
  [field('text'), '12', '12', false],
  [field('number'), '1.5', 1.5, false],
  [field('number'), 'x', 'x', true],
  [field('whole number'), '1.5', '1.5', true],
  [field('whole number', [1, 2]), '2', 2, false],
  [field('condition'), 'false', false, false],
  [field('list'), '["a"]', ['a'], false],
  [field('list'), '["a"', '["a"', true],
  [field('list'), '{}', {}, true],
  [field('object'), '{"a":1}', { a: 1 }, false],
  [field('any'), 'free', 'free', false],
  [field('day'), '2026-01-31', '2026-01-31', false],
])('%j read from %j is %j', (of, text, value, isWrong) => {
  expect(typedValue(of, text)).toEqual({ value, isWrong })
})

test('a value that is set stands in the text of the body, the rest of which stays', () => {
  const before = '{ "other": [1], "f": 1 }'
  expect(JSON.parse(withBodyField(before, 'f', 2))).toEqual({ other: [1], f: 2 })
  expect(Object.keys(JSON.parse(withBodyField(before, 'other', 0)))).toEqual(['other', 'f'])
  expect(JSON.parse(withBodyField(before, 'f', undefined))).toEqual({ other: [1] })
  expect(withBodyField('{ "half', 'f', 1)).toBe('{ "half')
  expect([bodyObject(''), bodyObject('[]'), bodyObject('{"a":1}')]).toEqual([{}, undefined, { a: 1 }])
  expect([
    fieldText(field('number'), 5),
    fieldText(field('list'), ['a']),
    fieldText(field('text'), null),
  ]).toEqual(['5', '["a"]', ''])
})

test('and in the query, lists as several values', () => {
  const query = withQueryField('q=x&f=1', field('list'), 'a b, c')
  expect(query).toBe('q=x&f=a+b&f=c')
  expect(queryField(query, 'f')).toBe('a b,c')
  expect(withQueryField(query, field('text'), '')).toBe('q=x')
})
