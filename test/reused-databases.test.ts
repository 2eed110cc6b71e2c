import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { readOptions } from '../src/options/options.ts'
import { openQuoin } from '../src/quoin/quoin.ts'
import { matchAll } from '../src/shared/query.ts'
import { openPostgresDatabase } from '../src/storage/postgres/core/postgres-database.ts'
import { openSqliteDatabase } from '../src/storage/sqlite/core/sqlite-database.ts'
import type { RawDatabase } from '../src/storage/validated.ts'
import { copyQuoinFile, quoinTemplate, storageTemplate } from './quoin-template.ts'
import { openTemporaryDatabase } from './temporary-database.ts'

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const everything = `SELECT (SELECT json_agg(s ORDER BY id) FROM storage s) AS storages,
  (SELECT count(*) FROM change) AS changes, (SELECT number FROM change_counter) AS number,
  (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS relations`

test('a database that comes back is as it was made', async () => {
  const first = await openTemporaryDatabase(quoinTemplate)
  const before = await ask(first.url, everything)
  await ask(first.url, 'CREATE TABLE of_a_test (a integer)')
  await ask(first.url, "UPDATE storage SET name = name || ' changed'")
  await ask(first.url, 'UPDATE change_counter SET number = 7')
  await ask(first.url, 'INSERT INTO queue (name) VALUES (1)')
  expect(await ask(first.url, everything)).not.toEqual(before)
  await first.drop()
  const second = await openTemporaryDatabase(quoinTemplate)
  expect(second.url).toBe(first.url)
  expect(await ask(second.url, everything)).toEqual(before)
  expect(await ask(second.url, 'SELECT FROM queue')).toEqual([])
  await second.drop()
})

test('one in which a storage was made with an index, which has a function, comes back', async () => {
  const first = await openTemporaryDatabase(quoinTemplate)
  const database = await openPostgresDatabase({
    ...{ url: first.url, connections: 10, clock: Date.now, random: randomFillSync, entity: 1 },
    ...{ node: { name: 'test', version: '0.0.0' }, monotonic: () => performance.now(), wall: Date.now },
    load: () => 0,
  })
  await database.ensure('of_a_test', { indexes: [{ fields: ['n'] }] })
  await database.close()
  await first.drop()
  const second = await openTemporaryDatabase(quoinTemplate)
  expect(second.url).toBe(first.url)
  await second.drop()
})

test('each template gets its own databases again', async () => {
  const first = await openTemporaryDatabase(storageTemplate)
  const before = await ask(first.url, everything)
  await first.drop()
  const other = await openTemporaryDatabase(quoinTemplate)
  expect(await ask(other.url, everything)).not.toEqual(before)
  const second = await openTemporaryDatabase(storageTemplate)
  expect([second.url, await ask(second.url, everything)]).toEqual([first.url, before])
  await second.drop()
  await other.drop()
})

test.each([
  ['another index on a table of ours', 'CREATE INDEX of_a_test ON job (queue, guid)'],
  ['a column', 'ALTER TABLE job ADD COLUMN of_a_test integer'],
  ['another function', 'CREATE FUNCTION of_a_test() RETURNS integer LANGUAGE sql RETURN 1'],
])('one with %s never comes back', async (_name, sql) => {
  const first = await openTemporaryDatabase(quoinTemplate)
  await ask(first.url, sql)
  await first.drop()
  await expect(ask(first.url, 'SELECT 1')).rejects.toThrow(/does not exist/)
})

/** Storages with their indexes, in no order. */
function shapeOf(database: Pick<RawDatabase, 'names' | 'capabilities'>): string[] {
  const { indexes } = database.capabilities
  const lines = database.names().flatMap((name) => {
    const { indexes: all, text } = indexes.of(name)
    return [`${name} ${text}`, ...all.map((index) => `${name} ${JSON.stringify(index)}`)]
  })
  return lines.toSorted()
}

test('the file that clusters of tests begin with has what a first start makes, and no record', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const common = { clock: Date.now, random: randomFillSync, synchronous: 'OFF' } as const
  try {
    await copyQuoinFile(join(folder, 'copied'))
    const copied = await openSqliteDatabase({ ...common, directory: join(folder, 'copied'), entity: 1 })
    const counts = await Promise.all(copied.names().map((name) => copied.session().count(name, matchAll)))
    const shape = shapeOf(copied)
    await copied.close()
    const settings = { QUOIN_PORT: '0', QUOIN_EXAMPLES: '0', QUOIN_LOG_LEVEL: 'silent' }
    const options = readOptions({ ...settings, QUOIN_DATA: join(folder, 'first') })
    const first = await openQuoin(options, common)
    const made = shapeOf(first.database)
    await first.close()
    expect(made.length).toBeGreaterThan(100)
    expect(shape).toEqual(made)
    expect(new Set(counts)).toEqual(new Set([0]))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
