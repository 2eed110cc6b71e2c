/**
 * Documents that are asked for by guid are found by guid, also where PostgreSQL does not know yet how many documents there are. It
 * once read all of the index over present documents instead: after an import until its next look at the table.
 */
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase } from '../../../../test/temporary-database.ts'
import { lockedGuids } from '../reference/referred-documents.ts'
import { batchedReads } from './batched-reads.ts'
import type { StorageEntry } from './postgres-catalogue.ts'
import type { PostgresConnection } from './rows.ts'

const DOCUMENTS = 10_000
const guids = Array.from({ length: 32 }, (_, number) => `g${number * 300}`)

test.each<[string, (connection: PostgresConnection, entry: StorageEntry) => Promise<unknown>]>([
  [
    'reads that share a statement',
    (connection, entry) => {
      const gets = batchedReads(connection)
      return Promise.all(guids.map((guid) => gets.get(entry, guid, false)))
    },
  ],
  [
    'documents that are referred to',
    (connection, entry) => lockedGuids(connection, entry, guids, 'reference'),
  ],
])('%s', async (_, read) => {
  const temporary = await openTemporaryDatabase(storageTemplate)
  const database = await openNode(temporary.url)
  const admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  try {
    await database.ensure('things')
    const found = await admin.query(`SELECT id, 'doc_' || id AS doc FROM storage WHERE name = 'things'`)
    const { id, doc: table } = found.rows[0]
    await admin.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)
    await admin.query(`INSERT INTO ${table} (guid, created, updated, removed, version, doc)
      SELECT 'g' || n, n, n, 0, 1, '{}' FROM generate_series(0, ${DOCUMENTS - 1}) AS n`)
    const sent: string[] = []
    const connection: PostgresConnection = {
      rows: async (text) => {
        sent.push(text)
        return []
      },
      run: () => Promise.reject(new Error('Nothing is written.')),
    }
    await read(connection, {
      id,
      name: 'things',
      table,
      noted: false,
      textReady: false,
      columns: new Map(),
      indexes: new Map(),
      unique: [],
      needsText: false,
    })
    expect(sent).toHaveLength(1)
    const { rows } = await admin.query(`EXPLAIN ${sent[0]}`, [guids])
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain(`${table}_pkey`)
    expect(plan).not.toContain(`${table}_created`)
  } finally {
    await admin.end()
    await database.close()
    await temporary.drop()
  }
})
