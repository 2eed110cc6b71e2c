/** Damage that a read meets is told once, wherever it meets it, and nothing more is written. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, open as openFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { failure, metaOf, set } from '../../../../test/conformance/expectations.ts'
import { matchAll, type Query, search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import type { Session } from '../../database.ts'
import { findWithTotal } from '../../find-documents.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteParts } from './sqlite-parts.ts'

const PAGE = 4096
/** More than are searched, or aggregated, in a turn: the search thread meets it then. */
const MANY = 3_100

let directory: string
let database: SqliteDatabase
let guid = ''
const notices: [string, boolean][] = []

async function open() {
  const parts = await openSqliteParts({
    directory,
    clock: Date.now,
    random: randomFillSync,
    entity: 1,
    synchronous: 'OFF',
    notice: (...input) => void notices.push(input),
  })
  database = new SqliteDatabase(parts)
  return parts
}

beforeEach(async () => {
  notices.length = 0
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const { writer } = await open()
  await database.ensure('things', { text: true })
  const session = database.session()
  guid = metaOf(await session.create('things', set({ n: 0, note: 'word' }))).guid
  for (let n = 1; n < MANY; n++) await session.create('things', set({ n, note: 'word' }))
  await session.transaction.commit()
  const { rootpage } = writer.connection.get("SELECT rootpage FROM sqlite_schema WHERE name = 'doc_1'") ?? {}
  await database.close()
  const file = await openFile(join(directory, 'quoin.db'), 'r+')
  // The first cell of a table's root begins with the number of the page that holds the first documents.
  const { buffer: page } = await file.read(Buffer.alloc(PAGE), 0, PAGE, (Number(rootpage) - 1) * PAGE)
  const first = page.readUInt32BE(page.readUInt16BE(12))
  await file.write(Buffer.from([0xff]), 0, 1, (first - 1) * PAGE)
  await file.close()
  await open()
})
afterEach(async () => {
  await database.close()
  await rm(directory, { recursive: true, force: true })
})

const all = search({ limit: 10_000 })
const first: Query = { kind: 'term', field: 'n', value: 0 }
const sum: Aggregate = {
  query: matchAll,
  groups: [],
  values: [{ figure: 'sum', field: 'n', as: 'n' }],
  order: [],
  limit: 1,
}
const word: Query = { kind: 'simple_query_string', fields: [], text: 'word' }

test.each<[string, (session: Session) => unknown]>([
  ['reading a document', (session) => session.get('things', guid)],
  ['a search', (session) => session.find('things', all)],
  ['a count', (session) => session.count('things', first)],
  ['a search with its total', (session) => findWithTotal(session, 'things', all)],
  ['a search by a word', (session) => session.find('things', { ...all, query: word })],
  ['a count by a word', (session) => session.count('things', { kind: 'and', queries: [word, first] })],
  ['an aggregate in the thread', (session) => session.aggregate('things', sum)],
])('%s', async (_what, read) => {
  expect(notices).toEqual([])
  for (let time = 0; time < 2; time++) {
    const error = await failure('UNAVAILABLE', () => read(database.session()))
    expect(error.message).toContain('damaged')
  }
  expect(notices).toEqual([[expect.stringMatching(/SQLite says "[^"]*malformed/), true]])
  await failure('UNAVAILABLE', () => database.ensure('others'))
})
