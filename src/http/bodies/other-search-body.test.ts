import { expect, test } from 'vitest'
import type { JsonObject } from '../../shared/json.ts'
import { ourSearchBody } from './read-body.ts'

test.each<[string, JsonObject, RegExp]>([
  ['aggregations', { aggs: {} }, /^aggs is not supported in a search\. Supported are term/],
  ['wildcards', { wildcard: { name: { value: 'a*' } } }, /^wildcard is not supported/],
  ['fields to leave out', { _source: ['a'] }, /^_source is not supported/],
  ['alternatives', { bool: { should: [{ term: { a: 1 } }] } }, /^bool\.should is not supported/],
  ['text that must not be there', { bool: { must_not: { match: { a: 'b' } } } }, /must_not takes term/],
  ['a clause that is no object', { term: 'a' }, /^term must be an object/],
  ['a range with a format', { range: { a: { gte: '1', format: 'yyyy' } } }, /^range\.a\.format is not/],
  ['two values of one field', { bool: { must: [{ term: { a: 1 } }, { term: { a: 2 } }] } }, /^a is searched/],
  [
    'clauses without an end',
    Array.from({ length: 12 }).reduce<JsonObject>((inner) => ({ bool: { must: [inner] } }), {
      term: { a: 1 },
    }),
    /nested too deeply/,
  ],
])('%s are refused with one sentence', (_name, body, message) => {
  expect(() => ourSearchBody(body)).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }))
  expect(() => ourSearchBody(body)).toThrow(message)
})

test.each<[JsonObject, JsonObject]>([
  [
    { term: { 'status.keyword': { value: 'active' } }, from: 5, size: 10 },
    { filters: { status: 'active' }, offset: 5, limit: 10 },
  ],
  [{ terms: { 'category.keyword': ['user', 'admin'] } }, { filters: { category: ['user', 'admin'] } }],
  [{ range: { size: { gte: 1, lt: 9 } } }, { filters: { size: { gte: 1, lt: 9 } } }],
  [
    { range: { created: { gte: '2024-01-01', lte: 1_735_689_599 } } },
    { filters: { '_meta.created': { gte: 1_704_067_200, lte: 1_735_689_599 } } },
  ],
  [{ exists: { field: 'description' } }, { filters: { description: { exists: true } } }],
  [{ match: { title: 'big -red "box' } }, { query: '"big" "-red" " box"' }],
  [{ sort: [{ created: { order: 'desc' } }] }, { sort: [{ '_meta.created': 'desc' }] }],
  [
    {
      bool: {
        must: [{ term: { a: 1 } }, { range: { b: { gt: 1 } } }],
        filter: { range: { b: { lt: 5 } } },
        must_not: [{ terms: { c: [1, 2] } }, { exists: { field: 'd' } }],
      },
      count: true,
    },
    {
      filters: { a: 1, b: { gt: 1, lt: 5 }, c: { not: [1, 2] }, d: { exists: false } },
      count: true,
    },
  ],
])('%j is read as %j', (other, ours) => {
  expect(ourSearchBody(other)).toEqual(ours)
})

test('a body of our own form stays as it is', () => {
  const body = { query: 'a -b', filters: { a: { gte: 1 } }, sort: [{ a: 'asc' }], limit: 1, unknown: 1 }
  expect(ourSearchBody(body)).toBe(body)
})
