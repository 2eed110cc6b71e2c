import { expect, test } from 'vitest'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { compared, wordsFor } from './undo-step.ts'

const meta = {
  ...{ guid: 'g', entity: 0, created: 1, updated: 1, cms: 1, ums: 1 },
  ...{ removed: 0, expiry: -1, update_hash: 'h' },
}
const document = (fields: object): Document => ({ ...fields, _meta: meta })
const values = (fields: object) => new Map(Object.entries(fields))

test.each<[string, object, object, object, object, RegExp[]]>([
  ['what was changed', { a: 2 }, { a: 1 }, { a: 2 }, { a: 1 }, []],
  ['what was not there', { a: 2 }, { a: undefined }, { a: 2 }, { a: null }, []],
  ['what holds the former value again', { a: 1 }, { a: 1 }, { a: 2 }, {}, []],
  ['what is gone and was not there', {}, { a: undefined }, { a: 2 }, {}, []],
  ['a list', { a: [1, 2] }, { a: [] }, { a: [1, 2] }, { a: [] }, []],
  ['a field within an object', { a: { b: 2 } }, { 'a.b': 1 }, { 'a.b': 2 }, { 'a.b': 1 }, []],
  ['what another user has changed', { a: 3 }, { a: 1 }, { a: 2 }, {}, [/changed a of g: it holds 3 now/]],
  ['what another user has cleared', {}, { a: 1 }, { a: 2 }, {}, [/it holds null now/]],
  ['one field of two', { a: 3, b: 2 }, { a: 1, b: 1 }, { a: 2, b: 2 }, { b: 1 }, [/changed a of g/]],
])('%s', (_what, now, before, after, fields, conflicts) => {
  const found = compared(document(now), values(before), values(after))
  expect(found).toEqual({ fields, conflicts: conflicts.map((one) => expect.stringMatching(one)) })
})

test('a step is named by what it takes back', () => {
  expect(wordsFor({ kind: 'removed', guids: ['a', 'b'] })).toBe('removal of 2 documents')
  const change = { guid: 'a', before: new Map(), after: new Map() }
  expect(wordsFor({ kind: 'changed', changes: [change] })).toBe('change of 1 document')
})
