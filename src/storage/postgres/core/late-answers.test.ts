/** A COMMIT that PostgreSQL does not answer, because the synchronous standby that it waits for is gone. */
import { Client, Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type DelayedCommits, openDelayedCommits } from '../../../../test/postgres/hold-commits.ts'
import { openPostgresServer, type PostgresServer } from '../../../../test/postgres/postgres-server.ts'
import { lateAnswers } from './late-answers.ts'
import { openPostgresPool, type PostgresPool } from './postgres-connection.ts'

let server: PostgresServer
let admin: Client
let commits: DelayedCommits
let pool: PostgresPool

beforeAll(async () => {
  server = await openPostgresServer()
  admin = new Client({ connectionString: server.url('postgres') })
  await admin.connect()
  commits = await openDelayedCommits(server.url('postgres'))
  await admin.query('CREATE TABLE kept (name text)')
})
beforeEach(() => {
  // Two for single statements, of which one may write, and two for transactions.
  pool = openPostgresPool({ url: server.url('postgres'), connections: 4, pooled: false, commitMs: 100 })
})
afterEach(async () => {
  await commits.letGo()
  await pool.close()
})
afterAll(async () => {
  await commits.close()
  await admin.end()
  await server.close()
})

const names = async () =>
  (await admin.query('SELECT name FROM kept ORDER BY name')).rows.map(({ name }) => name)

async function insert(name: string): Promise<void> {
  const transaction = pool.transaction()
  await transaction.run('INSERT INTO kept VALUES ($1)', [name])
  await transaction.commit()
}

const unconfirmed = { code: 'UNAVAILABLE', message: expect.stringContaining('may still be stored') }

test('the caller is told that the outcome is unknown, and the connection is never used again', async () => {
  await admin.query('TRUNCATE kept')
  await commits.hold()
  await expect(insert('a')).rejects.toMatchObject(unconfirmed)
  await expect(insert('b')).rejects.toMatchObject(unconfirmed)
  await expect(pool.run('INSERT INTO kept VALUES ($1)', ['c'])).rejects.toMatchObject(unconfirmed)
  // No more of them than there are connections: the next ones wait in vain, and are told that nothing was stored.
  const refused = [insert('d'), pool.run('INSERT INTO kept VALUES ($1)', ['e'])]
  for (const one of await Promise.allSettled(refused))
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE', retryAfter: 1 } })
  const late = await commits.hanging()
  expect(late).toHaveLength(3)
  expect(await pool.reading.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
  await commits.letGo()
  await expect.poll(names, { timeout: 10_000 }).toEqual(['a', 'b', 'c'])
  const gone = 'SELECT FROM pg_stat_activity WHERE pid = ANY ($1)'
  await expect.poll(async () => (await admin.query(gone, [late])).rowCount, { timeout: 10_000 }).toBe(0)
  await Promise.all([insert('f'), insert('g'), pool.run('INSERT INTO kept VALUES ($1)', ['h'])])
  expect(await names()).toEqual(['a', 'b', 'c', 'f', 'g', 'h'])
})

test.each([true, false])('a connection whose process PostgreSQL still has (%s) is kept', async (isThere) => {
  const clients = new Pool({ connectionString: server.url('postgres'), max: 1 })
  const looked: number[] = []
  const late = lateAnswers({
    patience: 50,
    look: 50,
    async isThere(process) {
      looked.push(process)
      return isThere
    },
  })
  const client = await clients.connect()
  client.on('error', () => undefined)
  await commits.hold()
  await client.query('BEGIN; INSERT INTO kept VALUES (now()::text)')
  const released: boolean[] = []
  const asked = client.query('COMMIT')
  const release = (broken: boolean) => {
    released.push(broken)
    client.release(broken)
  }
  await expect(late.within(client, asked, release)).rejects.toMatchObject(unconfirmed)
  const [process] = await commits.hanging()
  await expect.poll(() => looked.length, { timeout: 10_000 }).toBeGreaterThan(isThere ? 2 : 0)
  expect(looked[0]).toBe(process)
  if (isThere) {
    expect(released).toEqual([])
    late.close()
  }
  await expect.poll(() => released, { timeout: 10_000 }).toEqual([true])
  await asked.catch(() => undefined)
  await commits.letGo()
  await clients.end()
})

test.each<[string, readonly string[], boolean]>([
  ['ended by an administrator', ['SELECT pg_terminate_backend(pg_backend_pid())'], true],
  ['with a statement that is refused', ['INSERT INTO nowhere VALUES (1)'], false],
  ['with a transaction in which one is', ['BEGIN', 'INSERT INTO nowhere VALUES (1)'], false],
])('a connection %s is closed or given back', async (_what, texts, isClosed) => {
  const clients = new Pool({ connectionString: server.url('postgres'), max: 1 })
  const late = lateAnswers({ patience: 60_000, look: 50, isThere: async () => true })
  const client = await clients.connect()
  client.on('error', () => undefined)
  const asked = (async () => {
    for (const text of texts) await client.query(text)
  })()
  const { promise: released, resolve } = Promise.withResolvers<boolean>()
  await expect(late.within(client, asked, resolve)).rejects.toThrow(isClosed ? 'terminating' : 'nowhere')
  expect(await released).toBe(isClosed)
  if (!isClosed) expect(client.getTransactionStatus()).toBe('I')
  client.release(true)
  await clients.end()
})

test('closing the pool waits for none of them', async () => {
  await commits.hold()
  await expect(insert('a')).rejects.toMatchObject(unconfirmed)
  await pool.close()
  expect(await commits.hanging()).toHaveLength(1)
  pool = openPostgresPool({ url: server.url('postgres'), connections: 4, pooled: false })
})
