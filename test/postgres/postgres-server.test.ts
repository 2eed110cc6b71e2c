import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTemporaryDatabase } from '../temporary-database.ts'
import { openPostgresServer } from './postgres-server.ts'

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text: statement, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}

test('a test file has a database of its own, gone when it is dropped', async () => {
  const mine = await openTemporaryDatabase()
  const other = await openTemporaryDatabase()
  await ask(mine.url, 'CREATE TABLE only_here (a int)')
  expect(await ask(other.url, `SELECT to_regclass('only_here')`)).toEqual([null])
  await other.drop()
  await expect(ask(other.url, 'SELECT 1')).rejects.toThrow('does not exist')
  expect(await ask(mine.url, 'SELECT count(*)::int FROM only_here')).toEqual([0])
  await mine.drop()
})

test('a durable server that is killed has what was committed when it starts again', async () => {
  const server = await openPostgresServer({ durable: true })
  try {
    const url = server.url('postgres')
    expect(await ask(url, 'SHOW fsync')).toEqual(['on'])
    await ask(url, 'CREATE TABLE kept AS SELECT 7 AS a')
    await server.kill()
    await expect(ask(url, 'SELECT 1')).rejects.toThrow()
    await server.start()
    expect(await ask(url, 'SELECT a FROM kept')).toEqual([7])
  } finally {
    await server.close()
  }
})
