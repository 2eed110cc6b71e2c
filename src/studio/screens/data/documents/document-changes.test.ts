import { describe, expect, it, test } from 'vitest'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { typedSince } from '../../../controls/hooks.ts'
import {
  type Begun,
  changedFields,
  changesSince,
  type Edits,
  editsSince,
  objectIn,
  versionOf,
  withoutMeta,
} from './use-document-save.ts'

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

test('of a text that was compared, only what others have changed since then is disputed', () => {
  const [before, compared, now] = [
    { x: 1, y: 1 },
    { x: 5, y: 1 },
    { x: 5, y: 7 },
  ]
  const typed = { x: 2, y: 2 }
  expect(changesSince(before, typed, compared, compared).disputed).toEqual([])
  expect(changesSince(before, typed, now, compared)).toEqual({ fields: typed, lost: [], disputed: ['y'] })
})

describe('what is sent of a form whose fields were edited at different times', () => {
  const version = (fields: object, ums = 0): Document => ({
    _meta: {
      guid: 'g',
      entity: 1,
      created: 1,
      updated: 1,
      cms: 0,
      ums,
      removed: 0,
      expiry: 0,
      update_hash: 'h',
    },
    ...fields,
  })
  const [one, two] = [version({ x: 1, y: 1, o: { z: 1 } }), version({ x: 5, y: 1, o: { z: 5 } })]
  it.each<[string, Edits, Begun, Edits, string[]]>([
    ['what both have changed', { x: 2 }, { x: one }, { x: 2 }, ['x']],
    ['what both have changed inside of an object', { 'o.z': 2 }, { 'o.z': one }, { 'o.z': 2 }, ['o.z']],
    ['what was begun behind the change of the other', { x: 2 }, { x: two }, { x: 2 }, []],
    ['what only this one has changed', { y: 2 }, { y: one }, { y: 2 }, []],
    ['nothing of what was typed back', { x: 1 }, { x: one }, {}, []],
    ['nothing of what both changed alike', { x: 5 }, { x: one }, {}, []],
    ['a field that has no beginning', { x: 2 }, {}, { x: 2 }, []],
  ])('%s', (_what, edits, begun, fields, disputed) => {
    expect(editsSince(edits, begun, two)).toEqual({ fields, lost: [], disputed })
  })

  it('of a field that was saved while the document was not read again: what was typed since, and over no one else', () => {
    const saved = version({ x: 1, y: 7 }, 9)
    expect(versionOf('y', { y: saved }, one)).toBe(saved)
    expect(versionOf('y', { y: one }, saved)).toBe(saved)
    expect(versionOf('y', {}, one)).toBe(one)
    expect(editsSince({ y: 78 }, { y: saved }, one)).toEqual({ fields: { y: 78 }, lost: [], disputed: [] })
    expect(editsSince({ y: 7 }, { y: saved }, one).fields).toEqual({})
  })

  it('of a new document all that was typed', () => {
    expect(editsSince({ x: null, y: 0 }, {}, undefined).fields).toEqual({ x: null, y: 0 })
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
