/** The largest queries that are allowed: PostgreSQL takes them, and finds the right documents. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { someQueryText } from '../../../../test/arbitrary-documents.ts'
import { searchDocuments } from '../../../../test/conformance/order-documents.ts'
import { manyDocuments } from '../../../../test/postgres/many-documents.ts'
import { openSearchWorld, type PostgresWorld } from '../../../../test/postgres/search-world.ts'
import { and, deep, text, wide } from '../../../../test/short-queries.ts'
import { type Query, search } from '../../../shared/query.ts'
import { textProblem } from '../../search/check-search.ts'
import { matches } from '../../search/evaluate-query.ts'

const documents = manyDocuments(30)
const open: Query = { kind: 'term', field: 'status', value: 'open' }

let world: PostgresWorld
beforeAll(async () => {
  world = await openSearchWorld({ indexes: [['status']], text: true })
  await world.fill(documents)
})
afterAll(() => world.close())

test.each([
  ['alternating operators', 'x y | '.repeat(600)],
  ['nested groups', `${'(x | -('.repeat(100)}y`],
  ['negations', `${'-(x '.repeat(100)}`],
  ['groups and operators', `${'x | y (a b | c -("d e" | '.repeat(40)}z`],
  ['many words', 'w '.repeat(2_000)],
  ['a long phrase', `"${'w '.repeat(1_900)}"`],
  ['prefixes', 'a* | '.repeat(700)],
  ['slop', `${'"a b c"~99 '.repeat(4)}${'w '.repeat(1_900)}`],
])('text: %s', async (_, value) => {
  await expect(world.find(search({ query: text(value) }))).resolves.toBeDefined()
  await expect(world.find(search({ query: and(text(value), text(value, ['title'])) }))).resolves.toBeDefined()
})

test('PostgreSQL understands whatever is read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someQueryText, { maxLength: 40 }), async (pieces) => {
      fc.pre(textProblem([pieces.join(' ')]) === undefined)
      const requested = search({ query: text(pieces.join(' ')) })
      expect(await world.find(requested)).toEqual(searchDocuments(documents, requested))
    }),
    { numRuns: 150 },
  )
})

test.each<[string, Query, number]>([
  ['64 levels of and and or', deep('and', 64, open), 3],
  ['64 levels of not', deep('not', 64, open), 3],
  ['999 in and', wide('and', () => open), 3],
  [
    '999 in or',
    wide('or', (n) => ({ kind: 'term', field: 'status', value: n === 998 ? 'open' : `${n}` })),
    3,
  ],
  ['999 fields', wide('or', (n) => ({ kind: 'range', field: `f${n}`, bounds: { gte: 1, lt: 5 } })), 0],
  ['999 texts', wide('and', () => text('apple')), 17],
  [
    '10,000 terms',
    {
      kind: 'terms',
      field: 'status',
      values: Array.from({ length: 10_000 }, (_, n) => (n ? `t${n}` : 'open')),
    },
    3,
  ],
])('%s', async (_, query, count) => {
  expect(documents.filter((document) => matches(query, document))).toHaveLength(count)
  expect(await world.count(search({ query }))).toBe(count)
  expect(await world.find(search({ query, limit: 100 }))).toHaveLength(count)
})
