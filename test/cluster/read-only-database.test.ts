/** A database that takes no changes for a while, as managed servers make it while their disk is nearly full. */
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { guidOf, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { notesBlueprint, switchBlueprint } from './storm-blueprints.ts'

let temporary: TemporaryDatabase
let admin: Client
let node: TestQuoin
let note: string

beforeAll(async () => {
  temporary = await openTemporaryDatabase(quoinTemplate)
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  node = await openTestQuoin({ DATABASE_URL: temporary.url })
  for (const { name, blocks } of [notesBlueprint, switchBlueprint])
    await node.install(String(name), Object(blocks))
  await node.tokenOf('admin')
  note = guidOf((await node.send('POST', '/notes', { body: { text: 'before' } })).body)
})
afterEach(() => setReadOnly('off'))
afterAll(async () => {
  await node.close()
  await admin.end()
  await temporary.drop()
})

/** For sessions that begin from now on; those of the node are ended. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  await admin.query('SET default_transaction_read_only = off')
  await admin.query(`DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${value}', current_database()); END $$`)
  await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'quoin'`)
}

const statusOf = async (path: string) => (await node.send('GET', path)).status
const write = () => node.send('POST', '/notes', { body: { text: 'now' } })

test('writes are refused with 503 and retry-after, reads go on, and writes do as soon as they can', async () => {
  await setReadOnly('on')
  const refused = await write()
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
  expect(refused.text).toContain('read-only')
  const managed = await node.send('POST', '/users', {
    as: 'admin',
    body: { username: 'ann', password: 'a password of a user' },
  })
  expect([managed.status, managed.headers['retry-after']]).toEqual([503, '5'])
  expect(await Promise.all([`/notes/${note}`, '/notes', '/switch'].map(statusOf))).toEqual([200, 200, 200])
  expect((await node.send('GET', '/users/me', { as: 'admin' })).status).toBe(200)
  await setReadOnly('off')
  await expect.poll(async () => (await write()).status, { timeout: 10_000 }).toBe(201)
})

test('a node keeps its lease meanwhile, and joins again when it has lost it', async () => {
  await setReadOnly('on')
  const since = 'SELECT now()::text AS time'
  const { time } = (await admin.query(since)).rows[0]
  const renewed = async () =>
    (await admin.query('SELECT 1 FROM node WHERE seen > $1 AND lease_until > now()', [time])).rowCount
  await expect.poll(renewed, { timeout: 10_000 }).toBe(1)
  expect(await statusOf('/switch')).toBe(200)
  await admin.query('DELETE FROM node')
  await expect.poll(renewed, { timeout: 10_000 }).toBe(1)
  await expect.poll(() => statusOf('/switch'), { timeout: 10_000 }).toBe(200)
})
