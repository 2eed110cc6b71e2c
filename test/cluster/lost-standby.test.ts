/** A primary whose only synchronous standby is gone: every COMMIT waits, for as long as that lasts. */
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { guidOf, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'
import { openPostgresServer, type PostgresServer } from '../postgres/postgres-server.ts'
import { notesBlueprint, switchBlueprint } from './storm-blueprints.ts'

let server: PostgresServer
let admin: Client
let node: TestQuoin
let note: string

beforeAll(async () => {
  // Its own: the setting is of the whole server.
  server = await openPostgresServer()
  admin = new Client({ connectionString: server.url('postgres') })
  await admin.connect()
  node = await openTestQuoin({ DATABASE_URL: server.url('postgres') })
  for (const { name, blocks } of [notesBlueprint, switchBlueprint])
    await node.install(String(name), Object(blocks))
  note = guidOf((await write()).body)
  await node.tokenOf('admin')
})
afterEach(() => setStandby(''))
afterAll(async () => {
  await node.close()
  await admin.end()
  await server.close()
})

async function setStandby(name: string): Promise<void> {
  await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
  await admin.query('SELECT pg_reload_conf()')
}

const write = () => node.send('POST', '/notes', { body: { text: 'now' } })
const statuses = () =>
  Promise.all(
    [`/notes/${note}`, '/notes', '/switch'].map(async (path) => (await node.send('GET', path)).status),
  )
/** Connections of the node whose COMMIT waits for the standby. */
const hanging = async () =>
  (await admin.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)).rowCount ?? 0

test('reads and constant replies go on: the lease is renewed, and connections are left for reads', async () => {
  await setStandby('ANY 1 (nobody)')
  const notes = Array.from({ length: 12 }, write)
  // Single statements, which share their connections with reads; each is behind the first, which holds the counter's row.
  const told = Array.from({ length: 12 }, () => node.quoin.storage.cluster?.tell('nothing', []).catch(String))
  await expect.poll(hanging, { timeout: 10_000 }).toBeGreaterThan(1)
  const { time } = (await admin.query('SELECT now()::text AS time')).rows[0]
  const renewed = 'SELECT FROM node WHERE seen > $1 AND lease_until > now()'
  await expect.poll(async () => (await admin.query(renewed, [time])).rowCount, { timeout: 10_000 }).toBe(1)
  expect(await statuses()).toEqual([200, 200, 200])
  expect((await node.send('GET', '/users/me', { as: 'admin' })).status).toBe(200)
  await setStandby('')
  // Whoever waited for a connection in vain was told so.
  for (const { status } of await Promise.all(notes)) expect([201, 503]).toContain(status)
  await Promise.all(told)
})
