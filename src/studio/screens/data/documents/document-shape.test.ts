import { describe, expect, it } from 'vitest'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { shapeOf, valueAt } from './document-shape.ts'

const document = (fields: object): Document => ({
  _meta: {
    guid: 'g',
    entity: 1,
    created: 1,
    updated: 1,
    cms: 1,
    ums: 1,
    removed: 0,
    expiry: -1,
    update_hash: 'h',
  },
  ...fields,
})

describe('the shape of documents', () => {
  it('has every field with its types, without _meta, and looks into objects', () => {
    const shape = shapeOf([
      document({ rare: true, title: 'a', owner: { name: 'x' }, tags: [{ a: 1 }] }),
      document({ title: 1, owner: { name: 'y', age: 3 }, empty: {} }),
      document({ title: 'c', owner: null }),
    ])
    expect(shape.map(({ name, types, count }) => [name, types.join(), count])).toEqual([
      ['title', 'string,number', 3],
      ['owner.name', 'string', 2],
      ['rare', 'boolean', 1],
      ['tags', 'array', 1],
      ['owner.age', 'number', 1],
      ['empty', 'object', 1],
      ['owner', 'null', 1],
    ])
  })

  it('is empty without documents', () => {
    expect(shapeOf([])).toEqual([])
  })
})

describe('the value at a dotted name', () => {
  it.each([
    ['a', { b: [1] }],
    ['a.b', [1]],
    ['a.b.0', undefined],
    ['x.y', undefined],
  ])('%s', (name, value) => {
    expect(valueAt({ a: { b: [1] } }, name)).toEqual(value)
  })
})
