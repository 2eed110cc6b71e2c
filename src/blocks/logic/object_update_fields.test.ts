import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './object_update_fields.ts'

test.each([{ object: [1] }, { object: 'text' }, { object: 5 }])('%j is refused', async (inputs) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow('must be an object')
})

test.each([
  [undefined, ['a'], { a: 1 }, { a: 1 }],
  [{ a: 1, b: 2 }, [], {}, { a: 1, b: 2 }],
  [{ a: 1, b: 2 }, ['a'], { a: 3 }, { a: 3, b: 2 }],
  [{ a: 1 }, ['a', 'c'], { c: null }, { a: 1, c: null }],
  [{ a: 1 }, ['a'], { a: undefined }, { a: 1 }],
  [{ a: { b: 1, c: 2 } }, ['a.b'], { 'a.b': 9 }, { a: { b: 9, c: 2 } }],
  [{ a: [1, 2] }, ['a.b'], { 'a.b': 9 }, { a: { b: 9 } }],
  [new StoredJson('{"a":1}'), ['a'], { a: 2 }, { a: 2 }],
])('%j with the fields %j as %j becomes %j', async (object, fields, more, expected) => {
  const { outputs } = await runBlock(block, { inputs: { object }, fields: { fields }, more })
  expect(outputs).toStrictEqual({ object: expected })
})

test('chosen fields can be read, as they are after the change', async () => {
  const { outputs } = await runBlock(block, {
    inputs: { object: { a: 1, b: { c: 2 }, n: null } },
    fields: { fields: ['a'], out_fields: ['a', 'b.c', 'b', 'n', 'missing', 'toString'] },
    more: { a: 9 },
  })
  expect(outputs).toStrictEqual({
    a: 9,
    'b.c': 2,
    b: { c: 2 },
    n: null,
    missing: undefined,
    toString: undefined,
    object: { a: 9, b: { c: 2 }, n: null },
  })
})

test('the object that comes in is never changed, and what is not changed is shared with it', async () => {
  const document = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue())
  await fc.assert(
    fc.asyncProperty(document, fc.jsonValue(), async (object, value) => {
      const before = JSON.stringify(object)
      const { outputs } = await runBlock(block, {
        inputs: { object },
        fields: { fields: ['a.b', 'd'], out_fields: ['c'] },
        more: { 'a.b': value, d: value },
      })
      expect(JSON.stringify(object)).toBe(before)
      expect(outputs.object).toMatchObject({ a: { b: value }, d: value })
      expect(outputs.c).toBe(object.c)
    }),
  )
})
