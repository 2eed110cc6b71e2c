import { randomFillSync } from 'node:crypto'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openPostgresDatabase } from '../src/storage/postgres/core/postgres-database.ts'
import { quoinTemplate, storageTemplate } from './quoin-template.ts'
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
