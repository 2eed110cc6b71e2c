/** The totals that rank free text: exact after whatever happened, and counted for databases that had none. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { metaOf, set } from '../../../../test/conformance/expectations.ts'
import { testClock } from '../../../../test/test-database.ts'
import { SqliteDatabase } from '../core/sqlite-database.ts'
import { openSqliteParts, type SqliteParts } from '../core/sqlite-parts.ts'
import { readTotal } from './sqlite-text-index.ts'

let directory: string
let parts: SqliteParts
let database: SqliteDatabase

async function open(): Promise<void> {
  parts = await openSqliteParts({
    directory,
    clock: testClock(),
    random: randomFillSync,
    entity: 1,
    synchronous: 'OFF',
  })
  database = new SqliteDatabase(parts)
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  await open()
})
afterEach(async () => {
  await database.close()
  await rm(directory, { recursive: true, force: true })
})

const total = (name: string) => readTotal(parts.reader, parts.catalogue.entry(name).id)

test('all documents count, removed ones too, and what was undone does not', async () => {
  await database.ensure('things', { text: true })
  expect(total('things')).toEqual({ documents: 0, tokens: 0 })
  const session = database.session()
  const { guid } = metaOf(await session.create('things', set({ a: 'one two three' })))
  await session.create('things', set({ n: 5 }))
  await session.transaction.commit()
  expect(total('things')).toEqual({ documents: 2, tokens: 3 })
  // Between two values there is a break that counts as a token.
  await session.update('things', guid, set({ b: 'four' }))
  await session.transaction.commit()
  expect(total('things')).toEqual({ documents: 2, tokens: 5 })
  await session.setRemoved('things', guid, true)
  await session.transaction.commit()
  expect(total('things')).toEqual({ documents: 2, tokens: 5 })
  await session.update('things', guid, set({ a: '' }))
  await session.create('things', set({ a: 'x' }))
  await session.transaction.rollback()
  expect(total('things')).toEqual({ documents: 2, tokens: 5 })
  await session.delete('things', guid)
  await session.transaction.commit()
  expect(total('things')).toEqual({ documents: 1, tokens: 0 })
})

test('sessions that commit together write the totals once, and one that is undone among them leaves none', async () => {
  await database.ensure('things', { text: true })
  const sessions = Array.from({ length: 5 }, () => database.session())
  const writes: string[] = []
  const { connection } = parts.writer
  const run = connection.run.bind(connection)
  connection.run = (sql, ...parameters) => {
    if (sql.includes('text_documents')) writes.push(sql)
    run(sql, ...parameters)
  }
  await Promise.all(
    sessions.map(async (session, n) => {
      await session.create('things', set({ a: 'one two' }))
      await (n === 3 ? session.transaction.rollback() : session.transaction.commit())
    }),
  )
  expect(writes).toHaveLength(1)
  expect(total('things')).toEqual({ documents: 4, tokens: 8 })
})

test('a database without totals gets them when it is opened', async () => {
  await database.ensure('old', { text: true })
  await database.ensure('plain')
  const session = database.session()
  const guids: string[] = []
  for (let n = 0; n < 300; n++)
    guids.push(metaOf(await session.create('old', set({ a: 'word '.repeat(n) }))).guid)
  await session.transaction.commit()
  for (const guid of guids.slice(0, 100)) await session.delete('old', guid)
  for (const guid of guids.slice(200)) await session.update('old', guid, set({ a: 'word' }))
  await session.transaction.commit()
  const before = total('old')
  expect(before.documents).toBe(200)
  await database.close()
  // As a version without totals left it.
  const file = new DatabaseSync(join(directory, 'quoin.db'))
  file.exec(`ALTER TABLE storage DROP COLUMN text_documents; ALTER TABLE storage DROP COLUMN text_tokens;
    DROP TABLE unique_key; ALTER TABLE job DROP COLUMN failed_in; DROP TABLE counter;
    ALTER TABLE storage ADD COLUMN version INTEGER; ALTER TABLE storage ADD COLUMN shaped INTEGER;
    DELETE FROM migration WHERE name >= '0004-text-totals.sql'`)
  file.close()
  await open()
  expect(total('old')).toEqual(before)
  expect(parts.reader.get('SELECT text_documents AS n FROM storage WHERE name = ?', 'plain')).toEqual({
    n: null,
  })
  await database.ensure('plain', { text: true })
  expect(total('plain')).toEqual({ documents: 0, tokens: 0 })
})
