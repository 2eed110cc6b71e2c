import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import type { Database } from '../../database.ts'
import { indexExpression } from '../sql/field-sql.ts'

// The planner knows how many documents have a value of an indexed field. Without statistics it believes 0.5 % of them.

const DOCUMENTS = 20_000
const VALUES = 4
const TRUTH = DOCUMENTS / VALUES

let temporary: TemporaryDatabase
let admin: Client
let database: Database
beforeAll(async () => {
  temporary = await openTemporaryDatabase()
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  database = await openNode(temporary.url)
})
afterAll(async () => {
  await database.close()
  await admin.end()
  await temporary.drop()
})

const indexes = [{ fields: ['status'] }]

async function tableOf(name: string): Promise<string> {
  const { rows } = await admin.query(`SELECT 'doc_' || id AS doc FROM storage WHERE name = $1`, [name])
  return rows[0].doc
}

async function fill(name: string, documents = DOCUMENTS): Promise<void> {
  await admin.query(`INSERT INTO ${await tableOf(name)} (guid, created, updated, removed, version, doc)
    SELECT 'g' || n, n, n, 0, 1, json_build_object('status', 'state ' || n % ${VALUES}, 'other', n)
    FROM generate_series(1, ${documents}) AS n`)
}

/** How many documents with a state the planner expects. */
async function estimate(name: string, key = indexExpression('status', new Map())): Promise<number> {
  const where = `removed = 0 AND ${key} = 'sstate 1'`
  const { rows } = await admin.query(
    `EXPLAIN (FORMAT JSON) SELECT FROM ${await tableOf(name)} WHERE ${where}`,
  )
  return rows[0]['QUERY PLAN'][0].Plan['Plan Rows']
}

async function statisticsOf(name: string): Promise<number> {
  const { rows } = await admin.query(
    'SELECT count(*)::int AS n FROM pg_statistic_ext WHERE stxrelid = $1::regclass',
    [await tableOf(name)],
  )
  return rows[0].n
}

/** A node of a version without key columns: while it lives, indexes stay over expressions. */
async function oldNode(): Promise<void> {
  await admin.query(`INSERT INTO node (guid, name, version, lease_until, applied)
    SELECT 'old', 'old', '1.0.0', now() + interval '1 hour', number + 1000000 FROM change_counter`)
}

test('an index over documents comes with them until its storage has moved to key columns', async () => {
  await oldNode()
  await database.ensure('orders')
  await fill('orders')
  await database.ensure('orders', { indexes })
  expect(await statisticsOf('orders')).toBe(1)
  const within = (rows: number) => rows > TRUTH / 2 && rows < TRUTH * 2
  expect(await estimate('orders')).toSatisfy(within)

  // Control: without them.
  const table = await tableOf('orders')
  const { rows } = await admin.query('SELECT stxname FROM pg_statistic_ext WHERE stxrelid = $1::regclass', [
    table,
  ])
  await admin.query(`DROP STATISTICS ${rows[0].stxname}; ANALYZE ${table}`)
  expect(await estimate('orders')).toBeLessThan(TRUTH / 10)
  await admin.query(`DELETE FROM node WHERE guid = 'old'`)
})

test('an index over an empty storage needs none: its key columns have their own', async () => {
  await database.ensure('empty', { indexes })
  await database.ensure('later')
  await database.ensure('later', { indexes })
  for (const name of ['empty', 'later']) {
    expect(await statisticsOf(name)).toBe(0)
    await fill(name, 4_000)
    await admin.query(`ANALYZE ${await tableOf(name)}`)
    expect(await estimate(name, 'k1')).toBeGreaterThan(500)
  }
})

test('they go with the last index over the field', async () => {
  const both = { fields: ['status', 'other'] }
  await database.ensure('left')
  await fill('left', 10)
  await database.ensure('left', { indexes: [...indexes, both] })
  expect(await statisticsOf('left')).toBe(2)
  await database.capabilities.indexes.release('left', indexes)
  expect(await statisticsOf('left')).toBe(1)
  await database.capabilities.indexes.release('left', [])
  expect(await statisticsOf('left')).toBe(0)
})
