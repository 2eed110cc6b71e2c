import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchDocuments } from '../../../../test/conformance/order-documents.ts'
import { manyDocuments } from '../../../../test/postgres/many-documents.ts'
import { openSearchWorld, type PostgresWorld } from '../../../../test/postgres/search-world.ts'
import { and, by, text } from '../../../../test/short-queries.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { type Query, type Search, type SortKey, search } from '../../../shared/query.ts'
import { planIndex } from '../core/postgres-indexes.ts'
import { jsonField, statement } from './field-sql.ts'
import { compileFind } from './postgres-query.ts'
import { UNDECIDED } from './search-plan.ts'

const indexes = [
  ['status'],
  ['count'],
  ['status', 'count'],
  ['status', 'title', 'count'],
  ['title COLLATE "sv"'],
]
const documents = manyDocuments(4_000)

let world: PostgresWorld
beforeAll(async () => {
  world = await openSearchWorld({ indexes, text: true, avoid: ['bitmapscan', 'sort'] })
  await world.fill(documents)
  await world.connection.run('VACUUM ANALYZE doc_1')
})
afterAll(() => world.close())

const open: Query = { kind: 'term', field: 'status', value: 'open' }
const KEY = (field: string) => `(quoin_key((doc -> '${field}'::text)))::text`

describe('an index gives the rows in order, nothing is sorted', () => {
  const cursor = (sort: SortKey[], values: JsonValue[]) =>
    Buffer.from(
      JSON.stringify([
        sort.map((key) => `${key.field} ${key.order} ${key.missing}`).join(','),
        values,
        1_700_000_400_000,
        'g',
      ]),
    ).toString('base64url')
  const status = `${KEY('status')} = 'sopen'::text`
  const both = `ix_2 (${status})`
  const newest = by('_meta.created', 'desc')
  const swedish: SortKey = { ...by('title'), collation: 'sv' }

  test.each<[string, Partial<Search>, string]>([
    ['newest first', {}, 'doc_1_created'],
    ['newest first, as a sort key', { sort: [newest] }, 'doc_1_created'],
    ['oldest first', { sort: [by('_meta.created')] }, 'doc_1_created'],
    ['equality, newest first', { query: open }, `ix_0 (${status})`],
    ['equality inside and', { query: and({ kind: 'all' }, and(open)) }, `ix_0 (${status})`],
    ['equality of a number', { query: { kind: 'term', field: 'count', value: 1 } }, 'ix_1 ('],
    [
      'one term of terms',
      { query: { kind: 'terms', field: 'status', values: ['open'] } },
      `ix_0 (${status})`,
    ],
    ['sort by a field', { sort: [by('count')] }, 'ix_1'],
    ['descending', { sort: [by('count', 'desc')] }, 'ix_1'],
    ['missing first', { sort: [by('count', 'asc', 'first')] }, 'ix_1'],
    ['texts as people sort them', { sort: [swedish] }, 'ix_4'],
    [
      'texts as people sort them, behind a cursor',
      { sort: [swedish], after: cursor([swedish], ['x']) },
      'ix_4 ((quoin_sorted(',
    ],
    ['descending, missing first', { sort: [by('count', 'desc', 'first')] }, 'ix_1'],
    ['equality, sort by a field', { query: open, sort: [by('count')] }, both],
    ['equality, descending by a field', { query: open, sort: [by('count', 'desc')] }, 'ix_2 (('],
    [
      'range, sorted by it',
      { query: { kind: 'range', field: 'count', bounds: { gte: 1, lt: 9 } }, sort: [by('count')] },
      'ix_1 ((',
    ],
    [
      'range of creation',
      { query: { kind: 'range', field: '_meta.created', bounds: { gte: 1_700_001_500 } } },
      `doc_1_created (created >= '1700001500000'::bigint)`,
    ],
    ['behind a cursor', { after: cursor([], []) }, 'doc_1_created (ROW(created, guid) < ROW('],
    [
      'behind a cursor, with equality',
      { query: open, after: cursor([], []) },
      `ix_0 ((${status}) AND (ROW(created, guid) < ROW(`,
    ],
    [
      'behind a cursor, by a field',
      { sort: [by('count')], after: cursor([by('count')], [1_000]) },
      `ix_1 ((${KEY('count')} IS NOT NULL) AND (ROW(${KEY('count')}, created, guid) > ROW(`,
    ],
    [
      'behind a cursor, descending by a field with equality',
      { query: open, sort: [by('count', 'desc')], after: cursor([by('count', 'desc')], [1_000]) },
      'ix_2 ((',
    ],
    [
      'behind a cursor among what is missing',
      { sort: [by('count')], after: cursor([by('count')], [null]) },
      `ix_1 ((${KEY('count')} IS NULL) AND (ROW(created, guid) > ROW(`,
    ],
  ])('%s', async (_, changes, index) => {
    const steps = await world.plan(search(changes))
    expect(steps.join('; ')).toContain(`Index Scan ${index}`)
    expect(steps.filter((step) => /Sort|Seq/.test(step))).toEqual([])
  })

  test('documents removed up to a time, by its time', async () => {
    const planned = planIndex({ id: 1, table: 'doc_1', columns: new Map() }, { fields: ['_meta.removed'] })
    await world.connection.run(planned?.sql ?? '')
    const query: Query = { kind: 'range', field: '_meta.removed', bounds: { gt: 0, lte: 2_000_000_000 } }
    const steps = await world.plan(search({ query, sort: [by('_meta.removed')], includeRemoved: true }))
    expect(steps.join('; ')).toContain(
      `Index Scan ${planned?.name} ((removed >= '1'::bigint) AND (removed < '2000000001'::bigint))`,
    )
    expect(steps.filter((step) => /Sort|Seq/.test(step))).toEqual([])
  })

  test('this can fail: a field without an index is sorted, and a field with odd values too', async () => {
    const sorted = async (changes: Partial<Search>) =>
      (await world.plan(search(changes))).some((step) => step.includes('Sort'))
    expect(await sorted({ sort: [by('text')] })).toBe(true)
    expect(await sorted({ sort: [by('count')] })).toBe(false)
    const [unusual] = documents.slice(0, 1).map((document) => ({
      ...document,
      _meta: { guid: 'odd', cms: 1, ums: 1, created: 0, updated: 0, removed: 5 },
      count: [5],
    }))
    await world.add(unusual ? [unusual] : [])
    expect(await sorted({ sort: [by('count')] })).toBe(true)
    await world.connection.run(`DELETE FROM doc_1 WHERE guid = 'odd'`)
    expect(await sorted({ sort: [by('count')] })).toBe(false)
  })
})

describe('what an index finds is walked in its order, whatever is asked of fields without an index', () => {
  const red: Query = { kind: 'term', field: 'title', value: 'red red', scalar: true }
  const items: Query = { kind: 'range', field: 'count', bounds: { gte: 3 } }
  const some: Query = { ...items, scalar: true }

  /** PostgreSQL took such a comparison for true of few documents, and read and sorted all of the status. */
  test.each<[string, Query]>([
    ['a number', some],
    ['one number', { kind: 'term', field: 'count', value: 3, scalar: true }],
    ['a number or items', items],
    ['a text or a number', { kind: 'or', queries: [red, some] }],
  ])('%s', async (_, query) => {
    const chosen = await openSearchWorld({ indexes: [['status']], columns: true, text: false })
    try {
      await chosen.fill(documents.map((document) => ({ ...document, note: 'x'.repeat(1_500) })))
      await chosen.connection.run('VACUUM ANALYZE doc_1')
      const steps = await chosen.plan(search({ query: and(open, query), limit: 20 }))
      expect(steps.join('; ')).toContain('Index Scan ix_0 (')
      expect(steps.filter((step) => /Sort|Seq|Bitmap/.test(step))).toEqual([])
    } finally {
      await chosen.close()
    }
  })
})

test('a count of what a quarter of the documents have reads an index, and not the whole table', async () => {
  const counted = await openSearchWorld({ indexes: [['status']], text: false })
  try {
    const note = 'x'.repeat(100)
    const every = (document: (typeof documents)[number], n: number) => ({
      ...document,
      ...{ note, status: n % 4 === 0 ? 'open' : 'closed' },
    })
    await counted.fill(documents.map(every))
    await counted.connection.run('VACUUM ANALYZE doc_1')
    // What the connection did before counts too until it is handed in, which may take a second.
    await counted.connection.run('SELECT pg_stat_force_next_flush()')
    await counted.connection.run('BEGIN')
    expect(await counted.count(search({ query: open }))).toBe(1_000)
    const [row] = await counted.connection.rows(
      "SELECT pg_stat_get_xact_numscans('doc_1'::regclass)::integer AS whole, pg_stat_get_xact_numscans('ix_0'::regclass)::integer AS indexed",
    )
    expect(row).toEqual({ whole: 0, indexed: 1 })
  } finally {
    await counted.close()
  }
})

describe('the text of a statement', () => {
  const sqlOf = (changes: Partial<Search>) =>
    statement(compileFind(world.target, search(changes), UNDECIDED)).text

  test.each<[string, Query, Query]>([
    ['term', open, { kind: 'term', field: 'status', value: `'; DROP TABLE doc_1; --` }],
    ['numbers', { kind: 'term', field: 'count', value: 1 }, { kind: 'term', field: 'count', value: 2 ** 70 }],
    ['booleans', { kind: 'term', field: 'x', value: true }, { kind: 'term', field: 'x', value: false }],
    [
      'seconds',
      { kind: 'term', field: '_meta.created', value: 1 },
      { kind: 'term', field: '_meta.created', value: 1.5 },
    ],
    [
      'many terms',
      { kind: 'terms', field: 'status', values: ['a', 'b'] },
      { kind: 'terms', field: 'status', values: Array.from({ length: 10_000 }, (_, n) => `t${n}`) },
    ],
    ['free text', text('a b'), text('c | "d e"')],
  ])('is the same for other values: %s', (_, one, other) => {
    expect(sqlOf({ query: one, sort: [by('text')] })).toBe(
      sqlOf({ query: other, sort: [by('text')], limit: 7, offset: 9 }),
    )
  })

  test.each([
    ['status', `doc -> 'status'`],
    ['a.b', `doc -> 'a' -> 'b'`],
    ["it's", `doc -> 'it''s'`],
    ["');--", `doc -> ''');--'`],
    ['0', `doc -> '0'`],
    ['$1', `doc -> '$1'`],
    ['?', `doc -> '?'`],
  ])('holds a field name only as a key: %s', async (field, read) => {
    expect(jsonField(field)).toBe(read)
    const [row] = await world.connection.rows(
      `SELECT ${read} AS value FROM (SELECT $1::json AS doc) AS one`,
      [JSON.stringify(field === 'a.b' ? { a: { b: 7 } } : { [field]: 7 })],
    )
    expect(row).toEqual({ value: 7 })
  })

  test.each(['a"b', 'a\\', 'a\u0000', 'a\u0001', '', 'a..b', '__proto__'])(
    'refuses the field name %j',
    async (field) => {
      expect(() => jsonField(field)).toThrow(RangeError)
      await expect(world.find(search({ sort: [by(field)] }))).rejects.toThrow(QuoinError)
      await expect(world.count(search({ query: { kind: 'exists', field } }))).rejects.toThrow(QuoinError)
    },
  )
})

test.each<[string, SortKey, JsonValue]>([
  ['a text for a number', by('_meta.cms'), 'x'],
  ['a fraction', by('_meta.updated'), 1.5],
  ['a number for a text', by('_meta.guid'), 5],
])('a made-up cursor is refused: %s', async (_, key, at) => {
  const order = `${key.field} asc last,text asc last`
  const after = Buffer.from(JSON.stringify([order, [at, null], 5, 'g'])).toString('base64url')
  await expect(world.find(search({ sort: [key, by('text')], after }))).rejects.toThrow(
    expect.objectContaining({ code: 'INVALID_QUERY' }),
  )
})

describe('free text, among many documents', () => {
  test('finds its words in the index', async () => {
    await world.connection.run('SET enable_bitmapscan = on')
    const steps = await world.plan(search({ query: text('"only here"'), sort: [by('text')] }))
    expect(steps).toContain(`Bitmap Index Scan doc_1_tokens (tokens @@ '''only'' <-> ''here'''::tsquery)`)
  })

  test.each([
    text('apple'),
    text('red apple'),
    text('"red apple"'),
    text('apple -red'),
    text('-apple'),
    text('-(red apple)'),
    text('red -(pear | (apple -sweet))'),
    text('*'),
    text('red *'),
    text('-*'),
    text(''),
    text('app* | gre*'),
    text('"apple red"~1'),
    text('aple~1'),
    text('-aple~1'),
    text('apple', ['title']),
    text('-apple', ['tags']),
    text('red apple', ['title', 'tags']),
    text('77', ['_meta.guid']),
    and(text('apple'), text('red')),
    and(text('*'), text('apple')),
    and(text('aple~1'), open),
    and(text('"only here"~1'), text('filing~1 | only')),
    { kind: 'or', queries: [text('only'), { kind: 'term', field: 'count', value: 31 }] } as const,
    { kind: 'filter', query: text('only') } as const,
    { kind: 'not', query: text('filing~1') } as const,
    and(text('pear | apple'), { kind: 'filter', query: text('red') }),
  ])('%j', async (query) => {
    const requested = search({ query, limit: 50 })
    const found = await world.find(requested)
    expect(found.map((document) => document._meta)).toEqual(
      searchDocuments(documents, requested).map((document) => document._meta),
    )
  })
})
