import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSearchWorld, type PostgresWorld } from '../../../../test/postgres/search-world.ts'
import { text } from '../../../../test/short-queries.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { search } from '../../../shared/query.ts'
import { sql } from '../../search/compiled-sql.ts'
import { SearchEffort } from '../../search/search-effort.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { decideTexts } from './decide-texts.ts'
import { findDocuments } from './postgres-query.ts'
import { estimateRows, TEXT_BOUNDS, type TextBounds } from './text-estimate.ts'

/** As for a large storage. */
const bounds: TextBounds = {
  ...TEXT_BOUNDS,
  frequent: 100,
  together: 150,
  newest: 50,
  newestOfFarPages: 500,
  lookedAt: 400,
  ranked: 300,
}
const DOCUMENTS = 2_000

let world: PostgresWorld

/** `common` is in all; `half` in every second; `old` in the first 250, `rare` in four; four words always stand together; the pair "half common" stands in order in the first six. */
function documentAt(n: number): JsonObject {
  const cms = 1_700_000_000_000 + n
  const words = [
    n < 6 ? 'half common' : 'common',
    n >= 6 && n % 2 === 0 ? 'half' : '',
    n < 250 ? 'old' : '',
    n % 500 === 3 ? 'rare' : '',
    n % 3 === 0 ? 'united states of america' : 'pad pad pad pad',
    // The more of them, the better.
    'half '.repeat(n === 1_990 ? 3 : 0),
  ]
  return {
    _meta: { guid: `0190000a-0000-7000-8000-${String(n).padStart(12, '0')}`, cms, ums: cms, removed: 0 },
    n,
    title: words.filter(Boolean).join(' '),
  }
}

beforeAll(async () => {
  world = await openSearchWorld({ indexes: [], text: true })
  await world.fill(Array.from({ length: DOCUMENTS }, (_, n) => documentAt(n)))
  await world.connection.run('VACUUM ANALYZE doc_1')
})
afterAll(() => world?.close())

const sent: string[] = []
const connection: PostgresConnection = {
  run: (words, values) => world.connection.run(words, values),
  rows(words, values) {
    sent.push(words)
    return world.connection.rows(words, values)
  },
}

async function numbers(
  words: string,
  page: { limit?: number; offset?: number; includeRemoved?: boolean } = {},
) {
  sent.length = 0
  const requested = search({ query: text(words), limit: 5, ...page })
  const found = await findDocuments(connection, world.target, requested, bounds)
  const documents: readonly { readonly n: number }[] = JSON.parse(found.documents.text)
  return documents.map(({ n }) => n)
}

test('the planner says how many documents have a text, also where it knows that there are none', async () => {
  const counts = await estimateRows(world.connection, world.target, [
    sql`tokens @@ 'common'::tsquery`,
    sql`FALSE`,
    sql`tokens @@ 'half'::tsquery`,
    sql`tokens @@ 'rare'::tsquery`,
  ])
  expect(counts[0]).toBe(DOCUMENTS)
  expect(counts[1]).toBeLessThanOrEqual(1)
  expect(counts[2]).toBeGreaterThan(900)
  expect(counts[3]).toBeLessThan(20)
})

describe('of a text that very many documents have', () => {
  test('the newest ones are ranked, and the documents are not counted', async () => {
    expect(await numbers('common')).toEqual([1999, 1997, 1995, 1993, 1991])
    expect(await numbers('half')).toEqual([1990, 1998, 1996, 1994, 1992])
    expect(sent.filter((words) => words.includes('AS latest'))).toHaveLength(1)
  })

  test('all with a word that few have are ranked, however old', async () => {
    expect(await numbers('rare | half', { limit: 6 })).toEqual([1503, 1003, 503, 3, 1990, 1998])
  })

  test('words that always stand together are in more documents than is estimated, and not all of these are ranked', async () => {
    expect(await numbers('united states of america', { limit: 3 })).toEqual([1995, 1989, 1983])
    expect(sent.filter((words) => words.includes('AS latest'))).toHaveLength(1)
    expect(await numbers('"states of america"', { limit: 3 })).toEqual([1995, 1989, 1983])
  })

  test('far pages are there', async () => {
    const far = await numbers('common', { limit: 10, offset: 90 })
    expect(new Set(far).size).toBe(10)
  })

  test('all are ranked where the newest documents do not fill the page', async () => {
    expect(await numbers('old', { limit: 3 })).toEqual([249, 247, 245])
  })

  test('a phrase of frequent words that hardly ever stand side by side is refused', async () => {
    await expect(numbers('"half common"')).rejects.toMatchObject({
      code: 'SEARCH_TOO_COSTLY',
      status: 422,
      message: expect.stringContaining('Add a word that fewer documents have'),
    })
    // With a word that few have it is found.
    expect(await numbers('"half common" rare')).toEqual([3])
  })

  test('removed ones among them are refused where that would rank too many', async () => {
    await expect(numbers('common', { includeRemoved: true })).rejects.toMatchObject({
      code: 'SEARCH_TOO_COSTLY',
    })
    expect(await numbers('old', { includeRemoved: true, limit: 2 })).toEqual([249, 247])
  })
})

test('a text that few documents have is ranked in all of them', async () => {
  expect(await numbers('rare', { limit: 9 })).toEqual([1503, 1003, 503, 3])
  expect(sent.some((words) => words.includes('AS latest'))).toBe(false)
})

test('a text in a named field is refused before documents are read, where an estimate says that they are too many', async () => {
  sent.length = 0
  const requested = search({ query: { kind: 'simple_query_string', fields: ['title'], text: 'common' } })
  const decide = (units: number) => decideTexts(connection, world.target, requested, new SearchEffort(units))
  await expect(decide(10_000)).rejects.toMatchObject({ code: 'SEARCH_TOO_COSTLY' })
  expect(sent.filter((words) => !words.startsWith('EXPLAIN'))).toEqual([])
  const { guids } = await decide(1_000_000)
  expect([...guids.values()].flat()).toHaveLength(DOCUMENTS)
})
