import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { changedKeys, documentRevisions, type Revision } from './document-revisions.ts'

const set = (key: string, value: unknown, previous_value: unknown = null) => ({
  ...{ key, type: 'set.field', value, previous_value },
})
const removed = (key: string, previous_value: unknown) => ({
  ...{ key, type: 'remove.field', value: null, previous_value },
})
const added = (key: string, value: unknown) => ({ key, type: 'array.add', value, previous_value: null })
const lost = (key: string, previous_value: unknown) => ({
  ...{ key, type: 'array.remove', value: null, previous_value },
})

const long = 'x'.repeat(300)

test.each<[string, JsonObject | undefined, JsonObject, unknown[]]>([
  ['nothing', { a: 1, b: [1], c: { d: null } }, { c: { d: null }, b: [1], a: 1 }, []],
  ['only _meta', { _meta: { updated: 1 } }, { _meta: { updated: 2 } }, []],
  ['a _meta that is not at the top', { a: { _meta: 1 } }, { a: { _meta: 2 } }, [set('a._meta', 2, 1)]],
  ['a new document', undefined, { _meta: {}, a: 1, b: { c: 2 } }, [set('a', 1), set('b', { c: 2 })]],
  ['a field set', { a: 1 }, { a: 2, b: null }, [set('a', 2, 1), set('b', null)]],
  ['null to nothing', { a: null }, {}, [removed('a', null)]],
  ['a field gone', { a: 1, b: { c: 1 } }, { a: 1 }, [removed('b', { c: 1 })]],
  [
    'inside an object',
    { a: { b: { c: 1, d: 2 } } },
    { a: { b: { c: 3 } } },
    [set('a.b.c', 3, 1), removed('a.b.d', 2)],
  ],
  [
    'a name with a dot in it',
    { o: { 'a.b': 1, c: 1 }, p: { 'a.b': 1, c: 1 } },
    { o: { c: 2 }, p: { 'a.b': 1, c: 2 } },
    [set('o', { c: 2 }, { 'a.b': 1, c: 1 }), set('p.c', 2, 1)],
  ],
  ['a name that is empty', { o: { '': 1 } }, { o: {} }, [set('o', {}, { '': 1 })]],
  [
    'names below a long one',
    { o: { [long]: { a: 1, b: 1 } } },
    { o: { [long]: { a: 2, b: 2 } } },
    [set('o', { [long]: { a: 2, b: 2 } }, { [long]: { a: 1, b: 1 } })],
  ],
  ['a long name at the top', { [long]: { a: 1 } }, { [long]: {} }, [set(long, {}, { a: 1 })]],
  ['another type', { a: { b: 1 }, c: [1] }, { a: [1], c: 1 }, [set('a', [1], { b: 1 }), set('c', 1, [1])]],
  ['a list that grew', { a: [1] }, { a: [1, 2, { b: 3 }] }, [added('a', 2), added('a', { b: 3 })]],
  ['a list that grew from nothing', { a: [] }, { a: [1] }, [added('a', 1)]],
  ['a list that lost its end', { a: { b: [1, 2, 3] } }, { a: { b: [1] } }, [lost('a.b', 2), lost('a.b', 3)]],
  ['a list that lost its start', { a: [1, 2] }, { a: [2] }, [set('a', [2], [1, 2])]],
  ['a list in another order', { a: [1, 2] }, { a: [2, 1] }, [set('a', [2, 1], [1, 2])]],
  ['a list with a changed item', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, [set('a', [{ b: 2 }], [{ b: 1 }])]],
])('%s', (_what, before, after, revisions) => {
  expect(documentRevisions(before, after)).toEqual(revisions)
})

test('keys of what every object has by birth are fields like others', () => {
  expect(documentRevisions({}, { constructor: 1 })).toEqual([set('constructor', 1)])
  expect(documentRevisions({ toString: 1 }, {})).toEqual([removed('toString', 1)])
})

test('a thousand revisions are enough', () => {
  const after = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`f${i}`, i]))
  expect(documentRevisions({}, after)).toHaveLength(1000)
  expect(documentRevisions({ a: [] }, { a: Array.from({ length: 1500 }, () => 0) })).toHaveLength(1000)
})

test('each key is named once', () => {
  expect(changedKeys(documentRevisions({ a: [], b: 1 }, { a: [1, 2], b: 2 }))).toEqual(['a', 'b'])
})

/** Few keys and values, so that documents share much. */
const { document } = fc.letrec((tie) => ({
  document: fc.dictionary(fc.constantFrom('a', 'b', 'toString'), tie('value'), { maxKeys: 3 }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, 0, 1, '', 'x', true),
    tie('document'),
    fc.array(fc.constantFrom(0, 1, null, 'x'), { maxLength: 4 }),
  ),
}))

test('done to the former document, they give the new one', () => {
  fc.assert(
    fc.property(document, document, (before, after) => {
      const [was, is] = [copyOf(before), copyOf(after)]
      const result = documentRevisions(was, is).reduce(redo, was)
      expect(result).toEqual(is)
    }),
    { numRuns: 500 },
  )
})

function copyOf(value: unknown): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(value))
  if (!isJsonObject(copy)) throw new TypeError('no object')
  return copy
}

function redo(document: JsonObject, { key, type, value }: Revision): JsonObject {
  const [name = '', ...rest] = key.split('.')
  const { [name]: inner, ...others } = document
  const now = Object.hasOwn(document, name) ? inner : undefined
  if (rest.length > 0) {
    if (!isJsonObject(now ?? null)) throw new TypeError(`There is no object at ${key}.`)
    return {
      ...document,
      [name]: redo(copyOf(now), { key: rest.join('.'), type, value, previous_value: null }),
    }
  }
  if (type === 'remove.field') return others
  if (type === 'set.field') return { ...document, [name]: value }
  if (!Array.isArray(now)) throw new TypeError(`There is no list at ${key}.`)
  return { ...document, [name]: type === 'array.add' ? [...now, value] : now.slice(0, -1) }
}
