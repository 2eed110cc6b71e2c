import { describe, expect, test } from 'vitest'
import { type SortKey, search } from '../../shared/query.ts'
import { readCursor, writeCursor } from './search-cursor.ts'

const byTitle: SortKey = { field: 'title', order: 'asc', missing: 'last' }
const document = { _meta: { guid: 'g', cms: 1_500, created: 1 }, title: 'é😀', flag: true, list: [1] }
const made = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

describe('refused', () => {
  test.each([
    ['empty', ''],
    ['no base64', '!!!'],
    ['no JSON', made('{')],
    ['no array', made({ length: 4 })],
    ['too few parts', made(['title asc last', ['a'], 5])],
    ['another order', made(['title desc last', ['a'], 5, 'g'])],
    ['too few values', made(['title asc last', [], 5, 'g'])],
    ['too many values', made(['title asc last', ['a', 'b'], 5, 'g'])],
    ['a value that no sort gives', made(['title asc last', [{}], 5, 'g'])],
    ['true', made(['title asc last', [true], 5, 'g'])],
    ['a number out of range', made('["title asc last",[1e999],5,"g"]')],
    ['U+0000', made(['title asc last', ['\u0000'], 5, 'g'])],
    ['half of a pair', made(['title asc last', ['a'], 5, '\ud800'])],
    ['no time', made(['title asc last', ['a'], '5', 'g'])],
    ['half a millisecond', made(['title asc last', ['a'], 5.5, 'g'])],
    ['no guid', made(['title asc last', ['a'], 5, 7])],
  ])('%s', (_, after) => {
    expect(() => readCursor(search({ sort: [byTitle], after }))).toThrow(
      expect.objectContaining({ code: 'INVALID_QUERY' }),
    )
  })

  test('in relevance order there is none, and none is taken', () => {
    const query = { kind: 'simple_query_string', fields: [], text: 'a' } as const
    expect(writeCursor(search({ query }), document)).toBeUndefined()
    expect(() => readCursor(search({ query, after: made(['', [], 5, 'g']) }))).toThrow(/relevance/)
    expect(writeCursor(search({ query, sort: [byTitle] }), document)).toBeDefined()
  })
})

test.each<[string, SortKey[], (string | number | null)[]]>([
  ['newest first', [], []],
  ['a text', [byTitle], ['é😀']],
  [
    'what counts as missing',
    [
      { ...byTitle, field: 'list' },
      { ...byTitle, field: 'gone' },
    ],
    [null, null],
  ],
  [
    'a boolean and _meta',
    [
      { ...byTitle, field: 'flag' },
      { ...byTitle, field: '_meta.created' },
    ],
    [1, 1],
  ],
])('%s comes back', (_, sort, values) => {
  const after = writeCursor(search({ sort }), document)
  expect(after).toMatch(/^[\w-]+$/)
  expect(readCursor(search({ sort, ...(after && { after }) }))).toMatchObject({
    values,
    cms: 1_500,
    guid: 'g',
  })
})

test('without a cursor there is no place', () => {
  expect(readCursor(search())).toBeUndefined()
})
