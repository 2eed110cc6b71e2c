import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSearchWorld, type PostgresWorld } from '../../../../test/postgres/search-world.ts'
import { expectSame } from '../../../../test/search-agreement.ts'
import { and, text } from '../../../../test/short-queries.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { type Query, search } from '../../../shared/query.ts'
import { textProblem, textsOf } from '../../search/check-search.ts'
import { SearchEffort } from '../../search/search-effort.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { decideTexts } from './decide-texts.ts'
import { findDocuments } from './postgres-query.ts'

let world: PostgresWorld
beforeAll(async () => {
  world = await openSearchWorld({ indexes: [['status']], text: true })
})
afterAll(() => world?.close())

/** Every `removed`-th one is removed. */
function stored(bodies: readonly JsonObject[], removed = Number.POSITIVE_INFINITY): JsonObject[] {
  return bodies.map((body, n) => {
    const cms = 1_700_000_000_000 + n * 1_000
    const created = cms / 1_000
    const guid = `0190000a-0000-7000-8000-${String(n).padStart(12, '0')}`
    const gone = n % removed === removed - 1 ? cms : 0
    return { _meta: { guid, cms, ums: cms, created, updated: created, removed: gone }, ...body }
  })
}

/** The statements of a search. */
async function statementsOf(query: Query): Promise<string[]> {
  const sent: string[] = []
  const connection: PostgresConnection = {
    ...world.connection,
    rows(text, values) {
      sent.push(text)
      return world.connection.rows(text, values)
    },
  }
  await findDocuments(connection, world.target, search({ query }))
  return sent
}

const readsDocuments = (sent: readonly string[]) => sent.some((one) => one.includes('doc::text AS text'))

/** Few letters, so that many words are near each other; one of them is two units of UTF-16, and one two bytes. */
const someWord = fc
  .array(fc.constantFrom('a', 'b', 'c', 'б', '𐐨'), { minLength: 1, maxLength: 6 })
  .map((letters) => letters.join(''))
const someTerm = fc.oneof(
  fc
    .tuple(fc.constantFrom('', '-'), someWord, fc.constantFrom('~1', '~2', '~'))
    .map((parts) => parts.join('')),
  someWord,
)
const someText = fc.array(someTerm, { minLength: 1, maxLength: 4 }).map((terms) => terms.join(' '))
const someClause = fc
  .tuple(
    fc.oneof(
      someText,
      someText.map((terms) => terms.replaceAll(' ', ' | ')),
    ),
    fc.constantFrom<string[]>([], [], ['title'], ['_meta.guid']),
  )
  .map(([words, fields]): Query => text(words, fields))
const open: Query = { kind: 'term', field: 'status', value: 'open' }
const someQuery = fc
  .tuple(fc.constantFrom('alone', 'and', 'or', 'open', 'not'), someClause, someClause)
  .filter(([, ...both]) => textProblem(both.flatMap(textsOf)) === undefined)
  .map(([kind, one, other]): Query => {
    if (kind === 'and' || kind === 'or') return { kind, queries: [one, other] }
    if (kind === 'open') return and(one, open)
    return kind === 'not' ? and(one, { kind, query: other }) : one
  })
const someBody = fc.record({
  title: fc.array(someWord, { maxLength: 6 }).map((words) => words.join(' ')),
  text: fc.array(someWord, { maxLength: 6 }).map((words) => words.join(' ')),
  status: fc.constantFrom<JsonValue>('open', 'closed', ['open', 'closed']),
})

test('misspelled words find what the reference finds, in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(someBody, { minLength: 1, maxLength: 12 }),
      fc.array(fc.tuple(someQuery, fc.boolean()), { minLength: 1, maxLength: 4 }),
      async (bodies, requested) => {
        const documents = stored(bodies, 3)
        await world.fill(documents)
        for (const [query, includeRemoved] of requested)
          await expectSame(world, documents, search({ query, includeRemoved, limit: 5 }))
      },
    ),
    { numRuns: 80 },
  )
})

describe('how many words are near', () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  /** 26 and 676 words that are one and two letters from `fire`. */
  const near = letters.map((one) => `fi${one}e`)
  const many = letters.flatMap((one) => letters.map((other) => `fi${one}${other}`))

  test.each<[string, readonly string[], string, boolean]>([
    ['few are looked up in the index', near, 'fire~1', false],
    ['none: nothing is found', near, 'gone~2', false],
    ['of too many the documents are read', many, 'fire~2', true],
  ])('%s', async (_, words, searched, areRead) => {
    const documents = stored(words.map((title) => ({ title })))
    await world.fill(documents)
    expect(readsDocuments(await statementsOf(text(searched)))).toBe(areRead)
    await expectSame(world, documents, search({ query: text(searched), limit: 1_000 }))
  })

  test('more words with the same letter than are listed: the documents are read', async () => {
    const list = (from: number) =>
      Array.from({ length: 34_000 }, (_, n) => `f${(from + n).toString(36).padStart(4, '0')}`).join(' ')
    const documents = stored([{ title: list(0) }, { title: list(34_000) }, { title: `${list(68_000)} fire` }])
    await world.fill(documents)
    expect(readsDocuments(await statementsOf(text('firee~1')))).toBe(true)
    await expectSame(world, documents, search({ query: text('firee~1') }))
  })
})

describe('what is too much', () => {
  const documents = stored(
    Array.from({ length: 1_000 }, (_, n) => ({
      title: `fire wood${n % 10 === 0 ? ' stove' : ''}`,
      status: n % 100 === 0 ? 'open' : 'closed',
    })),
  )
  /** Of 1,000 documents with three or four tokens, four units each. */
  const decide = (query: Query, units: number) =>
    decideTexts(world.connection, world.target, search({ query }), new SearchEffort(units))
  beforeAll(() => world.fill(documents))

  test.each<[string, Query]>([
    ['alone', text('fier~1')],
    ['with a word that all have', text('fier~1 wood')],
    ['in a field', text('fier~1', ['title'])],
  ])('is refused before words are listed, and the error says what to do: %s', async (_, query) => {
    await expect(decide(query, 10_000)).rejects.toMatchObject({
      code: 'SEARCH_TOO_COSTLY',
      retryAfter: undefined,
      message: expect.stringMatching(
        /more than 2\.5 million words\. Add a word that is spelled right or a filter/,
      ),
    })
  })

  test.each<[string, Query]>([
    ['another filter', and(text('fier~1'), open)],
    ['a word that few have', text('fier~1 stove')],
    ['a filter beside a text', and(text('fier~1'), { kind: 'filter', query: text('stove') })],
    ['another first letter', text('gire~1')],
  ])('is less with %s', async (_, query) => {
    await expect(decide(query, 10_000)).resolves.toMatchObject({ guids: new Map() })
  })

  test('a filter is compared by its index where the field has plain values only', async () => {
    const listing = async () =>
      (await statementsOf(and(text('fier~1'), open))).find((one) => one.includes('AS words FROM'))
    expect(await listing()).toContain('quoin_key(')
    await world.add(stored([{ title: 'fire', status: ['open'] }]).map(asOther))
    expect(await listing()).not.toContain('quoin_key(')
  })
})

function asOther(document: JsonObject): JsonObject {
  const { _meta, ...body } = document
  return { _meta: { ...Object(_meta), guid: '0190000a-0000-7000-8000-ffffffffffff' }, ...body }
}

test('of many documents a sample says whether it is too much: no other statement looks at them', async () => {
  const many = 12_000
  const insert = `INSERT INTO doc_1 SELECT n::text, n, n, 0, 1, '{}', CASE WHEN n % 2 = 0 THEN '''fire'':1'::tsvector ELSE '''wood'':1'::tsvector END, 10
    FROM generate_series(1, $1::integer) AS n`
  await world.fill([])
  await world.connection.run(insert, [many])
  const sent: string[] = []
  const connection: PostgresConnection = {
    ...world.connection,
    rows(text, values) {
      sent.push(text)
      return world.connection.rows(text, values)
    },
  }
  const decide = (searched: string, tokens: number) =>
    decideTexts(connection, world.target, search({ query: text(searched) }), new SearchEffort(4 * tokens))
  // Half of the documents have a word with this letter: 60,000 tokens.
  await expect(decide('fier~1', 40_000)).rejects.toMatchObject({ code: 'SEARCH_TOO_COSTLY' })
  expect(
    sent.filter((one) => one.includes('doc_1')).map((one) => /TABLESAMPLE SYSTEM \(83\.3/.test(one)),
  ).toEqual([true])
  await expect(decide('fier~1', 80_000)).resolves.toMatchObject({ guids: new Map() })
  await world.fill([])
})
