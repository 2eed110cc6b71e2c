import { expect, test } from 'vitest'
import { QuoinError } from '../../shared/errors.ts'
import { type Bounds, type Query, type Search, search } from '../../shared/query.ts'
import { checkSearch } from './check-search.ts'

const nested = (levels: number): Query =>
  levels === 0 ? { kind: 'all' } : { kind: 'not', query: nested(levels - 1) }
const wide = (count: number): Query => ({ kind: 'or', queries: Array(count).fill({ kind: 'all' }) })
const terms = (count: number): Query => ({ kind: 'terms', field: 'a', values: Array(count).fill(1) })
const range = (bounds: Bounds): Query => ({ kind: 'range', field: 'a', bounds })
const term = (value: string | number): Query => ({ kind: 'term', field: 'a', value })
const keys = (count: number) => Array(count).fill({ field: 'a', order: 'asc', missing: 'last' })
const text = (fields: string[], words = 'x'): Query => ({ kind: 'simple_query_string', fields, text: words })
const twice = (query: Query): Query => ({ kind: 'and', queries: [query, { kind: 'filter', query }] })

test.each<[string, Partial<Search>, RegExp]>([
  ['limit', { limit: 10_001 }, /limit must be/],
  ['half a limit', { limit: 0.5 }, /limit must be/],
  ['offset', { offset: -1 }, /offset must be/],
  ['not a number', { offset: Number.NaN }, /offset must be/],
  ['sort keys', { sort: keys(9) }, /at most 8/],
  ['a sort field', { sort: [{ field: 'a"', order: 'asc', missing: 'last' }] }, /field name/],
  ['nesting', { query: nested(65) }, /deeper than 64/],
  ['parts', { query: wide(1_000) }, /more than 1000 parts/],
  ['terms', { query: terms(10_001) }, /more than 10000 terms/],
  [
    'terms in several',
    { query: { kind: 'and', queries: [terms(6_000), terms(6_000)] } },
    /more than 10000 terms/,
  ],
  ['text fields', { query: text(Array(101).fill('a')) }, /at most 100/],
  [
    'misspelled words of all texts',
    { query: twice(text([], 'a~ b~1 c~2 d~ -e~')) },
    /has 10 words .* at most 8/,
  ],
  [
    'phrases with gaps',
    { query: twice(text([], '"a b"~1 | "a c"~99 "a d"~1 ("a e"~1 "a f"~1)')) },
    /has 10 phrases/,
  ],
  ['a text field', { query: text(['a..b']) }, /field name/],
  ['a field name', { query: { kind: 'exists', field: '' } }, /is empty/],
  [
    'a deep field name',
    { query: { kind: 'not', query: { kind: 'exists', field: 'x.__proto__' } } },
    /__proto__/,
  ],
  ['no bounds', { query: range({}) }, /at least one/],
  ['mixed bounds', { query: range({ gte: 1, lt: 'x' }) }, /all numbers or all text/],
  ['an infinite bound', { query: range({ gte: Number.POSITIVE_INFINITY }) }, /JSON cannot write/],
  ['U+0000', { query: term('\u0000') }, /U\+0000/],
  ['half of a pair, which SQLite would read as U+FFFD', { query: term('\ud800') }, /surrogate/],
  ['no number', { query: term(Number.NaN) }, /JSON cannot write/],
])('refused: %s', (_, changes, message) => {
  const check = () => checkSearch(search(changes))
  expect(check).toThrow(QuoinError)
  expect(check).toThrow(message)
  expect(check).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }))
})

test.each<[string, Partial<Search>]>([
  ['the largest page', { limit: 10_000, offset: 10_000 }],
  ['nothing', { limit: 0 }],
  ['sort keys', { sort: keys(8) }],
  ['misspelled words', { query: twice(text([], 'a~ b~1 c~2 d~0 e~ f')) }],
  ['nesting', { query: nested(64) }],
  ['parts', { query: wide(999) }],
  ['terms', { query: terms(10_000) }],
  ['bounds', { query: range({ gte: 'a', gt: 'b', lte: 'c', lt: '' }) }],
  ['_meta', { query: { kind: 'exists', field: '_meta.created' } }],
])('allowed: %s', (_, changes) => {
  expect(() => checkSearch(search(changes))).not.toThrow()
})
