import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import type { SearchBody } from '../../shared/api/search.ts'
import { searchSchema } from '../../shared/api/search.ts'
import type { Query } from '../../shared/query.ts'
import type { SearchField } from './search-request.ts'
import { metaFields, searchBodyFromQuery, searchRequest } from './search-request.ts'

const fields: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'size', type: 'number' },
  { name: 'open', type: 'boolean' },
  ...metaFields,
]

const refused: readonly (readonly [string, SearchBody, RegExp])[] = [
  ['a hidden field', { filters: { password_hash: 'x' } }, /filters names "password_hash"/],
  ['a field of Object.prototype', { filters: { constructor: 'x' } }, /filters names "constructor"/],
  ['sorting by an unknown field', { sort: [{ secret: 'asc' }] }, /sort names "secret"/],
  ['a number as text', { filters: { size: '5' } }, /size is compared with a number, not with a string/],
  ['one wrong item of a list', { filters: { name: ['a', 1] } }, /name is compared with a string/],
  ['a bound of the wrong type', { filters: { size: { gte: 'a' } } }, /size is compared with a number/],
  ['a wrong type in not', { filters: { open: { not: 1 } } }, /open is compared with a boolean/],
  [
    'nine misspelled words',
    { query: 'word~ '.repeat(9) },
    /query has 9 words with spelling mistakes allowed/,
  ],
  ['nine phrases with gaps', { query: '"a b"~2 '.repeat(9) }, /query has 9 phrases with gaps allowed/],
  ['a range of a switch', { filters: { open: { gt: 1 } } }, /has no range/],
]

describe('a search', () => {
  it.each(refused)('refuses %s', (_name, body, message) => {
    expect(() => searchRequest(body, fields)).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }))
    expect(() => searchRequest(body, fields)).toThrow(message)
  })

  it('refuses free text where no field takes it', () => {
    expect(() => searchRequest({ query: 'a' }, metaFields)).toThrow(/free text/)
  })

  const size = (bounds: object): Query => ({ kind: 'range', field: 'size', bounds })
  it.each<[string, SearchBody, Query]>([
    ['nothing', {}, { kind: 'all' }],
    ['blank text', { query: '  ' }, { kind: 'all' }],
    ['text', { query: 'a b' }, { kind: 'simple_query_string', fields: ['name'], text: 'a b' }],
    ['a value', { filters: { open: true } }, { kind: 'term', field: 'open', value: true }],
    ['a list', { filters: { name: ['a', 'b'] } }, { kind: 'terms', field: 'name', values: ['a', 'b'] }],
    ['a range', { filters: { size: { gte: 1, lt: 5 } } }, size({ gte: 1, lt: 5 })],
    ['exists', { filters: { name: { exists: true } } }, { kind: 'exists', field: 'name' }],
    [
      'not a list',
      { filters: { name: { not: ['a'] } } },
      { kind: 'not', query: { kind: 'terms', field: 'name', values: ['a'] } },
    ],
    [
      'everything at once',
      { query: 'x', filters: { size: { gt: 1, exists: false, not: 3 }, open: false } },
      {
        kind: 'and',
        queries: [
          size({ gt: 1 }),
          { kind: 'not', query: { kind: 'exists', field: 'size' } },
          { kind: 'not', query: { kind: 'term', field: 'size', value: 3 } },
          { kind: 'term', field: 'open', value: false },
          { kind: 'simple_query_string', fields: ['name'], text: 'x' },
        ],
      },
    ],
  ])('asks for %s', (_name, body, query) => {
    expect(Value.Check(searchSchema, body)).toBe(true)
    expect(searchRequest(body, fields).query).toEqual(query)
  })

  it('takes page, order and cursor', () => {
    const body: SearchBody = { sort: [{ size: 'desc' }, { name: 'asc' }], limit: 7, offset: 3, after: 'c' }
    expect(searchRequest(body, fields)).toMatchObject({
      sort: [
        { field: 'size', order: 'desc', missing: 'last' },
        { field: 'name', order: 'asc', missing: 'last' },
      ],
      limit: 7,
      offset: 3,
      after: 'c',
      includeRemoved: false,
    })
    expect(searchRequest({}, fields)).toMatchObject({ limit: 50, offset: 0, sort: [] })
  })

  it('fetches nothing for a count', () => {
    const search = searchRequest({ count: true, limit: 50, offset: 10, after: 'c' }, fields)
    expect(search).toMatchObject({ limit: 0, offset: 0 })
    expect(search).not.toHaveProperty('after')
  })
})

describe('the schema of searches', () => {
  it.each([
    { limit: 1001 },
    { limit: -1 },
    { limit: 1.5 },
    { limit: '5' },
    { offset: 10_001 },
    { sort: [{ a: 'up' }] },
    { sort: [{ a: 'asc', b: 'asc' }] },
    { sort: [{}] },
    { filters: { a: null } },
    { filters: { a: {} } },
    { filters: { a: { like: 'b' } } },
    { filters: { a: { b: { c: 1 } } } },
    { from: 1 },
  ])('refuses %j', (body) => {
    expect(Value.Check(searchSchema, body)).toBe(false)
  })
})

describe('a search by GET', () => {
  it.each([
    [{ filters: 'name=a' }, /filters is not JSON/],
    [{ sort: '{"name":"asc"}' }, /query parameter sort/],
    [{ filters: '{"name":{"like":"a"}}' }, /query parameter filters/],
  ])('refuses %j', (query, message) => {
    expect(() => searchBodyFromQuery(query)).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }))
    expect(() => searchBodyFromQuery(query)).toThrow(message)
  })

  it('means the same as the body', () => {
    const query = { filters: '{"size":{"gte":2}}', sort: '[{"size":"asc"}]', limit: 5, query: 'a' }
    expect(searchBodyFromQuery(query)).toEqual({
      filters: { size: { gte: 2 } },
      sort: [{ size: 'asc' }],
      limit: 5,
      query: 'a',
    })
  })
})
