import { expect, test } from 'vitest'
import type { JsonObject } from '../../shared/json.ts'
import type { Bounds, Query, Scalar } from '../../shared/query.ts'
import { matches } from './evaluate-query.ts'

const document: JsonObject = {
  _meta: { guid: 'g1', created: 1_700_000_000 },
  status: 'open',
  count: 5,
  done: true,
  nothing: null,
  tags: ['red', 'blue', 7, true, null, ['green'], { name: 'grey' }],
  mixed: [1, 9],
  empty: [],
  by: { name: 'Ann', '0': 'zero' },
  wide: '\uff5e',
}

const term = (field: string, value: Scalar): Query => ({ kind: 'term', field, value })
const terms = (field: string, ...values: Scalar[]): Query => ({ kind: 'terms', field, values })
const range = (field: string, bounds: Bounds): Query => ({ kind: 'range', field, bounds })
const exists = (field: string): Query => ({ kind: 'exists', field })
const not = (query: Query): Query => ({ kind: 'not', query })
const text = (value: string, ...fields: string[]): Query => ({
  kind: 'simple_query_string',
  fields,
  text: value,
})

test.each<[Query, boolean]>([
  [{ kind: 'all' }, true],
  [{ kind: 'and', queries: [] }, true],
  [{ kind: 'or', queries: [] }, false],
  [{ kind: 'and', queries: [term('status', 'open'), term('count', 6)] }, false],
  [{ kind: 'or', queries: [term('status', 'done'), term('count', 5)] }, true],
  [{ kind: 'filter', query: term('status', 'open') }, true],
  [term('status', 'open'), true],
  [term('status', 'Open'), false],
  [term('count', 5), true],
  [term('count', '5'), false],
  [term('done', true), true],
  [term('done', 1), false],
  [term('done', 'true'), false],
  [term('tags', 'blue'), true],
  [term('tags', 7), true],
  [term('tags', true), true],
  [term('tags', 1), false],
  [term('tags', 'green'), false],
  [term('tags', 'grey'), false],
  [term('tags.name', 'grey'), false],
  [term('tags.0', 'red'), false],
  [term('by', '{"name":"Ann","0":"zero"}'), false],
  [term('by.name', 'Ann'), true],
  [term('by.0', 'zero'), true],
  [term('by.toString', 'x'), false],
  [term('_meta.guid', 'g1'), true],
  [not(term('missing', 'x')), true],
  [not(not(term('missing', 'x'))), false],
  [terms('status'), false],
  [terms('status', 1, 'open'), true],
  [terms('tags', 'green', 'blue'), true],
  [range('count', { gte: 5 }), true],
  [range('count', { gt: 5 }), false],
  [range('count', { gt: 4.5, lt: 5.5 }), true],
  [range('count', { gte: '0' }), false],
  [range('status', { gte: 'o', lt: 'p' }), true],
  [range('status', { gte: 0 }), false],
  [range('done', { gte: 0 }), false],
  [range('mixed', { gt: 1, lt: 9 }), false],
  [range('mixed', { gte: 9 }), true],
  [range('missing', { lt: 'x' }), false],
  [range('wide', { lt: '\u{1f600}' }), true],
  [exists('count'), true],
  [exists('empty'), true],
  [exists('nothing'), false],
  [exists('missing'), false],
  [exists('status.x'), false],
  [text('blue'), true],
  [text('grey green ann'), true],
  [text('g1'), false],
  [text('g1', '_meta.guid'), true],
  [text('ann', 'status'), false],
  [text('ann open', 'status', 'by'), true],
  [text('open -ann', 'status'), true],
])('%j: %s', (query, expected) => {
  expect(matches(query, document)).toBe(expected)
})
