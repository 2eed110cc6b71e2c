import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './object_new_fields.ts'

test.each([
  [['__proto__'], 'may not use __proto__'],
  [['a.constructor.b'], 'may not use constructor'],
  [['a', 'a'], 'twice'],
])('the fields %j are refused', async (fields, message) => {
  await expect(runBlock(block, { fields: { fields } })).rejects.toThrow(message)
})

test.each([
  [[], {}, {}],
  [['title', 'done'], { title: 'A', done: false }, { title: 'A', done: false }],
  [['title', 'done'], { title: 'A' }, { title: 'A' }],
  [['title'], { title: undefined }, {}],
  [['title'], { title: null }, { title: null }],
  [['title'], { title: '' }, { title: '' }],
  [
    ['customer.name', 'customer.city', 'n'],
    { 'customer.name': 'Ann', 'customer.city': 'Ghent', n: 1 },
    { customer: { name: 'Ann', city: 'Ghent' }, n: 1 },
  ],
  [['a', 'a.b'], { a: 1, 'a.b': 2 }, { a: { b: 2 } }],
  [['tags'], { tags: [1, { b: 2 }] }, { tags: [1, { b: 2 }] }],
])('the fields %j with %j make %j', async (fields, more, object) => {
  expect((await runBlock(block, { fields: { fields }, more })).outputs.object).toStrictEqual(object)
})

test('a value that is an object is not changed by a field inside it', async () => {
  const a = { kept: 1 }
  const { outputs } = await runBlock(block, { fields: { fields: ['a', 'a.b'] }, more: { a, 'a.b': 2 } })
  expect(outputs.object).toEqual({ a: { kept: 1, b: 2 } })
  expect(a).toEqual({ kept: 1 })
})
