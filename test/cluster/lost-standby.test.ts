/** A primary whose only synchronous standby is gone: every COMMIT waits, for as long as that lasts. */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { guidOf, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'
import { type DelayedCommits, openDelayedCommits } from '../postgres/hold-commits.ts'
import { openPostgresServer, type PostgresServer } from '../postgres/postgres-server.ts'
import { notesBlueprint, switchBlueprint } from './storm-blueprints.ts'

let server: PostgresServer
let admin: Client
let commits: DelayedCommits
let node: TestQuoin
let note: string

beforeAll(async () => {
  // Its own: the setting is of the whole server.
  server = await openPostgresServer()
  admin = new Client({ connectionString: server.url('postgres') })
  await admin.connect()
  commits = await openDelayedCommits(server.url('postgres'))
  node = await openTestQuoin({ DATABASE_URL: server.url('postgres'), QUOIN_RUN_DEADLINE: '4000' })
  for (const { name, blocks } of [notesBlueprint, switchBlueprint])
    await node.install(String(name), Object(blocks))
  note = guidOf((await write()).body)
  await node.tokenOf('admin')
})
afterEach(() => commits.letGo())
afterAll(async () => {
  await node.close()
  await commits.close()
  await admin.end()
  await server.close()
})

const write = () => node.send('POST', '/notes', { body: { text: 'now' } })
/**
 * Behind what the node writes of itself. The records of failed runs, for example: their COMMIT would hang first and hold
 * the row of the counter, and a run that waits for that row has nothing that could be stored.
 */
async function holdWhenQuiet(): Promise<void> {
  await node.quoin.flows.log.flush()
  // A second after a change its record of the audit log gets a place in the chain, under a lock of the cluster.
  await node.quoin.auditChain.seal()
  await commits.hold()
}
const statuses = () =>
  Promise.all(
    [`/notes/${note}`, '/notes', '/switch'].map(async (path) => (await node.send('GET', path)).status),
  )
test('reads and constant replies go on: the lease is renewed, and connections are left for reads', async () => {
  await holdWhenQuiet()
  const notes = Array.from({ length: 12 }, write)
  // Single statements; each is behind the first, which holds the counter's row.
  const reported = Array.from({ length: 12 }, () =>
    node.quoin.database.capabilities.cluster?.notify('nothing', []).catch(String),
  )
  // All that writes may have: the last connection is for reads.
  const stuck = `SELECT FROM pg_stat_activity WHERE application_name = 'quoin' AND (wait_event = 'SyncRep' OR wait_event_type = 'Lock')`
  await expect.poll(async () => (await admin.query(stuck)).rowCount, { timeout: 10_000 }).toBe(9)
  expect((await commits.hanging()).length).toBeGreaterThan(0)
  const { time } = (await admin.query('SELECT now()::text AS time')).rows[0]
  const renewed = 'SELECT FROM node WHERE seen > $1 AND lease_until > now()'
  await expect.poll(async () => (await admin.query(renewed, [time])).rowCount, { timeout: 10_000 }).toBe(1)
  expect(await statuses()).toEqual([200, 200, 200])
  expect((await node.send('GET', '/users/me', { as: 'admin' })).status).toBe(200)
  await commits.letGo()
  // A request that waited for a connection in vain got 503.
  for (const { status } of await Promise.all(notes)) expect([201, 503]).toContain(status)
  await Promise.all(reported)
})

test('a run whose COMMIT hangs is answered at its deadline: the change may still be stored, and is', async () => {
  const body = { text: 'late' }
  const send = async () => {
    await holdWhenQuiet()
    // Far from both: the deadline of 4 s, and the 30 s after which storage itself gives up.
    return Promise.race([node.send('POST', '/notes', { body }), wait(20_000, undefined, { ref: false })])
  }
  let late = await send()
  // Something else of the node came first: nothing of this run can be stored, and it is not told so.
  for (let tries = 0; tries < 3 && late?.text.includes('took too long'); tries += 1) {
    await commits.letGo()
    late = await send()
  }
  expect(late).toMatchObject({
    status: 503,
    body: { error: expect.stringContaining('may still be stored') },
    headers: { 'retry-after': '5' },
  })
  // Nothing else has ended it.
  expect((await commits.hanging()).length).toBeGreaterThan(0)
  const isThere = async () => (await node.send('GET', '/notes')).text.includes('"late"')
  expect(await isThere()).toBe(false)
  await commits.letGo()
  await expect.poll(isThere, { timeout: 10_000 }).toBe(true)
})

test('what was sent with an idempotency-key and is sent again is stored once', async () => {
  await node.install('Orders', {
    orders: { type: 'storage', fields: { storage: 'orders' } },
    on: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'orders' },
      fields: { idempotent: true },
      scopes: ['*public'],
    },
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@on.body' } },
    keep: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@on.flow', storage: '@orders.storage', mutations: '@set.mutations' },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@keep.flow', value: '@keep.document' } },
  })
  const order = () =>
    node.send('POST', '/orders', { body: { item: 'tea' }, headers: { 'idempotency-key': 'once' } })
  await holdWhenQuiet()
  expect((await order()).status).toBe(503)
  await commits.letGo()
  const again = await order()
  expect([again.status, again.headers['idempotent-replay']]).toEqual([200, 'true'])
  expect(await node.documents('orders')).toHaveLength(1)
})

test('a signed-in user does not wait until the use of the token is written down', async () => {
  const authorization = `Bearer ${await node.tokenOf('admin')}`
  // Which happens once an hour.
  node.advance(2 * 3_600_000)
  await commits.hold()
  const asked = node.send('GET', '/users/me', { headers: { authorization } })
  const answer = await Promise.race([asked, wait(20_000, undefined, { ref: false })])
  expect(answer).toMatchObject({ status: 200 })
  // It is under way.
  expect((await commits.hanging()).length).toBeGreaterThan(0)
})
