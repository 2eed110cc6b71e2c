import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Query } from '../../shared/query.ts'
import {
  addToStatistics,
  emptyStatistics,
  isRelevanceOrder,
  rankedClauses,
  rankedPhrases,
  textScore,
} from './rank-text.ts'

const text = (value: string, fields: readonly string[] = []): Query => ({
  kind: 'simple_query_string',
  fields,
  text: value,
})

test.each<[string, Query, string[]]>([
  ['no free text', { kind: 'all' }, []],
  ['below filter', { kind: 'filter', query: text('a') }, []],
  ['below not', { kind: 'not', query: text('a') }, []],
  [
    'several clauses',
    { kind: 'and', queries: [text('a "b c"'), { kind: 'or', queries: [text('d*', ['t'])] }] },
    ['a', 'b c', 'd*'],
  ],
  ['negated words', text('a -b -(c d)'), ['a']],
  ['slop and misspelling', text('"a b"~2 c~1'), ['a', 'b', 'c']],
  ['twice the same', text('a | a'), ['a', 'a']],
])('what counts: %s', (_, query, expected) => {
  const phrases = rankedPhrases(rankedClauses(query))
  expect(phrases.map(({ tokens, prefix }) => tokens.join(' ') + (prefix ? '*' : ''))).toEqual(expected)
})

test('relevance is the order only without a sort', () => {
  const search = { query: text('a'), sort: [], limit: 1, offset: 0, includeRemoved: false }
  expect(isRelevanceOrder(search)).toBe(true)
  expect(isRelevanceOrder({ ...search, query: { kind: 'filter', query: search.query } })).toBe(false)
  expect(isRelevanceOrder({ ...search, sort: [{ field: 'a', order: 'asc', missing: 'last' }] })).toBe(false)
})

test('scores are those of FTS5', () => {
  const db = new DatabaseSync(':memory:')
  const word = fc.constantFrom('a', 'ab', 'b', 'c', 'd')
  const phrase = fc.record({ tokens: fc.array(word, { minLength: 1, maxLength: 2 }), prefix: fc.boolean() })
  fc.assert(
    fc.property(
      fc.array(fc.array(word, { maxLength: 8 }), { minLength: 1, maxLength: 8 }),
      fc.array(phrase, { minLength: 1, maxLength: 3 }),
      (documents, phrases) => {
        db.exec(
          `DROP TABLE IF EXISTS t; CREATE VIRTUAL TABLE t USING fts5 (text, content = '', tokenize = 'ascii')`,
        )
        const insert = db.prepare('INSERT INTO t (rowid, text) VALUES (?, ?)')
        const statistics = emptyStatistics()
        documents.forEach((tokens, index) => {
          insert.run(index, tokens.join(' '))
          addToStatistics(statistics, phrases, tokens)
        })
        const match = phrases
          .map(({ tokens, prefix }) => `"${tokens.join(' ')}"${prefix ? ' *' : ''}`)
          .join(' OR ')
        const rows = db.prepare('SELECT rowid AS id, bm25(t) AS score FROM t WHERE t MATCH ?').all(match)
        const scores = new Map(rows.map((row) => [row.id, Number(row.score)]))
        documents.forEach((tokens, index) => {
          expect(textScore(statistics, phrases, tokens)).toBeCloseTo(scores.get(index) ?? 0, 12)
        })
      },
    ),
    { numRuns: 200 },
  )
  db.close()
})
