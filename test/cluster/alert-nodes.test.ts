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
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'

/** Alerts are checked so many milliseconds behind the full minute. */
const BEHIND = 5_000
/** A time at which alerts are checked. */
const CHECK = Date.parse('2027-01-15T12:00:00Z') + BEHIND

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
  temporary = await openTemporaryDatabase(quoinTemplate)
  home = await mkdtemp(join(tmpdir(), 'quoin-alerts-'))
})
afterAll(async () => {
  for (const node of open) await node.close()
  await temporary?.drop()
  await pager?.close()
  await rm(home, { recursive: true, force: true })
})

/** A node whose clock stands so many milliseconds before a check: it checks the alerts again and again, so long apart. */
async function start(name: string, before: number): Promise<Quoin> {
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
    {
      clock: () => CHECK - before,
      random: (bytes) => void crypto.getRandomValues(bytes),
      passwordCost: { memory: 64, passes: 1, parallelism: 1 },
    },
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

const reported = (count: number) =>
  expect.poll(() => calls.length, { timeout: 60_000, interval: 20 }).toBe(count)

test('of two nodes the one that leads tells once; when it is gone the other tells', async () => {
  // The second one checks a hundred times as often, and leaves it to the one that leads.
  const first = await start('first', 2_000)
  const second = await start('second', 20)
  const rule = { name: 'DISK', figure: 'disk_free', threshold: 1_000_000_000, webhook: pager.url }
  const alert = await manage(second, 'POST', '/_system/alerts', rule)
  const path = `/_system/alerts/${guidOfRecord(alert)}`
  await reported(1)
  // The time of the node that told.
  expect(await manage(second, 'GET', path)).toMatchObject({ firing: true, since: CHECK / 1000 - 2 })

  await first.close()
  open.delete(first)
  // As never checked.
  await manage(second, 'PUT', path, { threshold: 999_999_999 })
  await reported(2)
  expect(await manage(second, 'GET', path)).toMatchObject({
    firing: true,
    since: CHECK / 1000 - 1,
  })
  expect(calls).toMatchObject([
    { name: 'DISK', threshold: 1_000_000_000, type: 'alert.fired' },
    { name: 'DISK', threshold: 999_999_999, type: 'alert.fired' },
  ])
})
