/** Free text for a storage that is full: what it reads grows with the documents and not with their square. */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { matchAll, type Query } from '../../../shared/query.ts'
import type { Database } from '../../database.ts'

const DOCUMENTS = 6_000

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

const text = (words: string): Query => ({ kind: 'simple_query_string', fields: [], text: words })
const count = (name: string, query: Query) => database.session().count(name, query)

async function tableOf(name: string): Promise<string> {
  const { rows } = await admin.query(`SELECT 'doc_' || id AS doc FROM storage WHERE name = $1`, [name])
  return rows[0].doc
}

/** A storage with documents that have no tokens. Gives its table. */
async function full(name: string, documents: number, body = `'note', 'all n' || n`): Promise<string> {
  await database.ensure(name)
  const table = await tableOf(name)
  await admin.query(`INSERT INTO ${table} (guid, created, updated, removed, version, doc)
    SELECT guid, n, n, 0, 1, json_build_object('_meta', json_build_object('guid', guid), ${body})
    FROM generate_series(1, ${documents}) AS n, LATERAL (SELECT 'g' || lpad(n::text, 6, '0') AS guid) AS named`)
  return table
}

/** Rows of the table that statements have read so far, by index or by going through it. */
async function rowsRead(table: string): Promise<number> {
  // Each connection hands in what it has counted when it is idle, at the latest after a second.
  const ask = async () => {
    await admin.query('SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()')
    const { rows } = await admin.query(
      'SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS n FROM pg_stat_user_tables WHERE relname = $1',
      [table],
    )
    return rows[0].n
  }
  let before = -1
  for (let now = await ask(); now !== before; now = await ask()) {
    before = now
    await new Promise((resolve) => setTimeout(resolve, 1_500))
  }
  return before
}

test('every document is read a few times, however many there are', async () => {
  const table = await full('many', DOCUMENTS)
  await database.ensure('many', { text: true })
  expect([await count('many', text('all')), await count('many', text(`n${DOCUMENTS}`))]).toEqual([
    DOCUMENTS,
    1,
  ])
  // Two for the index, three for a document: 4.9 were counted. From the start for each batch of 200 it would be 20.
  expect((await rowsRead(table)) / DOCUMENTS).toBeLessThan(8)
})

test('what was cut off goes on where it ended, on whichever node, and each sees how far it is', async () => {
  const table = await full('cut', DOCUMENTS)
  const middle = `g${String(DOCUMENTS / 2).padStart(6, '0')}`
  await admin.query(
    `ALTER TABLE ${table} ADD CONSTRAINT broken CHECK (token_count IS NULL OR guid < '${middle}')`,
  )
  const first = await openNode(temporary.url, { node: 'one' })
  await expect(first.ensure('cut', { text: true })).rejects.toThrow()
  // Not ready yet: searches read the documents, and miss none.
  expect(await first.session().count('cut', text('all'))).toBe(DOCUMENTS)
  // What its connections have counted is handed in when they close, else within ten seconds.
  await first.close()
  const [cut] = await database.capabilities.indexes.preparing()
  expect(cut).toMatchObject({ storage: 'cut', kind: 'text', total: DOCUMENTS })
  expect(cut?.done).toBeGreaterThan(DOCUMENTS / 2 - 300)
  expect(cut?.done).toBeLessThan(DOCUMENTS / 2)

  await admin.query(`ALTER TABLE ${table} DROP CONSTRAINT broken`)
  const before = await rowsRead(table)
  const other = await openNode(temporary.url, { node: 'two' })
  await other.ensure('cut', { text: true })
  await other.close()
  expect(await database.capabilities.indexes.preparing()).toEqual([])
  // The second half, three times: 9,600 were counted. From the start for each batch it would be 60,000.
  expect((await rowsRead(table)) - before).toBeLessThan(DOCUMENTS * 4)
  expect([await count('cut', text('all')), await count('cut', matchAll)]).toEqual([DOCUMENTS, DOCUMENTS])
})

test('large documents are filled a few at a time', async () => {
  // Incompressible, so that they are as large as they look: 20 of 200 kB.
  const words = `'note', 'all ' || (SELECT string_agg(md5(n || ' ' || m), ' ') FROM generate_series(1, 6000) AS m)`
  const table = await full('large', 20, words)
  await database.ensure('large', { text: true })
  expect(await count('large', text('all'))).toBe(20)
  const { rows } = await admin.query(`SELECT count(DISTINCT xmin::text)::int AS n FROM ${table}`)
  // One transaction each: 20 documents at once held the process for 326 ms, these batches for 54.
  expect(rows[0].n).toBeGreaterThan(2)
})
