/** A process that only reads tells of damage that it meets, once, wherever it meets it: the one that writes has to stop. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, open as openFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Query, search } from '../../../shared/query.ts'
import { failure, metaOf, set } from '../../conformance/expectations.ts'
import type { Database, Session } from '../../database.ts'
import { findWithTotal } from '../../find-with-total.ts'
import { openReaderDatabase } from '../reader/reader-database.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteParts } from './sqlite-parts.ts'

const PAGE = 4096
/** More than are searched in a turn: the search thread meets it then. */
const MANY = 2_100

let directory: string
let writer: SqliteDatabase
let reader: Database
let guid = ''
const reasons: string[] = []
const notices: [string, boolean][] = []

const following = {
  cluster: {
    self: 'reader',
    alive: () => true,
    tell: async () => undefined,
    send: async () => undefined,
    nodes: async () => [],
  },
  watch: () => () => undefined,
  version: () => 0,
}

async function openWriter() {
  const parts = await openSqliteParts({
    directory,
    clock: Date.now,
    random: randomFillSync,
    entity: 1,
    synchronous: 'OFF',
    shared: true,
    notice: (...given) => void notices.push(given),
  })
  writer = new SqliteDatabase(parts)
  return parts
}

beforeEach(async () => {
  reasons.length = 0
  notices.length = 0
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const { writer: made } = await openWriter()
  await writer.ensure('things', { text: true })
  const session = writer.session()
  guid = metaOf(await session.create('things', set({ n: 0, note: 'word' }))).guid
  for (let n = 1; n < MANY; n++) await session.create('things', set({ n, note: 'word' }))
  await session.transaction.commit()
  const { rootpage } = made.connection.get("SELECT rootpage FROM sqlite_schema WHERE name = 'doc_1'") ?? {}
  await writer.close()
  const file = await openFile(join(directory, 'quoin.db'), 'r+')
  // The first cell of a table's root begins with the number of the page that holds the first documents.
  const { buffer: page } = await file.read(Buffer.alloc(PAGE), 0, PAGE, (Number(rootpage) - 1) * PAGE)
  const first = page.readUInt32BE(page.readUInt16BE(12))
  await file.write(Buffer.from([0xff]), 0, 1, (first - 1) * PAGE)
  await file.close()
  await openWriter()
  reader = openReaderDatabase({ directory, following, damaged: (reason) => void reasons.push(reason) })
})
afterEach(async () => {
  await reader.close()
  await writer.close()
  await rm(directory, { recursive: true, force: true })
})

const all = search({ limit: 10_000 })
const first: Query = { kind: 'term', field: 'n', value: 0 }
const word: Query = { kind: 'simple_query_string', fields: [], text: 'word' }

test.each<[string, (session: Session) => unknown]>([
  ['reading a document', (session) => session.get('things', guid)],
  ['a search', (session) => session.find('things', all)],
  ['a count', (session) => session.count('things', first)],
  ['a search with its total', (session) => findWithTotal(session, 'things', all)],
  ['a search in the thread', (session) => session.find('things', { ...all, query: word })],
  ['a count in the thread', (session) => session.count('things', { kind: 'and', queries: [word, first] })],
])('%s', async (_what, read) => {
  expect(reasons).toEqual([])
  for (let time = 0; time < 2; time++) {
    const error = await failure('UNAVAILABLE', () => read(reader.session()))
    expect(error.message).toContain('damaged')
  }
  expect(reasons).toEqual([expect.stringContaining('malformed')])
})

test('a writer that hears of it from another process writes no more', async () => {
  expect(notices).toEqual([])
  for (let time = 0; time < 2; time++) writer.noteDamage('database disk image is malformed')
  await failure('UNAVAILABLE', () => writer.ensure('others'))
  expect(notices).toEqual([[expect.stringContaining('SQLite says "database disk image is malformed"'), true]])
})
