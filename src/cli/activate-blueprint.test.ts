/** Activating from the command line while a full storage gets its free text, over a connection that does not last as long. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCutProxy } from '../../test/cluster/cut-proxy.ts'
import { adminPassword } from '../../test/end-to-end/harness.ts'
import { quoinTemplate } from '../../test/quoin-template.ts'
import { quoinCommand } from '../../test/recording-terminal.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../test/temporary-database.ts'
import { loggingPreparations } from '../flows/live/note-preparations.ts'
import { readOptions } from '../options/options.ts'
import { openQuoin, type Quoin } from '../quoin/quoin.ts'
import { activateBlueprint } from './activate-blueprint.ts'
import { remoteManagement } from './remote-management.ts'

const DOCUMENTS = 600

let directory: string
let temporary: TemporaryDatabase
let quoin: Quoin
let address: string
let token: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  temporary = await openTemporaryDatabase(quoinTemplate)
  quoin = await openQuoin(
    readOptions({
      QUOIN_DATA: directory,
      QUOIN_PORT: '0',
      QUOIN_ADMIN_PASSWORD: adminPassword,
      QUOIN_LOG_LEVEL: 'silent',
      DATABASE_URL: temporary.url,
    }),
    { clock: Date.now, random: (bytes) => void randomFillSync(bytes) },
  )
  address = await quoin.server.listen()
  const signedIn = await quoin.access.signIn({ username: 'admin', password: adminPassword, ip: '127.0.0.1' })
  token = signedIn.access_token
})
afterAll(async () => {
  await quoin.close()
  await temporary.drop()
  await rm(directory, { recursive: true, force: true })
})

/** A storage whose free text takes some seconds: each document a few milliseconds. */
async function slowStorage(name: string): Promise<void> {
  await quoin.database.ensure(name)
  const admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  const { rows } = await admin.query(`SELECT 'doc_' || id AS doc FROM storage WHERE name = $1`, [name])
  const table: string = rows[0].doc
  await admin.query(`INSERT INTO ${table} (guid, created, updated, removed, version, doc)
    SELECT 'g' || n, n, n, 0, 1, json_build_object('note', 'n' || n) FROM generate_series(1, ${DOCUMENTS}) AS n`)
  await admin.query(`CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.005); RETURN NEW; END $$;
    CREATE TRIGGER slow BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION slow()`)
  await admin.end()
}

/** An inactive blueprint that searches the storage for words. Gives its guid. */
async function searching(storage: string): Promise<string> {
  const blocks = {
    things: { type: 'storage', fields: { storage } },
    list: { type: 'on_startup_register_uri_get', in: { uri: storage }, scopes: ['*public'] },
    words: { type: 'httpconnection_get_params', in: { connection: '@list.connection', field: 'words' } },
    query: { type: 'query_bool_simple_query_string_field', in: { field: ['note'], value: '@words.value' } },
    search: {
      type: 'function_search',
      in: { flow: '@list.flow', storage: '@things.storage', query: '@query.query' },
    },
    listed: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
  }
  const file = join(directory, `${storage}.json`)
  await writeFile(file, JSON.stringify({ name: storage, blocks }))
  const end = await quoinCommand(['import', file, '--url', address], { QUOIN_TOKEN: token })
  expect(end).toMatchObject({ code: 0, complained: '' })
  return end.printed
}

async function found(storage: string): Promise<number> {
  const reply = await fetch(`${address}/api/v1/${storage}?words=n${DOCUMENTS}`)
  return reply.status === 200 ? JSON.parse(await reply.text()).length : -reply.status
}

/** Looks thirty times as often as the command does. */
const fast = (milliseconds: number, signal?: AbortSignal) =>
  pause(milliseconds / 30, undefined, signal && { signal })

test('a refusal is told at once, and nothing is waited for', async () => {
  const management = remoteManagement(address, token)
  const waited: number[] = []
  const wait = async (milliseconds: number, signal?: AbortSignal) => {
    if (signal === undefined) waited.push(milliseconds)
    await fast(milliseconds, signal)
  }
  const absent = '01900000-0000-7000-8000-000000000000'
  const activating = activateBlueprint(management, absent, { complain: () => undefined }, wait)
  await expect(activating).rejects.toMatchObject({ status: 404 })
  expect(waited).toEqual([])
  await management.close()
})

test('it shows how far the free text is, and is done when the endpoint answers', async () => {
  await slowStorage('whole')
  const guid = await searching('whole')
  const management = remoteManagement(address, token)
  const said: string[] = []
  await activateBlueprint(management, guid, { complain: (text) => void said.push(text) }, fast)
  await management.close()
  expect(said.length).toBeGreaterThan(1)
  expect(said).toContainEqual(
    expect.stringMatching(/^Free text for the storage whole: \d+ of about 600 documents\.$/),
  )
  expect(await found('whole')).toBe(1)
})

test('a connection that is cut while the server goes on is no failure', async () => {
  await slowStorage('cut')
  const guid = await searching('cut')
  const proxy = await openCutProxy(Number(new URL(address).port))
  const management = remoteManagement(`http://127.0.0.1:${proxy.port}`, token)
  const activating = activateBlueprint(management, guid, { complain: () => undefined }, fast)
  while ((await quoin.database.capabilities.indexes.preparing()).length === 0) await pause(10)
  await proxy.cut('reset')
  await proxy.mend()
  expect(await found('cut')).toBe(-404)
  await activating
  // Its record says that it is active a moment before its endpoints answer; only a reply that arrives comes after both.
  await expect.poll(() => found('cut'), { timeout: 10_000 }).toBe(1)
  await management.close()
  await proxy.close()
})

test('a server that is gone is told after some tries', async () => {
  const management = remoteManagement('http://127.0.0.1:1', token)
  const activating = activateBlueprint(management, 'x', { complain: () => undefined }, fast)
  await expect(activating).rejects.toMatchObject({ status: 0 })
  await management.close()
})

test('the system log gets a line while a deploy waits', async () => {
  const indexes = {
    preparing: async () => [{ storage: 'big', kind: 'text', done: 1_300, total: 0 }] as const,
  }
  const lines: unknown[] = []
  const recording = { indexes, log: (entry: unknown) => void lines.push(entry), blueprint: 'b' }
  await loggingPreparations(recording, () => pause(60), 10)
  expect(lines[0]).toEqual({
    level: 'info',
    message: 'Free text for the storage big: 1,300 documents.',
    blueprint: 'b',
  })
  const before = lines.length
  await pause(30)
  expect(lines.length).toBe(before)
})
