import { Client } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import type { Database } from '../../database.ts'

// A version before made statistics of the expressions of its indexes. Key columns have their own.

const DOCUMENTS = 4_000
const VALUES = 4
const TRUTH = DOCUMENTS / VALUES

let temporary: TemporaryDatabase
let admin: Client
let database: Database
beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
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
async function estimate(name: string, key: string): Promise<number> {
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
async function oldNode(): Promise<() => Promise<unknown>> {
  await admin.query(`INSERT INTO node (guid, name, version, lease_until, applied)
    SELECT 'old', 'old', '1.0.0', now() + interval '1 hour', number + 1000000 FROM change_counter`)
  return () => admin.query(`DELETE FROM node WHERE guid = 'old'`)
}

/** As a version before made them beside its indexes. */
async function statisticsBefore(name: string): Promise<void> {
  const table = await tableOf(name)
  for (const field of ['status', 'other'])
    await admin.query(
      `CREATE STATISTICS ${table}_stat_${field} ON (quoin_key(doc -> '${field}') COLLATE "C") FROM ${table}`,
    )
  // Of an administrator.
  await admin.query(`CREATE STATISTICS ours_${table} ON removed, updated FROM ${table}`)
}

const columnsOf = async (name: string) => {
  const { rows } = await admin.query(
    'SELECT count(*)::int AS n FROM key_column JOIN storage ON id = storage WHERE name = $1 AND ready',
    [name],
  )
  return rows[0].n
}

test('statistics of a version before are dropped when the storage has moved to key columns, and no others', async () => {
  const gone = await oldNode()
  await database.ensure('orders')
  await fill('orders')
  await database.ensure('orders', { indexes })
  await statisticsBefore('orders')
  expect([await statisticsOf('orders'), await columnsOf('orders')]).toEqual([3, 0])
  await gone()
  // A node looks when it starts.
  await database.close()
  database = await openNode(temporary.url)
  await vi.waitFor(async () => expect(await statisticsOf('orders')).toBe(1), 20_000)
  expect(await columnsOf('orders')).toBe(1)
  // Key columns have their own.
  const found = await estimate('orders', 'k1')
  expect(found).toSatisfy((rows: number) => rows > TRUTH / 2 && rows < TRUTH * 2)
})

test('an index makes none, over documents or without', async () => {
  const gone = await oldNode()
  await database.ensure('empty', { indexes })
  await database.ensure('full')
  await fill('full', 10)
  await database.ensure('full', { indexes })
  expect([await statisticsOf('empty'), await statisticsOf('full')]).toEqual([0, 0])
  await gone()
})

test('those of a version before go with an index that is dropped before its storage has moved', async () => {
  const gone = await oldNode()
  await database.ensure('left')
  await fill('left', 10)
  await database.ensure('left', { indexes })
  await statisticsBefore('left')
  await database.capabilities.indexes.release('left', [])
  expect(await statisticsOf('left')).toBe(1)
  await gone()
})
