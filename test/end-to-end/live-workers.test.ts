/** Replies as events from reading processes: they pass such requests to the writer, which sends the events. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readEvents } from '../event-reader.ts'
import { openWorkerRoom, type WorkerRoom } from './worker-room.ts'

let room: WorkerRoom

beforeAll(async () => {
  room = await openWorkerRoom({ QUOIN_WORKERS: '3', QUOIN_RATE_LIMIT: '0' })
  await room.install('List', {
    ask: { type: 'on_startup_register_uri_get', in: { uri: 'list' }, scopes: ['*public'] },
    find: { type: 'function_search', in: { flow: '@ask.flow', storage: 'list' } },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@find.flow', value: '=map(find.documents, one => one.name)' },
    },
    add: { type: 'on_startup_register_uri_post', in: { uri: 'list' }, scopes: ['*public'] },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@add.flow', storage: 'list', set: '=body' },
    },
    listen: { type: 'on_startup_register_uri_get', in: { uri: 'news' }, scopes: ['*public'] },
    subscribe: { type: 'subscribe', in: { flow: '@listen.flow', channel: 'news', first: 'here' } },
    // A GET, which a reading process would answer.
    tell: { type: 'on_startup_register_uri_get', in: { uri: 'tell' }, scopes: ['*public'] },
    publish: { type: 'publish', in: { flow: '@tell.flow', channel: 'news', value: '=query.value' } },
    told: { type: 'httpconnection_set_json', in: { flow: '@publish.flow', value: 1 } },
    added: { type: 'httpconnection_set_json', in: { flow: '@create.flow', value: 1 } },
  })
})
afterAll(() => room?.close())

test('whichever process takes the connection', async () => {
  const { address } = room.process
  const readers = await Promise.all(Array.from({ length: 20 }, () => readEvents(`${address}/api/v1/list`)))
  for (const reader of readers) expect(await reader.data()).toEqual([])
  await room.manage('POST', '/list', { name: 'one' })
  for (const reader of readers) expect(await reader.data()).toEqual(['one'])
  const metrics = await (await fetch(`${address}/metrics`)).text()
  expect(metrics).toContain('\nquoin_streams_open 20\n')
  for (const reader of readers) reader.close()
  await expect
    .poll(async () => (await fetch(`${address}/metrics`)).text(), { timeout: 30_000 })
    .toContain('\nquoin_streams_open 0\n')
})

test('a message is delivered once to each, whichever process runs the flow that publishes it', async () => {
  const { address } = room.process
  const readers = await Promise.all(Array.from({ length: 10 }, () => readEvents(`${address}/api/v1/news`)))
  for (const reader of readers) expect(await reader.data()).toBe('here')
  for (const [at, connection] of room.connections.entries())
    expect((await connection.call('GET', `/tell?value=${at}`)).status).toBe(200)
  for (const reader of readers)
    for (const at of room.connections.keys()) expect(await reader.data()).toBe(`${at}`)
  for (const reader of readers) reader.close()
})
