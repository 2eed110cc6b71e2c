import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Query, type Search, type SortKey, search } from '../../src/shared/query.ts'
import { writeCursor } from '../../src/storage/search/search-cursor.ts'
import { compareBy, searchDocuments } from './order-documents.ts'

const stored = (guid: string, cms: number, fields: JsonObject, removed = 0): JsonObject => ({
  _meta: { guid, cms, created: Math.floor(cms / 1000), removed },
  ...fields,
})
const value = (guid: string, cms: number, v: JsonValue) => stored(guid, cms, { v })
const ids = (documents: readonly JsonObject[]) =>
  documents.map((document) => (document._meta as JsonObject).guid).join('')

const values = [
  value('a', 10, 2),
  value('b', 20, '10'),
  value('c', 30, null),
  value('d', 40, true),
  value('e', 50, 10),
  value('f', 50, [1]),
  value('g', 60, false),
  stored('h', 70, {}),
  value('i', 80, '\u{1f600}'),
  value('j', 90, '\uff5e'),
  value('k', 95, 1),
]
const by = (field: string, order: 'asc' | 'desc', missing: 'first' | 'last'): SortKey => ({
  field,
  order,
  missing,
})

test.each<[string, SortKey[], string]>([
  ['newest first, ties by guid', [], 'kjihgfedcba'],
  ['ascending', [by('v', 'asc', 'last')], 'gdkaebjicfh'],
  ['descending', [by('v', 'desc', 'last')], 'ijbeakdghfc'],
  ['missing first', [by('v', 'asc', 'first')], 'cfhgdkaebji'],
  ['by creation in seconds, ties in milliseconds', [by('_meta.created', 'asc', 'last')], 'abcdefghijk'],
  ['ties follow the last key', [by('x', 'desc', 'last'), by('y', 'asc', 'last')], 'abcdefghijk'],
])('%s', (_, sort, expected) => {
  expect(ids(values.toSorted(compareBy(search({ sort }))))).toBe(expected)
  expect(ids(searchDocuments(values.toReversed(), search({ sort })))).toBe(expected)
})

test('pages by offset and by cursor, without removed documents unless asked', () => {
  const documents = [...values.slice(0, 4), stored('x', 35, { v: 5 }, 1_700_000_000)]
  const requested: Search = search({ sort: [by('v', 'desc', 'last')], limit: 2 })
  expect(ids(searchDocuments(documents, requested))).toBe('ba')
  expect(ids(searchDocuments(documents, { ...requested, offset: 1 }))).toBe('ad')
  expect(ids(searchDocuments(documents, { ...requested, includeRemoved: true }))).toBe('bx')
  const after = writeCursor(requested, documents[0] ?? {}) ?? ''
  expect(ids(searchDocuments(documents, { ...requested, after }))).toBe('dc')
  expect(ids(searchDocuments(documents, { ...requested, after, offset: 1 }))).toBe('c')
})

test('by relevance: rarer words and shorter texts first, then newest first', () => {
  const documents = [
    stored('a', 10, { t: 'apple pear pear pear' }),
    stored('b', 20, { t: 'apple' }),
    stored('c', 30, { t: 'apple' }),
    stored('d', 40, { t: 'rare' }),
    ...Array.from({ length: 5 }, (_, n) => stored('-', n, { t: 'other words' })),
  ]
  const text = (value: string): Query => ({ kind: 'simple_query_string', fields: [], text: value })
  expect(ids(searchDocuments(documents, search({ query: text('apple | rare') })))).toBe('dcba')
  const filtered: Query = { kind: 'filter', query: text('apple | rare') }
  expect(ids(searchDocuments(documents, search({ query: filtered })))).toBe('dcba')
  expect(ids(searchDocuments(documents, search({ query: text('apple -pear') })))).toBe('cb')
})
