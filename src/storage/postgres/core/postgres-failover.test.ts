/**
 * What nodes make of a standby that became the primary. The server is stopped, started as a standby and promoted, which
 * begins a new timeline as every failover does.
 */
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { openPostgresServer, type PostgresServer } from '../../../../test/postgres/postgres-server.ts'
import type { Database } from '../../database.ts'
import { LEASE_MS } from '../nodes/node-rows.ts'

let server: PostgresServer
let database: Database

beforeEach(async () => {
  server = await openPostgresServer()
  database = await openNode(server.url('postgres'))
})
afterEach(async () => {
  await database.close()
  await server.close()
})

async function ask(statement: string): Promise<Readonly<Record<string, unknown>>> {
  const client = new Client({ connectionString: server.url('postgres') })
  await client.connect()
  try {
    return (await client.query(statement)).rows[0] ?? {}
  } finally {
    await client.end()
  }
}

async function failOver(): Promise<void> {
  await server.stop()
  await server.start('standby')
  // Leases are still running, whatever this machine is busy with.
  await ask('SELECT pg_promote()')
  await ask(`UPDATE node SET lease_until = now() + interval '1 minute' RETURNING 1`)
}

test('a lease of the former primary is not renewed: the node joins and reads everything again', async () => {
  const heard: unknown[] = []
  database.capabilities.changes.watch('things', (guids) => void heard.push(guids))
  expect((await ask('SELECT timeline FROM node')).timeline).toBe(1)
  await failOver()
  await expect.poll(() => ask('SELECT timeline FROM node'), { timeout: 20_000 }).toEqual({ timeline: 2 })
  expect(heard).toContain(undefined)
  await expect.poll(() => database.capabilities.cluster?.alive(), { timeout: 10_000 }).toBe(true)
})

test('no node is told that all obey before every lease that the former primary gave has ended', async () => {
  // A node that will not be heard of again, and of which the new primary knows nothing but this.
  await ask(`INSERT INTO node (guid, name, version, lease_until, applied, timeline)
    VALUES ('gone', 'gone', '1.2.3', now() + interval '1 hour', 0, 1) RETURNING 1`)
  await failOver()
  await expect.poll(() => database.capabilities.cluster?.alive(), { timeout: 20_000 }).toBe(true)
  await database.capabilities.cluster?.notify('nothing', [])
  const since =
    'SELECT extract(epoch FROM now() - since)::float8 * 1000 AS passed FROM timeline WHERE number = 2'
  expect((await ask(since)).passed).toBeGreaterThanOrEqual(LEASE_MS)
})
