/** How many event streams there may be, of one user and on a node, and what happens to a client that does not read. */
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type EventReader, readEvents } from '../event-reader.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const on = (method: string, uri: string) => ({
  ...{ type: `on_startup_register_uri_${method}`, in: { uri }, scopes: ['*public'] },
})

let fixture: TestQuoin
let origin = ''
const open: EventReader[] = []
const sockets: Socket[] = []

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_STREAMS: '4', QUOIN_STREAMS_PER_USER: '2' })
  origin = await fixture.quoin.server.listen()
  await fixture.addUser('ann', [])
  await fixture.addUser('bob', [])
  await fixture.install('Rooms', {
    listen: on('get', 'news'),
    subscribe: { type: 'subscribe', in: { flow: '@listen.flow', channel: 'news', first: 'first' } },
    writing: on('get', 'kept-news'),
    store: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@writing.flow', storage: 'listeners', set: '={ n: 1 }' },
    },
    follow: { type: 'subscribe', in: { flow: '@store.flow', channel: 'news' } },
    send: on('post', 'send'),
    publish: { type: 'publish', in: { flow: '@send.flow', channel: 'news', value: '=body.text' } },
    sent: { type: 'reply', in: { flow: '@publish.flow', value: 1 } },
  })
})
afterAll(() => fixture?.close())
afterEach(async () => {
  for (const reader of open.splice(0)) reader.close()
  for (const socket of sockets.splice(0)) socket.destroy()
  await expect.poll(() => metric('quoin_streams_open'), { timeout: 30_000 }).toBe(0)
})

async function metric(name: string): Promise<number> {
  const { body } = await fixture.quoin.server.app.inject('/metrics')
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(body)?.[1])
}

async function listen(user?: string, path = 'news'): Promise<EventReader> {
  const headers = user === undefined ? {} : { authorization: `Bearer ${await fixture.tokenOf(user)}` }
  const reader = await readEvents(`${origin}/api/v1/${path}`, headers)
  open.push(reader)
  return reader
}
const statuses = async (...users: (string | undefined)[]) => {
  const all: number[] = []
  for (const user of users) all.push((await listen(user)).status)
  return all
}

test('one user has two at most: 429; others and anonymous clients are not counted with them', async () => {
  expect(await statuses('ann', 'ann', 'ann', 'bob', undefined)).toEqual([200, 200, 429, 200, 200])
})

test('a place of a user is free again when a stream has ended', async () => {
  expect(await statuses('ann', 'ann', 'ann')).toEqual([200, 200, 429])
  open[0]?.close()
  await expect.poll(() => metric('quoin_streams_open')).toBe(1)
  expect(await statuses('ann', 'ann')).toEqual([200, 429])
})

test('a node has four at most: 503, and a place is free again', async () => {
  expect(await statuses('ann', 'bob', undefined, undefined, undefined, 'bob')).toEqual([
    200, 200, 200, 200, 503, 503,
  ])
  open[3]?.close()
  await expect.poll(() => metric('quoin_streams_open')).toBe(3)
  expect(await statuses(undefined, undefined)).toEqual([200, 503])
})

test('a flow that writes and then subscribes has written nothing where there are too many streams', async () => {
  const before = (await fixture.documents('listeners')).length
  expect(await statuses('ann', 'ann')).toEqual([200, 200])
  expect((await listen('ann', 'kept-news')).status).toBe(429)
  expect(await fixture.documents('listeners')).toHaveLength(before)
  open[0]?.close()
  await expect.poll(() => metric('quoin_streams_open')).toBe(1)
  expect((await listen('ann', 'kept-news')).status).toBe(200)
  expect(await fixture.documents('listeners')).toHaveLength(before + 1)
})

test('a client that does not read is dropped; one that reads misses nothing', async () => {
  const [reader, slow] = [await listen(), connect(Number(new URL(origin).port), '127.0.0.1')]
  sockets.push(slow)
  slow.on('error', () => undefined)
  slow.write('GET /api/v1/news HTTP/1.1\r\nhost: quoin\r\naccept: text/event-stream\r\n\r\n')
  slow.pause()
  await expect.poll(() => metric('quoin_streams_open')).toBe(2)
  expect(await reader.data()).toBe('first')
  const text = 'x'.repeat(60_000)
  // What the operating system takes for the client comes first: some megabytes.
  let sent = 0
  while ((await metric('quoin_streams_dropped_total')) === 0 && sent < 1_000) {
    await fixture.send('POST', '/send', { body: { text: `${sent} ${text}` } })
    expect(await reader.data()).toBe(`${sent} ${text}`)
    sent += 1
  }
  expect(await metric('quoin_streams_dropped_total')).toBe(1)
  await expect.poll(() => metric('quoin_streams_open')).toBe(1)
  await fixture.send('POST', '/send', { body: { text: 'last' } })
  expect(await reader.data()).toBe('last')
}, 60_000)
