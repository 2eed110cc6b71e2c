import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSearchWorld, type PostgresWorld } from '../../../../test/postgres/search-world.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { search } from '../../../shared/query.ts'
import { forgetTotalsSql, textOfDocument } from '../core/document-row.ts'

let world: PostgresWorld
beforeAll(async () => {
  world = await openSearchWorld({ indexes: [], text: true })
})
beforeEach(() => world.fill([]))
afterAll(() => world.close())

let made = 0
function stored(body: JsonObject): JsonObject {
  const cms = 1_700_000_000_000 + ++made
  const guid = `0190000a-0000-7000-8000-${String(made).padStart(12, '0')}`
  return { _meta: { guid, cms, ums: cms, removed: 0 }, ...body }
}

async function finds(text: string): Promise<number> {
  return (await world.find(search({ query: { kind: 'simple_query_string', fields: [], text } }))).length
}

describe('the tokens of a document', () => {
  test.each<[string, JsonObject, string, number]>([
    ['none', { count: 1 }, '', 0],
    ['places', { title: 'Red red apple' }, `'red':1,2 'apple':3`, 3],
    ['a place is free between values', { a: 'red', b: 'apple' }, `'red':1 'apple':3`, 3],
    ['folded', { title: 'Café 東京' }, `'cafe':1 '東':2 '京':3`, 3],
  ])('%s', (_, body, tokens, count) => {
    expect(textOfDocument(body)).toEqual({ tokens, count })
  })

  test('a text at every limit is stored, and its words are found', async () => {
    const words = Array.from({ length: 49_990 }, (_, n) => `${n}${'ж'.repeat(57)}`)
    await world.add([
      stored({ text: `${words.join(' ')} last word` }),
      stored({ text: `${'common '.repeat(20_000)}end here` }),
      stored({ text: `${'filler '.repeat(16_381)}at edge over` }),
    ])
    expect(await finds(`0${'ж'.repeat(57)}`)).toBe(1)
    expect(await finds('common end')).toBe(1)
    // As the comment of the module says: phrases end at place 16,382, and words at a megabyte of them.
    expect(await finds('"at edge"')).toBe(0)
    expect(await finds('"filler at"')).toBe(0)
    expect(await finds('edge over')).toBe(1)
    expect(await finds(`40000${'ж'.repeat(57)}`)).toBe(0)
  })
})

describe('the totals of a storage', () => {
  async function totals(): Promise<unknown> {
    const [row] = await world.connection.rows(
      'SELECT coalesce(sum(documents), 0)::integer AS documents, coalesce(sum(tokens), 0)::integer AS tokens FROM text_total WHERE storage = 1',
    )
    return row
  }

  test('follow what is written, changed, removed softly and deleted', async () => {
    await world.add([stored({ a: 'one two' }), stored({ a: 'three' }), stored({ n: 5 })])
    expect(await totals()).toMatchObject({ documents: 3, tokens: 3 })
    await world.connection.run(`UPDATE doc_1 SET tokens = 'x', token_count = 7 WHERE token_count = 2`)
    expect(await totals()).toMatchObject({ documents: 3, tokens: 8 })
    await world.connection.run('UPDATE doc_1 SET removed = 5')
    expect(await totals()).toMatchObject({ documents: 3, tokens: 8 })
    await world.connection.run('DELETE FROM doc_1 WHERE token_count = 7')
    expect(await totals()).toMatchObject({ documents: 2, tokens: 1 })
  })

  test('a document counts from when it has tokens', async () => {
    await world.connection.run(`INSERT INTO doc_1 VALUES ('g', 1, 1, 0, 1, '{}')`)
    expect(await totals()).toMatchObject({ documents: 0 })
    await world.connection.run(`UPDATE doc_1 SET tokens = '', token_count = 0`)
    expect(await totals()).toMatchObject({ documents: 1, tokens: 0 })
  })

  test('stay few rows however much is written', async () => {
    for (let batch = 0; batch < 20; batch++)
      await world.add(Array.from({ length: 200 }, () => stored({ a: 'one two' })))
    expect(await totals()).toMatchObject({ documents: 4_000, tokens: 8_000 })
    const rows = await world.connection.rows('SELECT FROM text_total WHERE storage = 1')
    // 4,000 writes, put together about 60 times; a thousand rows left would be luck of one in a million.
    expect(rows.length).toBeLessThan(1_000)
  })

  test('are put together within one transaction without reading its rows again and again', async () => {
    const documents = 12_000
    await world.fill([])
    await world.connection.run('BEGIN')
    await world.connection.run(
      `INSERT INTO doc_1 SELECT n::text, n, n, 0, 1, '{}', '', 2 FROM generate_series(1, $1::integer) AS n`,
      [documents],
    )
    const [row] = await world.connection.rows(
      "SELECT pg_stat_get_xact_tuples_returned('text_total_order'::regclass)::integer AS read",
    )
    await world.connection.run('COMMIT')
    expect(await totals()).toMatchObject({ documents, tokens: 2 * documents })
    // 13 entries of the index for each; 380 where each look begins with the rows that are put together already.
    expect(Number(row?.read) / documents).toBeLessThan(60)
  })

  test('are gone with the storage', async () => {
    await world.connection.run(forgetTotalsSql, [1])
    expect(await totals()).toMatchObject({ documents: 0, tokens: 0 })
  })
})
