import fc from 'fast-check'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSearchWorld, type PostgresWorld } from '../../../../test/postgres/search-world.ts'
import type { Scalar } from '../../../shared/query.ts'
import { caselessText } from '../../../shared/texts/caseless-text.ts'
import { collations, isCollation } from '../../../shared/texts/collations.ts'
import { sortedText } from '../../../shared/texts/text-order.ts'
import { compareScalars } from '../../search/evaluate-query.ts'
import { AFTER_NUMBERS, FIRST_TEXT, sortedSql, sortKey } from './field-sql.ts'

let world: PostgresWorld
beforeAll(async () => {
  world = await openSearchWorld({ indexes: [], text: false })
})
afterAll(() => world.close())

const someText = fc.string({ unit: 'grapheme', maxLength: 120 }).filter((text) => !text.includes('\u0000'))
const someScalar: fc.Arbitrary<Scalar> = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  someText,
  fc.constantFrom(0, -0, 5e-324, -5e-324, 2 ** 53, 2 ** 60, 1.7976931348623157e308, 'x'.repeat(400)),
)

interface Keys {
  readonly full: string | null
  readonly indexed: string | null
  readonly odd: boolean
}

async function keysOf(values: readonly unknown[]): Promise<Keys[]> {
  const rows = await world.connection.rows(
    'SELECT quoin_full_key(item) AS full, quoin_key(item) AS indexed, quoin_odd(item) AS odd FROM unnest($1::json[]) AS item',
    [values.map((value) => JSON.stringify(value))],
  )
  return rows.map(({ full, indexed, odd: unusual }) => ({
    full: full === null ? null : String(full),
    indexed: indexed === null ? null : String(indexed),
    odd: unusual === true,
  }))
}

test('both languages make the same keys, and plain values have it in the index too', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someScalar, { minLength: 1, maxLength: 200 }), async (values) => {
      const keys = await keysOf(values)
      expect(keys.map((key) => key.full)).toEqual(values.map(sortKey))
      for (const key of keys) if (!key.odd) expect(key.indexed).toBe(key.full)
      expect(keys.map((key) => key.odd)).toEqual(
        values.map((value) => typeof value === 'string' && Buffer.byteLength(value) > 300),
      )
    }),
    { numRuns: 50 },
  )
})

test('keys sort as values do', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someScalar, { maxLength: 200 }), async (values) => {
      const rows = await world.connection.rows(
        'SELECT item::text AS text FROM unnest($1::json[]) WITH ORDINALITY AS all_items(item, at) ORDER BY quoin_full_key(item) COLLATE "C", at',
        [values.map((value) => JSON.stringify(value))],
      )
      const sortable = (value: Scalar) => (typeof value === 'boolean' ? Number(value) : value)
      const requested = values.toSorted((a, b) => compareScalars(sortable(a), sortable(b)))
      expect(rows.map((row) => row.text)).toEqual(requested.map((value) => JSON.stringify(value)))
    }),
    { numRuns: 50 },
  )
})

describe('of texts as people sort them', () => {
  const characters = Array.from({ length: 0x2_fff }, (_, at) => String.fromCharCode(at + 1))
  const wide = Array.from({ length: 0x200 }, (_, at) => String.fromCharCode(0xfe00 + at))
  const known = collations.filter(isCollation)

  test.each(known)('%s: both languages make the same keys', async (collation) => {
    const texts = [...characters, ...wide, ...words, ...words.map((word) => word.toUpperCase()), long]
    const keys = texts.map(sortKey)
    const rows = await world.connection.rows(
      `SELECT ${sortedSql('key', collation)} AS sorted FROM unnest($1::text[]) WITH ORDINALITY AS all_keys(key, at) ORDER BY at`,
      [keys],
    )
    expect(rows.map((row) => row.sorted)).toEqual(texts.map((text) => `s${sortedText(text, collation)}`))
  })

  test('numbers keep their keys', async () => {
    const rows = await world.connection.rows(`SELECT ${sortedSql('quoin_key($1::json)', 'sv')} AS sorted`, [
      '5',
    ])
    expect(rows).toEqual([{ sorted: sortKey(5) }])
  })
})

/** Longer than what is made plain, with pairs of units where that ends. */
const long = '😀É'.repeat(700)
const words = ['chata', 'džem', 'ljubav', 'ﬁn', 'ийіїјк', 'a\u030A', '{x|y}', 'ıİIi', 'Straße', 'ǄǅǆĲĳŉ']

test('texts in any case are the same in both languages', async () => {
  // Code points are told apart by code units: halves of pairs are no texts.
  const points = Array.from({ length: 0x1_f000 }, (_, at) => at + 1).filter(
    (at) => at < 0xd800 || at > 0xdfff,
  )
  const texts = [...points.map((at) => String.fromCodePoint(at)), ...words, long]
  const rows = await world.connection.rows(
    'SELECT quoin_caseless(text) AS caseless FROM unnest($1::text[]) WITH ORDINALITY AS texts(text, at) ORDER BY at',
    [texts],
  )
  expect(rows.map((row) => row.caseless)).toEqual(texts.map(caselessText))
})

test('what counts as missing has no key', async () => {
  expect(await keysOf([null, {}, { a: 1 }])).toEqual(Array(3).fill({ full: null, indexed: null, odd: false }))
  expect(await keysOf([[], ['open']])).toEqual(Array(2).fill({ full: null, indexed: null, odd: true }))
})

test('the borders lie between numbers and texts', () => {
  expect(sortKey(Number.MAX_VALUE) < AFTER_NUMBERS).toBe(true)
  expect(AFTER_NUMBERS < FIRST_TEXT).toBe(true)
  expect(sortKey('')).toBe(FIRST_TEXT)
})

test('long texts keep apart in an index, and eight of them fit into an entry', async () => {
  const [one, other] = await keysOf([`${'😀'.repeat(200)}a`, `${'😀'.repeat(200)}b`])
  expect(one?.indexed).not.toBe(other?.indexed)
  expect(Buffer.byteLength(one?.indexed ?? '')).toBeLessThan(300)
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const wide = await openSearchWorld({ indexes: [names], text: false })
  const texts = ['é'.repeat(150), '😀'.repeat(75), '😀'.repeat(1_000)]
  await wide.fill(
    texts.map((text, n) => ({
      _meta: { guid: `0190000a-0000-7000-8000-00000000000${n}`, cms: n, ums: n, removed: 0 },
      ...Object.fromEntries(names.map((name) => [name, text])),
    })),
  )
  expect(await wide.connection.rows('SELECT count(*)::integer AS n FROM doc_1')).toEqual([{ n: 3 }])
  await wide.close()
})

test('a dump restores: functions in indexes find each other without a search path', async () => {
  await world.connection.run(
    `CREATE INDEX by_key ON doc_1 (quoin_key(doc), quoin_odd(doc), ${sortedSql('quoin_key(doc)', 'sv')})`,
  )
  const [row] = await world.connection.rows('SELECT current_database() AS name, inet_server_port() AS port')
  const client = new Client({
    connectionString: `postgres://quoin@127.0.0.1:${row?.port}/${row?.name}`,
    options: '-c search_path=',
  })
  await client.connect()
  try {
    await expect(client.query('REINDEX TABLE public.doc_1')).resolves.toBeDefined()
    await client.query(
      `INSERT INTO public.doc_1 VALUES ('g', 1, 1, 0, 1, '"text"'), ('h', 1, 1, 0, 1, '[1]'), ('i', 1, 1, 0, 1, '-5')`,
    )
  } finally {
    await client.end()
  }
})
