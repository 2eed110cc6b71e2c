/** The schema under nodes that run: the next version is played by today's steps and one more. */
import { createHash, randomFillSync } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { search } from '../../../shared/query.ts'
import { type Database, documentOf } from '../../database.ts'
import { joinDocument, stamps } from '../../document-session.ts'
import type { Migration } from '../../migrations.ts'
import { transact } from '../../transact.ts'
import { documentTableSql } from './postgres-catalogue.ts'
import { openPostgresPool, type PostgresPool } from './postgres-connection.ts'
import { migratePostgres, postgresMigrations } from './postgres-parts.ts'

const today = await postgresMigrations()

let temporary: TemporaryDatabase
let admin: Client
const open = new Set<Database>()

beforeEach(async () => {
  temporary = await openTemporaryDatabase()
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
})
afterEach(async () => {
  for (const database of open) await database.close()
  open.clear()
  await admin.end()
  await temporary.drop()
})

async function node(name: string, migrations: readonly Migration[]): Promise<Database> {
  const database = await openNode(temporary.url, { node: name, migrations })
  open.add(database)
  return database
}

/** The version after today's: `sql` is its step. */
function next(sql: string): readonly Migration[] {
  const number = today.length + 1
  const checksum = createHash('sha256').update(sql).digest('hex')
  return [...today, { number, name: `${number}-next.sql`, sql, checksum }]
}

async function applied(): Promise<number[]> {
  const { rows } = await admin.query('SELECT number FROM migration ORDER BY number')
  return rows.map(({ number }) => number)
}

const create = (database: Database, name: string, fields: Record<string, string | number>) =>
  transact(database, (session) => session.create(name, setFields(fields)))

test('a database with the schema before the newest, and data in it, is brought up to date', async () => {
  const pool = openPostgresPool({ url: temporary.url, connections: 2, pooled: false })
  await migratePostgres(pool, today.slice(0, -1))
  await pool.close()
  expect(await applied()).toHaveLength(today.length - 1)
  const { created } = stamps({ clock: Date.now, random: randomFillSync, entity: 1 })
  await admin.query(`INSERT INTO storage (name) VALUES ('notes'); ${documentTableSql(1)}`)
  for (let n = 0; n < 3; n++) {
    const meta = created()
    await admin.query('INSERT INTO doc_1 VALUES ($1, $2, $2, 0, 1, $3)', [
      meta.guid,
      meta.cms,
      joinDocument(meta, JSON.stringify({ n })),
    ])
  }
  await admin.query(`INSERT INTO job (guid, queue, kind, title, payload, priority, run_at, attempts, created, updated)
    VALUES ('one', 'default', 'run', '', '{}', 0, 0, 3, 0, 0)`)

  const database = await node('new', today)
  expect(await applied()).toHaveLength(today.length)
  const n = await database.session().claims.numbers('notes', 'n', { count: 1, from: 3 })
  await create(database, 'notes', { n })
  await database.ensure('notes', { indexes: [{ fields: ['n'] }] })
  const query = { kind: 'range', field: 'n', bounds: { gte: 1 } } as const
  const sort = [{ field: 'n', order: 'desc', missing: 'last' }] as const
  const { documents } = await database.session().find('notes', search({ query, sort }))
  expect(documents.value).toMatchObject([{ n: 3 }, { n: 2 }, { n: 1 }])
  expect(await database.capabilities.queues.list()).toMatchObject([{ name: 'default', waiting: 1 }])
})

test('only the steps give up a lock after a second: transactions behind them wait for a row as long as before', async () => {
  const limitsOf = async (pool: PostgresPool) => {
    const transaction = pool.transaction()
    const [row] = await transaction.rows('SHOW lock_timeout')
    await transaction.rollback()
    return row?.lock_timeout
  }
  const pool = openPostgresPool({ url: temporary.url, connections: 1, pooled: false })
  try {
    const before = await limitsOf(pool)
    await migratePostgres(pool, today)
    expect([before, await limitsOf(pool)]).toEqual(['0', '0'])
    await expect(migratePostgres(pool, next('SELECT no_such_function()'))).rejects.toThrow('no_such_function')
    expect(await limitsOf(pool)).toBe('0')
  } finally {
    await pool.close()
  }
})

describe('a rolling upgrade', () => {
  test('the older node serves on while the first of the new version migrates, and beside it', async () => {
    const old = await node('old', today)
    await old.ensure('notes', { indexes: [{ fields: ['n'] }] })
    const heard: unknown[] = []
    old.capabilities.changes.watch('news', (messages) => void heard.push(messages))
    let over = false
    let written = 0
    const writing = (async () => {
      while (!over) {
        await create(old, 'notes', { n: written })
        written += 1
      }
    })()
    const upgraded = await node(
      'new',
      next(`ALTER TABLE node ADD COLUMN zone text NOT NULL DEFAULT '';
        ALTER TABLE job ADD COLUMN zone text; CREATE TABLE zone (name text PRIMARY KEY)`),
    )
    const before = written
    await expect.poll(() => written).toBeGreaterThan(before)
    over = true
    await writing
    expect(await applied()).toEqual([...today.map(({ number }) => number), today.length + 1])
    expect(old.capabilities.cluster?.alive()).toBe(true)
    expect(await upgraded.session().count('notes', { kind: 'all' })).toBe(written)
    // Each hears of the other, makes storages and jobs that the other finds.
    await upgraded.capabilities.cluster?.notify('news', ['from the new one'])
    expect(heard).toEqual([['from the new one']])
    await upgraded.ensure('later')
    expect(old.has('later')).toBe(true)
    await transact(old, (session) => session.enqueue({ queue: 'q', kind: 'event', title: '', payload: {} }))
    expect(await upgraded.capabilities.queues.list()).toMatchObject([{ name: 'q', waiting: 1 }])
    // It has followed the cluster through the migration: a beat of its own comes after it.
    await wait(1_200)
    expect((await old.capabilities.cluster?.nodes())?.map(({ name, live }) => [name, live])).toEqual([
      ['new', true],
      ['old', true],
    ])
  })

  test('an older node does not start on the newer schema, says so in one line, and changes nothing', async () => {
    const upgraded = await node('new', next('CREATE TABLE zone (name text PRIMARY KEY)'))
    await expect(node('old', today)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `The database was made by a newer Quoin: it has schema ${today.length + 1}, this version knows ${today.length}. Start the newer version, or restore a backup.`,
    })
    expect((await upgraded.capabilities.cluster?.nodes())?.map(({ name }) => name)).toEqual(['new'])
    expect(await applied()).toHaveLength(today.length + 1)
  })

  test('nodes that start together migrate once', async () => {
    // Each step would fail if it were run twice.
    const steps = next('CREATE TABLE ran (n integer); INSERT INTO ran VALUES (1)')
    await node('old', today)
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => node(name, steps)))
    expect(await applied()).toHaveLength(today.length + 1)
    expect((await admin.query('SELECT n FROM ran')).rows).toEqual([{ n: 1 }])
  })

  test('a step that fails leaves the schema that was there, and the older node on it', async () => {
    const old = await node('old', today)
    await old.ensure('notes')
    const broken = next('CREATE TABLE half (n integer); SELECT no_such_function()')
    await expect(node('new', broken)).rejects.toThrow('no_such_function')
    expect(await applied()).toHaveLength(today.length)
    expect((await admin.query(`SELECT to_regclass('half') AS half`)).rows).toEqual([{ half: null }])
    await create(old, 'notes', { n: 1 })
    expect(await old.session().count('notes', { kind: 'all' })).toBe(1)
  })

  test('a step that has to wait for a long transaction lets the others through in between', async () => {
    const old = await node('old', today)
    await old.ensure('notes')
    const [{ table }] = (await admin.query(`SELECT 'doc_' || id AS table FROM storage WHERE name = 'notes'`))
      .rows as [{ table: string }]
    // As a flow does that has written and is still at work.
    const busy = new Client({ connectionString: temporary.url })
    await busy.connect()
    await busy.query(`BEGIN; LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`)
    const upgraded = node('new', next(`ALTER TABLE ${table} ADD COLUMN zone text`))
    // Until the step has given up at least once: it then waits in a new transaction.
    const waiting = async () => {
      const { rows } = await admin.query(
        `SELECT pid, xact_start::text AS since FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'ALTER TABLE ${table}%' AND wait_event_type = 'Lock'`,
      )
      return rows[0]?.since
    }
    await expect.poll(waiting, { timeout: 5_000 }).toBeDefined()
    const first = await waiting()
    // Behind a step that waits for ever this would wait as well.
    const document = documentOf(await create(old, 'notes', { n: 1 }))
    expect(document.n).toBe(1)
    await expect
      .poll(async () => ![first, undefined].includes(await waiting()), { timeout: 5_000 })
      .toBe(true)
    expect(old.capabilities.cluster?.alive()).toBe(true)
    await busy.end()
    await upgraded
    expect(await applied()).toHaveLength(today.length + 1)
  })
})
