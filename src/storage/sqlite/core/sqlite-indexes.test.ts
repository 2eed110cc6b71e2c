import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { change, create, set } from '../../../../test/conformance/expectations.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { type Query, type Search, type SortKey, search } from '../../../shared/query.ts'
import type { Index } from '../../document-index.ts'
import { transact } from '../../transact.ts'
import { compileFind } from '../sql/sqlite-query.ts'
import { continueText, startText } from '../text/sqlite-text-index.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteParts, type SqliteParts } from './sqlite-parts.ts'

let directory: string
let parts: SqliteParts
let database: SqliteDatabase

async function open(): Promise<void> {
  parts = await openSqliteParts({
    directory,
    clock: Date.now,
    random: randomFillSync,
    entity: 1,
    synchronous: 'OFF',
  })
  database = new SqliteDatabase(parts)
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  await open()
})

afterAll(async () => {
  await database.close()
  await rm(directory, { recursive: true })
})

const documents = (count: number, make: (index: number) => JsonObject) => (name: string) =>
  transact(database, async (session) => {
    for (let index = 0; index < count; index++) await session.create(name, set(make(index)))
  })

const term = (field: string, value: string): Query => ({ kind: 'term', field, value })
const by = (field: string, order: SortKey['order']): SortKey => ({ field, order, missing: 'last' })

const table: readonly [string, Index[], Partial<Search>][] = [
  ['the newest', [], {}],
  ['the oldest, by _meta.created', [{ fields: ['_meta.created'] }], { sort: [by('_meta.created', 'asc')] }],
  ['a filter, newest first', [{ fields: ['status'] }], { query: term('status', 'a') }],
  [
    'a filter, newest first, by _meta.created',
    [{ fields: ['status', '_meta.created'] }],
    { query: term('status', 'a'), sort: [by('_meta.created', 'desc')] },
  ],
  ['a sort', [{ fields: ['n'] }], { sort: [by('n', 'asc')] }],
  ['a sort backwards', [{ fields: ['n'] }], { sort: [by('n', 'desc')] }],
  [
    'a filter and a sort',
    [{ fields: ['status', 'n'] }],
    { query: term('status', 'a'), sort: [by('n', 'desc')] },
  ],
  [
    'what was removed up to a time, by its time',
    [{ fields: ['_meta.removed'] }],
    {
      query: { kind: 'range', field: '_meta.removed', bounds: { gt: 0, lte: 2_000_000_000 } },
      sort: [by('_meta.removed', 'asc')],
      includeRemoved: true,
    },
  ],
  ['a unique field', [{ fields: ['deep.code'], unique: true }], { query: term('deep.code', '7') }],
]

for (const [index, [title, indexes, changes]] of table.entries())
  test(`an index serves ${title}, without a scan`, async () => {
    const name = `plans_${index}`
    await database.ensure(name, { indexes })
    await documents(200, (n) => ({ status: n % 2 ? 'a' : 'b', n, deep: { code: `${n}` } }))(name)
    const { sql, parameters } = compileFind(parts.catalogue.entry(name), search(changes))
    const plan = parts.reader.all(`EXPLAIN QUERY PLAN ${sql}`, ...parameters).map((row) => String(row.detail))
    expect(plan.join('; ')).toMatch(/doc_\d+ USING INDEX/)
    expect(plan.join('; ')).not.toContain('TEMP B-TREE')
    if (changes.query) expect(plan.join('; ')).toMatch(/SEARCH doc_\d+ USING INDEX ix_/)
  })

const spelled = (field: string, number: number): Query => ({
  kind: 'terms',
  field,
  values: [`${number}`, number],
})

const planOf = (name: string, changes: Partial<Search>): string => {
  const { sql, parameters } = compileFind(parts.catalogue.entry(name), search(changes))
  const rows = parts.reader.all(`EXPLAIN QUERY PLAN ${sql}`, ...parameters)
  return rows.map((row) => String(row.detail)).join('; ')
}

test.each<[string, (n: number) => string | number | boolean, boolean]>([
  ['numbers', (n) => n, true],
  ['texts', (n) => `${n}`, true],
  ['both', (n) => (n % 2 ? n : `${n}`), false],
  ['numbers, and truth values that look like them', (n) => (n % 3 ? n : n % 2 === 0), true],
])(
  'what may be a text or a number is found by the index where the field holds %s',
  async (title, make, walks) => {
    const name = `spelled_${title.length}`
    await database.ensure(name, { indexes: [{ fields: ['code', 'n'] }] })
    await documents(200, (n) => ({ code: make(n), n }))(name)
    const plan = planOf(name, { query: spelled('code', 7), sort: [by('n', 'desc')] })
    expect(plan).toMatch(/SEARCH doc_\d+ USING INDEX ix_/)
    expect(plan).not.toMatch(/SCAN doc_/)
    // Two values are two places in the index, so what is found has to be sorted.
    expect(plan.includes('TEMP B-TREE')).toBe(!walks)
    expect(database.session().count(name, spelled('code', 7))).toBe(1)
    expect(database.session().count(name, spelled('code', 1))).toBe(1)
  },
)

test.each([
  ['present', 'last', 7],
  ['present', 'first', 7],
  ['missing', 'last', null],
  ['missing', 'first', null],
] as const)(
  'behind a document whose field is %s, with missing ones %s, a page starts in the index',
  async (what, missing, at) => {
    const name = `walked_${what}_${missing}`
    await database.ensure(name, { indexes: [{ fields: ['status', 'n'] }] })
    await documents(50, (n) => ({ status: n % 2 ? 'a' : 'b', ...(n % 5 > 0 && { n }) }))(name)
    const sort: SortKey[] = [{ field: 'n', order: 'desc', missing }]
    const guid = '01900000-0000-7000-8000-000000000000'
    const cursor = [`n desc ${missing}`, [at], 5, guid]
    const after = Buffer.from(JSON.stringify(cursor)).toString('base64url')
    const plan = planOf(name, { query: term('status', 'a'), sort, after })
    expect(plan).not.toContain('TEMP B-TREE')
    // Every part of it goes to a place in the index by the sort field too, not only by the filter.
    const parts = plan.match(/SEARCH doc_\d+ USING INDEX ix_\w+ \([^)]*\)[^;]*/g) ?? []
    expect(parts.length).toBe(
      (missing === 'last') === (at === 7) ? 2 : missing === 'last' || at === 7 ? 1 : 2,
    )
    for (const part of parts) expect(part).toMatch(/<expr>=\? AND <expr>[<>=]/)
  },
)

test('control: without the index it is a scan or a sort', async () => {
  await database.ensure('no_index')
  const entry = parts.catalogue.entry('no_index')
  const { sql, parameters } = compileFind(entry, search({ sort: [by('n', 'asc')] }))
  const plan = parts.reader.all(`EXPLAIN QUERY PLAN ${sql}`, ...parameters).map((row) => String(row.detail))
  expect(plan.join('; ')).toContain('TEMP B-TREE')
})

test('the same need twice is one index; what the order by creation serves needs none', async () => {
  await database.ensure('again', { indexes: [{ fields: ['a'] }, { fields: ['_meta.created'] }] })
  await database.ensure('again', { indexes: [{ fields: ['a'] }, { fields: ['a', '_meta.created'] }] })
  const { table: name } = parts.catalogue.entry('again')
  const indexes = parts.reader.all(
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?",
    name,
  )
  expect(indexes.map((row) => String(row.name)).filter((found) => found.startsWith('ix_'))).toHaveLength(1)
})

test('an index of free text that was half built goes on after a restart, and what changed meanwhile is right', async () => {
  const name = 'half'
  await database.ensure(name)
  await documents(1_200, (n) => ({ note: `all n${n}` }))(name)
  const entry = parts.catalogue.entry(name)
  const guids = parts.reader.all(`SELECT guid FROM ${entry.table} ORDER BY id`).map((row) => String(row.guid))
  const guid = (index: number) => guids[index] ?? ''
  await parts.writer.alone(
    (connection) => startText(connection, entry),
    () => {
      entry.textUpTo = 0
    },
  )
  for (let chunk = 0; chunk < 5; chunk++)
    await parts.writer.alone(
      (connection) => continueText(connection, entry),
      (upTo) => {
        entry.textUpTo = upTo
      },
    )
  expect(entry.textUpTo).toBe(500)
  const changes = async (tag: string) => {
    for (const at of tag === 'before' ? [10, 499, 500, 1_100] : [20, 400, 600, 1_199]) {
      await change(database, (session) => session.update(name, guid(at), set({ note: `all ${tag}` })))
      await change(database, (session) => session.delete(name, guid(at + (at > 499 ? -1 : 1))))
    }
    await create(database, name, { note: `all ${tag}` })
  }
  const count = (text: string) =>
    database.session().count(name, { kind: 'simple_query_string', fields: [], text })
  await changes('before')
  const half = [await count('all'), await count('before'), await count('n7*')]
  await database.close()
  await open()
  await changes('after')
  expect(parts.catalogue.entry(name).textTable).toBeUndefined()
  const scanned = [await count('all'), await count('before'), await count('after'), await count('n7*')]
  await database.ensure(name, { text: true })
  expect(parts.catalogue.entry(name).textTable).toBeDefined()
  const indexed = [await count('all'), await count('before'), await count('after'), await count('n7*')]
  expect(indexed).toEqual(scanned)
  expect(half[0]).toBe(1_197)
  expect(indexed.slice(0, 1)).toEqual([1_194])
})
