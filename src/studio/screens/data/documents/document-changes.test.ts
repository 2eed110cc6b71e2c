import { describe, expect, it } from 'vitest'
import { typedSince } from '../../../controls/hooks.ts'
import { changedFields, changesSince, objectIn, withoutMeta } from './use-document-save.ts'

describe('what is sent of an edited document', () => {
  it.each([
    ['nothing', { _meta: 1, a: 1 }, { a: 1 }, {}, []],
    ['a changed field', { a: 1, b: 2 }, { a: 3, b: 2 }, { a: 3 }, []],
    ['a new field', { a: 1 }, { a: 1, b: null }, { b: null }, []],
    ['a whole object', { o: { x: 1, y: 2 } }, { o: { x: 1 } }, { o: { x: 1 } }, []],
    ['null for a lost field', { a: 1, b: 2 }, { a: 1 }, { b: null }, ['b']],
    ['nothing for a lost null', { a: 1, b: null }, { a: 1 }, {}, []],
    ['never _meta', { _meta: 1 }, { _meta: 2 }, {}, []],
  ])('%s', (_what, before, after, fields, lost) => {
    expect(changedFields(before, after)).toEqual({ fields, lost })
  })

  it('is edited without _meta', () => {
    expect(withoutMeta({ _meta: 1, a: 2 })).toEqual({ a: 2 })
  })

  it.each(['[]', '1', 'null', '"a"', '{'])('%s is no document', (text) => {
    expect(() => objectIn(text)).toThrow()
  })
})

describe('what is sent of a text that was begun from an older version', () => {
  const before = { _meta: 1, x: 1, y: 1, z: 1 }
  it.each<[string, object, object, object, string[], string[]]>([
    ['only what was typed', { x: 2, y: 1, z: 1 }, { _meta: 2, x: 1, y: 5, z: 1 }, { x: 2 }, [], []],
    ['what both changed', { x: 2, y: 1, z: 1 }, { x: 3, y: 1, z: 1 }, { x: 2 }, [], ['x']],
    ['nothing of what both changed alike', { x: 2, y: 3, z: 1 }, { x: 2, y: 1, z: 1 }, { y: 3 }, [], []],
    ['a field that is taken away', { x: 1, y: 1 }, { x: 1, y: 5, z: 1 }, { z: null }, ['z'], []],
    ['no field that another user has added', { x: 1, y: 1, z: 1 }, { x: 1, y: 1, z: 1, n: 1 }, {}, [], []],
  ])('%s', (_what, typed, now, fields, lost, disputed) => {
    expect(changesSince({ ...before }, { ...typed }, { ...now })).toEqual({ fields, lost, disputed })
  })
})

describe('what is still to be sent when a save has ended', () => {
  const one = {}
  it.each<[string, object, object, object]>([
    ['nothing', { a: 1, b: one }, { a: 1, b: one }, {}],
    ['what was typed into the same field since', { a: 'xy' }, { a: 'x' }, { a: 'xy' }],
    ['another field', { a: 1, b: 2 }, { a: 1 }, { b: 2 }],
    ['what was typed back', { a: '' }, { a: 'x', b: 1 }, { a: '' }],
    ['a value that was emptied', { a: undefined }, {}, { a: undefined }],
  ])('%s', (_what, typed, sent, left) => {
    expect(typedSince(typed, sent)).toEqual(left)
  })
})
