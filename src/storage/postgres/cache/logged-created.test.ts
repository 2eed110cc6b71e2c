/** Nodes of the version before, which read in notes of writes when a document was created, beside one that needs it no more. */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import type { Database } from '../../database.ts'
import { documentTableSql } from '../core/postgres-catalogue.ts'
import { openPostgresPool } from '../core/postgres-connection.ts'
import { migratePostgres, postgresMigrations } from '../core/postgres-parts.ts'

const steps = await postgresMigrations()
const before = steps.filter(({ number }) => number < 20)

let temporary: TemporaryDatabase
let admin: Client
let node: Database | undefined
beforeAll(async () => {
  temporary = await openTemporaryDatabase()
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
})
afterAll(async () => {
  await node?.close()
  await admin?.end()
  await temporary?.drop()
})

/** As a node of the version before does. */
const create = (guid: string, cms: number) =>
  admin.query(
    `INSERT INTO doc_1 (guid, created, updated, removed, version, doc) VALUES ($1, $2, $2, 0, 1, '{"n":1}')`,
    [guid, cms],
  )

async function recorded(guid: string): Promise<unknown[]> {
  const { rows } = await admin.query('SELECT * FROM noted_write WHERE guid = $1 ORDER BY xid', [guid])
  return rows.map(({ created }) => created)
}

test('from the step on writes are noted without it, which is to them any time, and both see each write', async () => {
  const pool = openPostgresPool({ url: temporary.url, connections: 2, pooled: false })
  await migratePostgres(pool, before)
  await pool.close()
  await admin.query(`INSERT INTO storage (name, noted) VALUES ('notes', true);
    INSERT INTO noted_write_life DEFAULT VALUES; ${documentTableSql(1)};
    CREATE TRIGGER doc_1_noted AFTER INSERT OR DELETE OR UPDATE OF doc ON doc_1
      FOR EACH ROW EXECUTE FUNCTION quoin_note_write(1)`)
  await create('one', 1_000)
  expect(await recorded('one')).toEqual(['1000'])
  node = await openNode(temporary.url)
  await admin.query(`UPDATE doc_1 SET doc = '{"n":2}' WHERE guid = 'one'`)
  await admin.query(`DELETE FROM doc_1 WHERE guid = 'one'`)
  expect(await recorded('one')).toEqual(['1000', null, null])
  const { readVersions } = node.capabilities
  await vi.waitFor(
    async () => {
      await readVersions.catchUp?.()
      expect(readVersions.of('notes')()).toBeDefined()
    },
    { timeout: 30_000, interval: 5 },
  )
  const seen = readVersions.of('notes')()
  await create('two', 2_000)
  expect(await readVersions.catchUp?.()).toBe(true)
  expect(readVersions.of('notes')()).not.toBe(seen)
})
