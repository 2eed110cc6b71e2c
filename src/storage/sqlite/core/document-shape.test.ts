import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { someFields, untidyBody } from '../../../../test/arbitrary-documents.ts'
import { fieldNameProblem, parseFieldPath, valueAt } from '../../../shared/field-path.ts'
import type { JsonObject } from '../../../shared/json.ts'
import {
  ANY_TYPE,
  ARRAY,
  BOOLEAN,
  emptyShape,
  loadShape,
  NUMBER,
  noteShape,
  OBJECT,
  openShape,
  STRING,
  shapeRows,
  typesAt,
} from './document-shape.ts'

describe('noteShape', () => {
  test('says what is new, once', () => {
    const shape = emptyShape()
    const document = {
      _meta: { guid: 'g' },
      title: 'x',
      n: null,
      by: { id: 5, ok: true },
      tags: ['a', { deep: 1 }],
    }
    expect(noteShape(shape, document)).toEqual([
      { field: 'title', types: STRING },
      { field: 'by', types: OBJECT },
      { field: 'by.id', types: NUMBER },
      { field: 'by.ok', types: BOOLEAN },
      { field: 'tags', types: ARRAY },
    ])
    expect(noteShape(shape, document)).toEqual([])
    expect(noteShape(shape, { title: 'y', by: 'me' })).toEqual([{ field: 'by', types: OBJECT | STRING }])
    expect(typesAt(shape, 'by')).toBe(OBJECT | STRING)
    expect(typesAt(shape, 'by.id')).toBe(NUMBER)
    for (const field of ['n', 'unknown', 'title.x', 'tags.deep', '_meta.guid', 'toString'])
      expect([field, typesAt(shape, field)]).toEqual([field, 0])
  })

  test.each([
    ['a dot', 'a.b'],
    ['nothing', ''],
    ['a quote', 'a"b'],
    ['a forbidden name', 'constructor'],
    ['too many characters', 'x'.repeat(300)],
  ])('leaves out keys that no field name can say: %s', (_, key) => {
    const shape = emptyShape()
    expect(noteShape(shape, { [key]: 5, deep: { [key]: { x: 1 } } })).toEqual([
      { field: 'deep', types: OBJECT },
    ])
  })

  test('ends where field names end', () => {
    const shape = emptyShape()
    const nest = (key: string, levels: number): JsonObject =>
      levels === 0 ? {} : { [key]: nest(key, levels - 1) }
    for (const document of [nest('a', 40), nest('x'.repeat(100), 5)])
      for (const { field } of noteShape(shape, document)) expect(fieldNameProblem(field)).toBeUndefined()
  })
})

describe('bounds', () => {
  const keys = (count: number, name: string): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}${n}`, 1]))

  test('an object with data as keys is open, the rest is still known', () => {
    const shape = emptyShape()
    noteShape(shape, { title: 'x', votes: keys(256, 'k') })
    expect(typesAt(shape, 'votes.new')).toBe(0)
    expect(noteShape(shape, { votes: keys(1, 'new') })).toEqual([{ field: 'votes', types: OBJECT | 32 }])
    expect(noteShape(shape, { votes: keys(1_000, 'more') })).toEqual([])
    expect(typesAt(shape, 'votes')).toBe(OBJECT)
    expect(typesAt(shape, 'votes.never.seen')).toBe(ANY_TYPE)
    expect(typesAt(shape, 'title')).toBe(STRING)
  })

  test('with too many fields all is open, also after it was loaded', () => {
    const shape = emptyShape()
    const rows = noteShape(shape, { title: 'x', ...keys(2_500, 'k') })
    expect(rows.length).toBe(2_001)
    for (const known of [shape, loadShape(rows), loadShape(shapeRows(shape)), openShape()]) {
      expect(typesAt(known, 'title')).toBe(ANY_TYPE)
      expect(typesAt(known, 'never.seen')).toBe(ANY_TYPE)
      expect(noteShape(known, { more: { a: 1 } })).toEqual([])
    }
  })
})

test('knows every type that a query can meet, whether noted or loaded from what was saved', () => {
  const bit = (value: unknown) =>
    Array.isArray(value)
      ? ARRAY
      : { string: STRING, number: NUMBER, boolean: BOOLEAN, object: OBJECT }[String(typeof value)]
  fc.assert(
    fc.property(fc.array(untidyBody, { maxLength: 4 }), (documents) => {
      const shape = emptyShape()
      const saved = new Map<string, number>()
      for (const document of documents)
        for (const { field, types } of noteShape(shape, document)) saved.set(field, types)
      const loaded = loadShape([...saved].map(([field, types]) => ({ field, types })))
      for (const field of someFields) {
        const values = documents.map((document) => valueAt(document, parseFieldPath(field)) ?? null)
        const types = values.reduce<number>(
          (mask, value) => mask | (value === null ? 0 : (bit(value) ?? 0)),
          0,
        )
        expect([field, typesAt(shape, field)]).toEqual([field, types])
        expect([field, typesAt(loaded, field)]).toEqual([field, types])
      }
    }),
  )
})
