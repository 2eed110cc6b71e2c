/** A start on a PostgreSQL that cannot be used: one line with host, database and what to do, and never the password. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresServer, type PostgresServer } from '../postgres/postgres-server.ts'
import { quoinCommand } from '../recording-terminal.ts'

let server: PostgresServer
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-start-'))
  server = await openPostgresServer()
  const admin = new Client({ connectionString: server.url('postgres') })
  await admin.connect()
  await admin.query('CREATE DATABASE empty')
  await admin.query('CREATE DATABASE quiet')
  await admin.query('ALTER DATABASE quiet SET default_transaction_read_only = on')
  await admin.query('CREATE ROLE guest LOGIN')
  await admin.end()
})
afterAll(async () => {
  await server.close()
  await rm(directory, { recursive: true, force: true })
})

async function expectRefusal(user: string, database: string, what: RegExp): Promise<void> {
  const { code, printed, complained } = await quoinCommand(['start'], {
    DATABASE_URL: `postgres://${user}:hush@127.0.0.1:${server.port}/${database}`,
    QUOIN_DATA: directory,
    QUOIN_PORT: '0',
    QUOIN_LOG_LEVEL: 'silent',
  })
  expect([code, printed]).toEqual([1, ''])
  expect(complained).toMatch(what)
  expect(complained).toContain(`PostgreSQL at 127.0.0.1:${server.port}/${database} `)
  expect(complained).not.toMatch(/hush|\n/)
}

test('without the right to make tables', () =>
  expectRefusal('guest', 'empty', /permission denied for schema public.*ALTER DATABASE "empty" OWNER TO/))

test('where transactions are read-only', () =>
  expectRefusal('quoin', 'quiet', /is read-only \(default_transaction_read_only is on\).*set it to off/))

test('on a standby', async () => {
  await server.stop()
  await server.start('standby')
  await expectRefusal('quoin', 'empty', /is a standby.*Set DATABASE_URL to the primary/)
})
