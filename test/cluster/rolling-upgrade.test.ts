/** Real processes of this version while a database goes to the schema of the next. */
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresPool } from '../../src/storage/postgres/core/postgres-connection.ts'
import { migratePostgres, postgresMigrations } from '../../src/storage/postgres/core/postgres-parts.ts'
import { adminPassword, objectOf, type RunningProcess, startProcess } from '../end-to-end/harness.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { callNode } from './call-node.ts'

let temporary: TemporaryDatabase
let directory: string
let node: RunningProcess

const start = (name: string) =>
  startProcess(join(directory, name), {
    QUOIN_NODE: name,
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_EXAMPLES: '0',
    DATABASE_URL: temporary.url,
  })

beforeAll(async () => {
  temporary = await openTemporaryDatabase()
  directory = await mkdtemp(join(tmpdir(), 'quoin-upgrade-'))
  node = await start('old')
})
afterAll(async () => {
  await node?.end('SIGKILL')
  await rm(directory, { recursive: true, force: true })
  await temporary.drop()
})

test('one that runs serves and writes on; one that starts says in one line why it does not', async () => {
  const today = await postgresMigrations()
  const number = today.length + 1
  const sql = 'ALTER TABLE node ADD COLUMN zone text; CREATE TABLE zone (name text PRIMARY KEY)'
  const checksum = createHash('sha256').update(sql).digest('hex')
  const pool = openPostgresPool({ url: temporary.url, connections: 2, pooled: false })
  await migratePostgres(pool, [...today, { number, name: `${number}-next.sql`, sql, checksum }])
  await pool.close()

  // Signing in writes a token, which every live node has to hear of before it is answered.
  const body = { username: 'admin', password: adminPassword }
  const signedIn = await callNode(node.address, '/auth/signin', { method: 'POST', body })
  expect(signedIn.status).toBe(200)
  const token = String(objectOf(signedIn.body).access_token)
  const made = await callNode(node.address, '/_system/storages', {
    method: 'POST',
    token,
    body: { name: 'after_the_upgrade' },
  })
  expect(made.status).toBe(200)

  const refused = await start('late').then(
    () => 'It started.',
    (error: Error) => error.message,
  )
  expect(refused.split('\n').filter(Boolean)).toEqual([
    'Quoin ended before it was ready:',
    `The database was made by a newer Quoin: it has schema ${number}, this version knows ${today.length}. Start the newer version, or restore a backup.`,
  ])
}, 60_000)
