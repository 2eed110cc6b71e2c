/** QUOIN_WORKERS: damage that only a reading process has met stops the writes of all. */
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { openWorkerRoom, type WorkerRoom } from './worker-room.ts'

const PAGE = 4096

const on = (kind: 'get' | 'post', uri: string): JsonObject => ({
  type: `on_startup_register_uri_${kind}`,
  in: { uri },
  scopes: ['*public'],
})
const reply = (flow: string, value: string): JsonObject => ({
  type: 'httpconnection_set_json',
  in: { flow, value },
})

const items: JsonObject = {
  items: { type: 'storage', fields: { storage: 'items' } },
  add: on('post', 'items'),
  fields: {
    type: 'mutations_set_bp_field_multiple',
    in: { object: '@add.body' },
    fields: { fields: ['n'] },
  },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@add.flow', storage: '@items.storage', mutations: '@fields.mutations' },
  },
  created: reply('@create.flow', '@create.document'),
  list: on('get', 'items'),
  search: { type: 'function_search', in: { flow: '@list.flow', storage: '@items.storage' } },
  listed: reply('@search.flow', '@search.documents'),
  here: on('get', 'here'),
  answer: reply('@here.flow', 'here'),
}

let room: WorkerRoom
beforeEach(async () => {
  room = await openWorkerRoom({ QUOIN_WORKERS: '2' })
})
afterEach(() => room.close())

/** Flips a byte at the start of the items' table in the file; done twice, the file is as it was. */
async function flip(): Promise<void> {
  const database = new DatabaseSync(join(room.directory, 'quoin.db'), { readOnly: true })
  const page = database
    .prepare(
      "SELECT rootpage FROM sqlite_schema WHERE name = (SELECT 'doc_' || id FROM storage WHERE name = 'items')",
    )
    .get()?.rootpage
  database.close()
  const file = await open(join(room.directory, 'quoin.db'), 'r+')
  const byte = Buffer.alloc(1)
  const at = (Number(page) - 1) * PAGE
  await file.read(byte, 0, 1, at)
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 0xff]), 0, 1, at)
  await file.close()
}

const ready = () => fetch(`${room.process.address}/health/ready`)

test('writes are refused, and the node is not ready', async () => {
  await room.install('Items', items)
  for (let n = 0; n < 5; n++) await room.manage('POST', '/items', { n })
  // What was written is in the database file then, not in its log.
  expect(await room.process.end('SIGTERM')).toBe(0)
  room = await room.restart()
  expect((await ready()).status).toBe(200)

  // With the writer stopped, who answers is the reader.
  process.kill(room.process.pid, 'SIGSTOP')
  const asked = room.connections.map(async (connection) => {
    await connection.call('GET', '/here')
    return connection
  })
  const reader = await Promise.any(asked)
  await flip()
  // It cannot read, and passes the request on.
  const listed = reader.call('GET', '/items')
  const others = room.connections.filter((one) => one !== reader)
  // When it has answered these, it has read that one.
  for (let time = 0; time < 3; time++) await Promise.any(others.map((one) => one.call('GET', '/here')))
  await flip()
  process.kill(room.process.pid, 'SIGCONT')

  // The file is as it was, so the writer has met nothing itself.
  expect((await listed).status).toBe(200)
  let answer = await ready()
  for (; answer.status === 200; answer = await ready()) await wait(10)
  expect([answer.status, await answer.json()]).toEqual([503, { status: 'damaged' }])
  const connection = room.connect()
  expect((await connection.call('POST', '/items', { body: { n: 9 } })).status).toBe(503)
  expect(room.process.output()).toContain('quoin.db is damaged: SQLite says "')
  await connection.close()
  await Promise.all(asked)
})
