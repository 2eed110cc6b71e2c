/** Two nodes on one PostgreSQL check alerts by the clock: the one that leads tells, once, and the other follows it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin, type Quoin } from '../../src/quoin/quoin.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf as guidOfRecord } from '../../src/storage/document-fields.ts'
import { adminPassword, objectOf } from '../end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'

const MINUTE = 60_000
/** Alerts are checked so many milliseconds behind the full minute. */
const BEHIND = 5_000

const calls: JsonObject[] = []
let pager: LocalServer
let temporary: TemporaryDatabase
let home: string
const open = new Set<Quoin>()

beforeAll(async () => {
  pager = await startLocalServer(async (request, response) => {
    calls.push(objectOf(JSON.parse(await text(request))))
    response.end()
  })
  temporary = await openTemporaryDatabase()
  home = await mkdtemp(join(tmpdir(), 'quoin-alerts-'))
})
afterAll(async () => {
  for (const node of open) await node.close()
  await temporary?.drop()
  await pager?.close()
  await rm(home, { recursive: true, force: true })
})

/** A node whose clock comes to its next check at this time. */
async function start(name: string, checks: number): Promise<Quoin> {
  const ahead = MINUTE - ((checks - BEHIND) % MINUTE)
  const node = await openQuoin(
    readOptions({
      QUOIN_DATA: join(home, name),
      QUOIN_PORT: '0',
      QUOIN_NODE: name,
      QUOIN_ADMIN_PASSWORD: adminPassword,
      QUOIN_EXAMPLES: '0',
      QUOIN_LOG_LEVEL: 'silent',
      QUOIN_ALLOWED_HOSTS: `127.0.0.1:${pager.port}`,
      DATABASE_URL: temporary.url,
    }),
    { clock: () => Date.now() + ahead, random: (bytes) => void crypto.getRandomValues(bytes) },
  )
  open.add(node)
  return node
}

async function manage(node: Quoin, method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonObject) {
  const { access_token } = await node.access.signIn({
    username: 'admin',
    password: adminPassword,
    ip: '127.0.0.1',
  })
  const reply = await node.server.app.inject({
    method,
    url: `/api/v1${path}`,
    headers: {
      authorization: `Bearer ${access_token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { payload: JSON.stringify(body) }),
  })
  expect([reply.statusCode, reply.body]).toEqual([200, expect.any(String)])
  return objectOf(JSON.parse(reply.body))
}

const isPast = (time: number) =>
  expect.poll(() => Date.now() > time, { timeout: 2 * MINUTE, interval: 100 }).toBe(true)
const told = (count: number) =>
  expect.poll(() => calls.length, { timeout: 2 * MINUTE, interval: 50 }).toBe(count)

test('of two nodes the one that leads tells once; when it is gone the other tells', async () => {
  const began = Date.now()
  const [secondChecks, firstChecks] = [began + 12_000, began + 20_000]
  const first = await start('first', firstChecks)
  const second = await start('second', secondChecks)
  const rule = { name: 'DISK', figure: 'disk_free', threshold: 1_000_000_000, webhook: pager.url }
  const alert = await manage(second, 'POST', '/_system/alerts', rule)

  // The second one comes first, and leaves it to the one that leads.
  await isPast(secondChecks + 4_000)
  // Not only the calls: on a clock that is ahead a job waits for a while before it calls.
  expect(await manage(second, 'GET', `/_system/alerts/${guidOfRecord(alert)}`)).toMatchObject({
    firing: false,
  })
  expect(calls).toEqual([])
  await told(1)
  expect(calls).toMatchObject([{ type: 'alert.fired', name: 'DISK' }])

  // As never checked.
  await manage(second, 'PUT', `/_system/alerts/${guidOfRecord(alert)}`, { threshold: 999_999_999 })
  await first.close()
  open.delete(first)
  // Its next check, of which nothing but its clock says that it is due.
  await told(2)
  expect(Date.now()).toBeGreaterThan(secondChecks + MINUTE - 5_000)
  await isPast(secondChecks + MINUTE + 4_000)
  expect(calls).toMatchObject([
    { threshold: 1_000_000_000, type: 'alert.fired' },
    { threshold: 999_999_999, type: 'alert.fired' },
  ])
})
