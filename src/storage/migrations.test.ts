import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { failure } from '../../test/conformance/expectations.ts'
import { setFields } from '../shared/mutation.ts'
import { search } from '../shared/query.ts'
import { joinDocument, stamps } from './document-session.ts'
import { type Migration, readMigrations } from './migrations.ts'
import { migrateSqlite, SqliteConnection, sqliteMigrations } from './sqlite/core/sqlite-connection.ts'
import { openSqliteDatabase } from './sqlite/core/sqlite-database.ts'
import { documentTableSql } from './sqlite/core/tables.ts'
import { transact } from './transact.ts'

let directory: string
let connection: SqliteConnection

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  connection = new SqliteConnection({ path: join(directory, 'a.db'), readOnly: false, synchronous: 'OFF' })
})

afterEach(async () => {
  connection.close()
  await rm(directory, { recursive: true })
})

const step = (number: number, sql: string, checksum = sql): Migration => ({
  number,
  name: `000${number}-test.sql`,
  sql,
  checksum,
})
const first = step(1, 'CREATE TABLE one (a)')
const second = step(2, 'CREATE TABLE two (a); INSERT INTO two VALUES (1)')
const run = (...steps: Migration[]) => migrateSqlite(connection, steps, () => 5_000)
const tables = () =>
  connection.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map((row) => row.name)
const applied = () => connection.all('SELECT number, applied FROM migration').map((row) => ({ ...row }))

test('refuses a database that a newer version has made, and leaves it alone', async () => {
  await run(first, second)
  const error = await failure('UNAVAILABLE', () => run(first))
  expect(error.message).toContain('newer Quoin: it has schema 2, this version knows 1')
  expect(tables()).toEqual(['migration', 'one', 'two'])
})

test('refuses a step that is not the one the database was made with, and runs none after it', async () => {
  await run(first)
  const error = await failure('UNAVAILABLE', () => run(step(1, first.sql, 'other'), second))
  expect(error.message).toContain('0001-test.sql')
  expect(tables()).toEqual(['migration', 'one'])
})

test('applies what is missing, once', async () => {
  await run(first)
  await run(first, second)
  await run(first, second)
  expect(tables()).toEqual(['migration', 'one', 'two'])
  expect(connection.get('SELECT count(*) AS n FROM two')).toEqual({ n: 1 })
  expect(applied()).toEqual([
    { number: 1, applied: 5 },
    { number: 2, applied: 5 },
  ])
})

test('a step that fails leaves nothing of itself, and can be mended', async () => {
  await expect(run(first, step(2, 'CREATE TABLE two (a); INSERT INTO nowhere VALUES (1)'))).rejects.toThrow(
    'nowhere',
  )
  expect(tables()).toEqual(['migration', 'one'])
  await run(first, second)
  expect(tables()).toEqual(['migration', 'one', 'two'])
})

test('reads the steps of a folder in order, and refuses a gap', async () => {
  const folder = pathToFileURL(`${directory}/`)
  await writeFile(join(directory, '0002-b.sql'), 'SELECT 2')
  await expect(readMigrations(folder)).rejects.toThrow('0002-b.sql should have the number 1')
  await writeFile(join(directory, '0001-a.sql'), 'SELECT 1')
  const steps = await readMigrations(folder)
  expect(steps.map(({ number, name, sql }) => [number, name, sql])).toEqual([
    [1, '0001-a.sql', 'SELECT 1'],
    [2, '0002-b.sql', 'SELECT 2'],
  ])
  expect(steps[0]?.checksum).not.toBe(steps[1]?.checksum)
})

test('what comes with Quoin runs, twice', async () => {
  const steps = await sqliteMigrations()
  await migrateSqlite(connection, steps, () => 0)
  await migrateSqlite(connection, steps, () => 0)
  expect(applied()).toHaveLength(steps.length)
})

test('a folder with the schema before the newest, and data in it, is brought up to date', async () => {
  connection.close()
  connection = new SqliteConnection({
    path: join(directory, 'quoin.db'),
    readOnly: false,
    synchronous: 'OFF',
  })
  const steps = await sqliteMigrations()
  await migrateSqlite(connection, steps.slice(0, -1), () => 0)
  connection.exec(`INSERT INTO storage (name) VALUES ('notes'); ${documentTableSql(1)}`)
  const world = { clock: Date.now, random: randomFillSync, entity: 1 }
  const { created } = stamps(world)
  for (let n = 0; n < 3; n++) {
    const meta = created()
    connection.run(
      'INSERT INTO doc_1 (guid, created, updated, removed, version, doc) VALUES (?, ?, ?, 0, 1, ?)',
      meta.guid,
      meta.cms,
      meta.cms,
      joinDocument(meta, JSON.stringify({ n })),
    )
  }
  connection.close()

  const database = await openSqliteDatabase({ directory, ...world, synchronous: 'OFF' })
  try {
    const number = await transact(database, async (session) => {
      const n = await session.claims.numbers('notes', 'n', { count: 1, from: 3 })
      await session.create('notes', setFields({ n }))
      return n
    })
    const sort = [{ field: 'n', order: 'desc', missing: 'last' }] as const
    const { documents } = await database.session().find('notes', search({ sort }))
    expect([number, documents.value]).toMatchObject([3, [{ n: 3 }, { n: 2 }, { n: 1 }, { n: 0 }]])
  } finally {
    await database.close()
  }
  connection = new SqliteConnection({ path: join(directory, 'quoin.db'), readOnly: true, synchronous: 'OFF' })
  expect(applied()).toHaveLength(steps.length)
})
