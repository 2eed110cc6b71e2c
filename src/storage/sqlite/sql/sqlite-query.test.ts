import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchDocuments } from '../../../../test/conformance/order-documents.ts'
import { and, by, deep, text, wide } from '../../../../test/short-queries.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { type Query, type Search, type SortKey, search } from '../../../shared/query.ts'
import { documentsOf } from '../../find-documents.ts'
import { textProblem } from '../../search/check-search.ts'
import { documentText, documentTokens } from '../../search/text-tokens.ts'
import { emptyShape, noteShape, openShape } from '../core/document-shape.ts'
import { SqliteConnection } from '../core/sqlite-connection.ts'
import { documentTableSql, textTableSql } from '../core/tables.ts'
import { indexExpression, jsonPath } from './field-sql.ts'
import { registerSearchFunctions } from './search-functions.ts'
import type { SearchTarget } from './sql-values.ts'
import { findDocuments } from './sqlite-find.ts'
import { compileCount, compileFind } from './sqlite-query.ts'

const connection = new SqliteConnection({ path: ':memory:', readOnly: false, synchronous: 'OFF' })
const db = connection.database
const shape = emptyShape()
const target: SearchTarget = { id: 1, table: 'doc_1', textTable: 'text_1', shape }
const documents: JsonObject[] = []

beforeAll(() => {
  registerSearchFunctions(connection)
  db.exec('CREATE TABLE storage (id INTEGER PRIMARY KEY, text_documents INTEGER, text_tokens INTEGER)')
  db.exec(documentTableSql(1))
  db.exec(textTableSql(1))
  for (const [name, fields] of [
    ['ix_status', ['status']],
    ['ix_count', ['count']],
    ['ix_both', ['status', 'count']],
    ['ix_sorted', ['note COLLATE "sv"']],
  ] as const) {
    const columns = fields.map((field) => indexExpression(field)).join(', ')
    db.exec(`CREATE INDEX ${name} ON doc_1 (${columns}, created, guid) WHERE removed = 0`)
  }
  const bodies: JsonObject[] = [
    { status: 'open', count: 1, title: 'Red apple', tags: ['fruit', 'sweet'] },
    { status: 'done', count: 2 ** 60, title: 'Green apple', tags: ['apple'] },
    { status: 'open', count: 1.5, title: 'Pear', text: 'no apple', tags: [] },
    { status: 'open', title: 'red', text: 'apple', by: { _meta: { guid: 'inner' } } },
  ]
  for (const [index, body] of bodies.entries()) insert(index + 1, body)
  const tokens = documents.reduce((sum, document) => sum + documentTokens(document).length, 0)
  connection.run('INSERT INTO storage VALUES (1, ?, ?)', documents.length, tokens)
})
afterAll(() => db.close())

function insert(id: number, body: JsonObject): void {
  const cms = 1_700_000_000_000 + id * 400
  const guid = `g${id}`
  const document = { _meta: { guid, cms, created: Math.floor(cms / 1000), removed: 0 }, ...body }
  documents.push(document)
  noteShape(shape, document)
  const text = JSON.stringify(document)
  db.prepare('INSERT INTO doc_1 VALUES (?, ?, ?, ?, 0, 1, ?)').run(id, guid, cms, cms, text)
  db.prepare('INSERT INTO text_1 (rowid, text) VALUES (?, ?)').run(id, documentText(document))
}

function plan(requested: Search): string {
  const { sql, parameters } = compileFind(target, requested)
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters)
  return rows.map((row) => row.detail).join('; ')
}

const newest: SortKey = { field: '_meta.created', order: 'desc', missing: 'last' }
const oldest: SortKey = { field: '_meta.created', order: 'asc', missing: 'last' }
const open: Query = { kind: 'term', field: 'status', value: 'open' }

describe('an index gives the rows in order, nothing is sorted', () => {
  test.each<[string, Partial<Search>, string]>([
    ['newest first', {}, 'doc_1_created'],
    ['newest first, as a sort key', { sort: [newest] }, 'doc_1_created'],
    ['oldest first', { sort: [oldest] }, 'doc_1_created'],
    ['equality, newest first', { query: open }, 'ix_status (<expr>=?)'],
    ['equality, as a sort key', { query: open, sort: [newest] }, 'ix_status (<expr>=?)'],
    ['equality inside and', { query: and({ kind: 'all' }, and(open)) }, 'ix_status (<expr>=?)'],
    ['equality of a number', { query: { kind: 'term', field: 'count', value: 1 } }, 'ix_count (<expr>=?)'],
    [
      'one term of terms',
      { query: { kind: 'terms', field: 'status', values: ['open'] } },
      'ix_status (<expr>=?)',
    ],
    ['sort by a field', { sort: [by('count')] }, 'ix_count'],
    ['descending', { sort: [by('count', 'desc')] }, 'ix_count'],
    ['missing first', { sort: [by('count', 'asc', 'first')] }, 'ix_count'],
    ['texts as people sort them', { sort: [{ ...by('note', 'desc'), collation: 'sv' }] }, 'ix_sorted'],
    ['equality, sort by a field', { query: open, sort: [by('count')] }, 'ix_both (<expr>=?)'],
    ['equality, descending by a field', { query: open, sort: [by('count', 'desc')] }, 'ix_both (<expr>=?)'],
    [
      'range, sorted by it',
      { query: { kind: 'range', field: 'count', bounds: { gte: 1, lt: 9 } }, sort: [by('count')] },
      'ix_count (<expr>>? AND <expr><?)',
    ],
    [
      'range of creation',
      { query: { kind: 'range', field: '_meta.created', bounds: { gte: 1_700_000_000 } } },
      'doc_1_created (created>?)',
    ],
  ])('%s', (_, changes, index) => {
    const detail = plan(search(changes))
    expect(detail).toContain(`INDEX ${index}`)
    expect(detail).not.toContain('TEMP B-TREE')
  })

  test('also behind a cursor, which is where the walk starts', () => {
    const cursor = (sort: SortKey[], values: JsonValue[]) =>
      Buffer.from(
        JSON.stringify([sort.map((k) => `${k.field} ${k.order} ${k.missing}`).join(','), values, 5, 'g']),
      ).toString('base64url')
    const first = by('count', 'asc', 'first')
    expect(plan(search({ after: cursor([], []) }))).toContain('doc_1_created ((created,guid)<(?,?))')
    expect(plan(search({ query: open, after: cursor([], []) }))).toContain(
      '(<expr>=? AND (created,guid)<(?,?))',
    )
    expect(plan(search({ sort: [first], after: cursor([first], [1]) }))).toContain('ix_count (<expr>>?)')
    expect(plan(search({ sort: [by('count')], after: cursor([by('count')], [1]) }))).not.toContain('B-TREE')
  })

  test('this can fail: a field without an index is sorted', () => {
    expect(plan(search({ sort: [by('title')] }))).toContain('USE TEMP B-TREE')
  })
})

describe('the text of a statement', () => {
  const sqlOf = (changes: Partial<Search>) => compileFind(target, search(changes)).sql

  test.each<[string, Query, Query]>([
    ['term', open, { kind: 'term', field: 'status', value: `'; DROP TABLE doc_1; --` }],
    ['numbers', { kind: 'term', field: 'count', value: 1 }, { kind: 'term', field: 'count', value: 2 ** 70 }],
    ['booleans', { kind: 'term', field: 'x', value: true }, { kind: 'term', field: 'x', value: false }],
    [
      'many terms',
      { kind: 'terms', field: 'status', values: ['a', 'b'] },
      { kind: 'terms', field: 'status', values: Array.from({ length: 10_000 }, (_, n) => `t${n}`) },
    ],
    ['free text', text('a b'), text('c | "d e"')],
  ])('is the same for other values: %s', (_, one, other) => {
    expect(sqlOf({ query: one })).toBe(sqlOf({ query: other, limit: 7, offset: 9 }))
  })

  test.each([
    ['status', `'$."status"'`],
    ['a.b', `'$."a"."b"'`],
    ["it's", `'$."it''s"'`],
    ["');--", `'$."'');--"'`],
    ['0', `'$."0"'`],
    ['[#-1]', `'$."[#-1]"'`],
  ])('holds a field name only as a path: %s', (field, path) => {
    expect(jsonPath(field)).toBe(path)
    expect(db.prepare(`SELECT ${path} AS path`).get()?.path).toBe(path.slice(1, -1).replaceAll("''", "'"))
  })

  test.each(['a"b', 'a\\', 'a\u0000', '', 'a..b', '__proto__'])('refuses the field name %j', (field) => {
    expect(() => jsonPath(field)).toThrow(RangeError)
    expect(() => compileFind(target, search({ sort: [by(field)] }))).toThrow(QuoinError)
    expect(() => compileCount(target, { kind: 'exists', field }, false)).toThrow(QuoinError)
  })
})

function find(requested: Search, on: SearchTarget = target): JsonObject[] {
  return documentsOf(findDocuments(connection, on, requested))
}

const guids = (found: readonly JsonObject[]) => found.map((document) => (document._meta as JsonObject).guid)

describe('creation in seconds, which is a column in milliseconds', () => {
  const seconds = [1_699_999_999, 1_700_000_000, 1_700_000_000.5, 1_700_000_001, 1_700_000_002, 1e300, -1e300]
  test.each(seconds)('%d', (second) => {
    const queries: Query[] = [
      { kind: 'term', field: '_meta.created', value: second },
      { kind: 'terms', field: '_meta.created', values: [second, 1] },
      ...(['gte', 'gt', 'lte', 'lt'] as const).map(
        (name): Query => ({ kind: 'range', field: '_meta.created', bounds: { [name]: second } }),
      ),
    ]
    for (const query of queries) {
      const requested = search({ query })
      expect([query, guids(find(requested))]).toEqual([query, guids(searchDocuments(documents, requested))])
    }
  })
})

describe('free text', () => {
  const targets: [string, SearchTarget][] = [
    ['with an index', target],
    ['without', { ...target, textTable: undefined }],
    ['with an open shape', { ...target, shape: openShape() }],
  ]
  test.each([
    text('apple'),
    text('red apple'),
    text('"red apple"'),
    text('apple -red'),
    text('-apple'),
    text('-(red apple)'),
    text('-apple | pear'),
    text('red -(pear | (apple -sweet))'),
    text('*'),
    text('red *'),
    text('-*'),
    text(''),
    text('app* | gre*'),
    text('"apple red"~1'),
    text('"apple fruit"~1'),
    text('"apple fruit"~9'),
    text('aple~1'),
    text('-aple~1'),
    text('apple', ['title']),
    text('-apple', ['title']),
    text('red -apple', ['title']),
    text('red apple', ['title', 'text']),
    text('inner', ['by._meta.guid']),
    text('g1', ['_meta.guid']),
    text('g1'),
    text('inner'),
    text('apple', ['tags']),
    and(text('apple'), text('red')),
    and(text('-sweet -green'), text('apple')),
    and(text('*'), text('apple')),
    and(text('aple~1'), open),
    { kind: 'or', queries: [text('green'), { kind: 'term', field: 'count', value: 1 }] } as const,
    { kind: 'filter', query: text('apple') } as const,
    { kind: 'not', query: text('red') } as const,
    and(text('pear | apple'), { kind: 'filter', query: text('red') }),
  ])('%j', (query) => {
    for (const [name, on] of targets)
      expect([name, ...guids(find(search({ query }), on))]).toEqual([
        name,
        ...guids(searchDocuments(documents, search({ query }))),
      ])
  })

  test.each([
    ['alternating operators', 'x y | '.repeat(600)],
    ['nested groups', `${'(x | -('.repeat(100)}y`],
    ['negations', `${'-(x '.repeat(100)}`],
    ['negations of both', `${'x -(y | -z a '.repeat(100)}`],
    ['groups to the right', `${'x (y | '.repeat(100)}z`],
    ['groups and operators', `${'x | y (a b | c -("d e" | '.repeat(40)}z`],
    ['many words', 'w '.repeat(2_000)],
    ['a long phrase', `"${'w '.repeat(1_900)}"`],
    ['prefixes', 'a* | '.repeat(700)],
    ['slop', `${'"a b c"~99 '.repeat(4)}${'w '.repeat(1_900)}`],
  ])('takes the largest query it reads: %s', (_, value) => {
    for (const [, on] of targets) expect(() => find(search({ query: text(value) }), on)).not.toThrow()
    expect(() => find(search({ query: and(text(value), text(value, ['title'])) }))).not.toThrow()
  })
})

test('FTS5 understands whatever is read', () => {
  const piece = fc.constantFrom(
    'red',
    'app*',
    '"a b"',
    '"a b"~3',
    'aple~',
    '(',
    '-(',
    ')',
    '|',
    '+',
    '-x',
    '*',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 250 }), (pieces) => {
      fc.pre(textProblem([pieces.join(' ')]) === undefined)
      const query = text(pieces.join(' '))
      expect(guids(find(search({ query })))).toEqual(guids(searchDocuments(documents, search({ query }))))
    }),
    // The example once came in another order: FTS5 did not count a word of an `and` that did not hold.
    { numRuns: 300, examples: [[['red', 'app*', '|', 'app*']]] },
  )
})

describe('the largest queries that are allowed', () => {
  test.each<[string, Query, number]>([
    ['64 levels of and and or', deep('and', 64, open), 3],
    ['64 levels of not', deep('not', 64, open), 3],
    ['999 in and', wide('and', () => open), 3],
    [
      '999 in or',
      wide('or', (n) => ({ kind: 'term', field: 'status', value: n === 998 ? 'done' : `${n}` })),
      1,
    ],
    ['999 fields', wide('or', (n) => ({ kind: 'range', field: `f${n}`, bounds: { gte: 1, lt: 5 } })), 0],
    ['999 texts', wide('and', () => text('apple')), 4],
    [
      '10,000 terms',
      {
        kind: 'terms',
        field: 'status',
        values: Array.from({ length: 10_000 }, (_, n) => (n ? `t${n}` : 'done')),
      },
      1,
    ],
  ])('%s', (_, query, count) => {
    for (const on of [target, { ...target, shape: openShape() }]) {
      const { sql, parameters } = compileCount(on, query, false)
      expect(db.prepare(sql).get(...parameters)).toEqual({ n: count })
      expect(find(search({ query }), on)).toHaveLength(count)
    }
  })
})
