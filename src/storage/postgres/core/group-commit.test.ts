/** Sessions that commit at once share a trip and a transaction, and still each has its own outcome. */
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type DelayedCommits, openDelayedCommits } from '../../../../test/postgres/hold-commits.ts'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { openPostgresServer, type PostgresServer } from '../../../../test/postgres/postgres-server.ts'
import { openTripProxy, type TripProxy } from '../../../../test/postgres/trip-proxy.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll } from '../../../shared/query.ts'
import { type Database, documentOf } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { openPostgresPool, type PostgresPool } from './postgres-connection.ts'

/** Of its own: commits are held on all of it. */
let server: PostgresServer
let proxy: TripProxy
let admin: Client
let commits: DelayedCommits
let database: Database
let pool: PostgresPool | undefined
let name = ''
let names = 0

beforeAll(async () => {
  server = await openPostgresServer()
  const direct = server.url('postgres')
  proxy = await openTripProxy(server.port)
  admin = new Client({ connectionString: direct })
  await admin.connect()
  commits = await openDelayedCommits(direct)
  const url = new URL(direct)
  url.port = String(proxy.port)
  database = await openNode(url.href, { listenUrl: direct })
})
beforeEach(async () => {
  name = `things_${++names}`
  await database.ensure(name)
  await admin.query('DROP TABLE IF EXISTS kept; CREATE TABLE kept (n integer)')
})
afterEach(async () => {
  await commits.letGo()
  await pool?.close()
  pool = undefined
})
afterAll(async () => {
  await commits.close()
  await Promise.all([database.close(), admin.end()])
  await proxy.close()
  await server.close()
})

const times = <T>(count: number, work: (number: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, number) => work(number)))
const create = (number: number) =>
  transact(database, async (session) =>
    guidOf(documentOf(await session.create(name, setFields({ n: number })))),
  )
const increment = (guid: string) =>
  transact(database, (session) => session.update(name, guid, [{ op: 'increment', field: 'n', amount: 1 }]))
const count = () => database.session().count(name, matchAll)

async function tripsOf(work: () => Promise<unknown>): Promise<number> {
  const before = proxy.trips
  await work()
  return proxy.trips - before
}

/** Sessions that commit at once, each of which has deferred an insert of its text into a column of numbers. */
async function insertAll(texts: readonly string[], commitMs: number): Promise<readonly string[]> {
  const opened = openPostgresPool({ url: server.url('postgres'), connections: 4, pooled: false, commitMs })
  pool = opened
  // Only on a connection that has just answered they go with their COMMIT.
  await opened.reading.rows('SELECT 1')
  return Promise.all(
    texts.map(async (text) => {
      const transaction = opened.transaction()
      const statement = () => transaction.statement('INSERT INTO kept VALUES ($1::integer)', [text])
      transaction.defer({
        statement,
        unwaiting: statement,
        perform: () => Promise.reject(new Error('not needed')),
      })
      try {
        await transaction.commit()
        return 'stored'
      } catch (error) {
        await transaction.rollback()
        return error instanceof Error ? error.message : String(error)
      }
    }),
  )
}
const kept = async () => (await admin.query('SELECT n FROM kept ORDER BY n')).rows.map(({ n }) => n)

test('a write that is refused is refused alone', async () => {
  const invalid = expect.stringContaining('invalid input syntax')
  expect(await insertAll(['1', '2', 'two', '3'], 10_000)).toEqual(['stored', 'stored', invalid, 'stored'])
  expect(await kept()).toEqual([1, 2, 3])
})

const unknown = expect.stringContaining('may still be stored')

test('while a COMMIT is not answered the outcome of all of them is unknown', async () => {
  await commits.hold()
  expect(await insertAll(['1', '2', '3'], 300)).toEqual([unknown, unknown, unknown])
  await commits.letGo()
  await expect.poll(kept, { timeout: 10_000 }).toEqual([1, 2, 3])
})

test('so it is when the connection is lost meanwhile, and none is sent again', async () => {
  await commits.hold()
  const reported = insertAll(['1', '2', '3'], 60_000)
  await expect.poll(() => commits.hanging(), { timeout: 10_000 }).toHaveLength(1)
  const [process] = await commits.hanging()
  await admin.query('SELECT pg_terminate_backend($1)', [process])
  expect(await reported).toEqual([unknown, unknown, unknown])
  // PostgreSQL has them on its disk by then.
  expect(await kept()).toEqual([1, 2, 3])
})

test('nor is one when the connection is ended behind the answers to its statements', async () => {
  await create(0)
  proxy.breakAt('farewell', '"n":7001')
  const reported = await Promise.allSettled([7_001, 7_002, 7_003].map(create))
  expect(reported.map((one) => (one.status === 'rejected' ? String(one.reason) : 'stored'))).toEqual([
    unknown,
    unknown,
    unknown,
  ])
  expect(await count()).toBe(4)
})

test('creates of ten sessions at once: one trip', async () => {
  await create(0)
  expect(await tripsOf(() => times(10, create))).toBe(1)
  expect(await count()).toBe(11)
})

test('200 at once: each is stored, and each gets its own document', async () => {
  const guids = await times(200, create)
  const stored = await times(200, async (number) =>
    documentOf((await database.session().get(name, guids[number] ?? '')) ?? fail()),
  )
  expect(stored.map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, number) => number))
})

test('large documents are sent one by one: three of five fit into a trip', async () => {
  await times(4, create)
  const text = 'x'.repeat(300_000)
  const large = () =>
    transact(database, async (session) => void (await session.create(name, setFields({ text }))))
  expect(await tripsOf(() => times(5, large))).toBe(3)
  expect(await count()).toBe(9)
})

test('a document that another transaction has locked keeps no create waiting, and its update counts from what that one stored', async () => {
  const guid = await create(0)
  const { rows } = await admin.query(`SELECT 'doc_' || id AS table FROM storage WHERE name = $1`, [name])
  await admin.query('BEGIN')
  await admin.query(
    `UPDATE ${rows[0].table} SET doc = replace(doc::text, '"n":0', '"n":10')::json WHERE guid = $1`,
    [guid],
  )
  let updated = false
  const update = increment(guid).then(() => {
    updated = true
  })
  try {
    await times(5, create)
    expect([updated, await count()]).toEqual([false, 6])
  } finally {
    await admin.query('COMMIT')
  }
  await update
  expect(documentOf((await database.session().get(name, guid)) ?? fail()).n).toBe(11)
})

function fail(): never {
  throw new Error('There is no such document.')
}
