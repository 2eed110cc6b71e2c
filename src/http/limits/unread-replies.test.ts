/** Over real connections; the looks are made by the test. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sentBytes, type UnreadReplies, unreadReplies } from './unread-replies.ts'

/** Far more than two sides of a connection keep in the system. */
const LARGE = 64 * 1024 * 1024
const ENOUGH = 1024 * 1024
let server: Server
let unread: UnreadReplies
let client: Socket
let served: Socket

beforeEach(async () => {
  unread = unreadReplies({ pause: 1_000_000, looks: 6, bytes: ENOUGH })
  server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server does not listen.')
  const arrived = once(server, 'connection')
  client = connect(address.port, '127.0.0.1').on('error', () => undefined)
  client.pause()
  ;[served] = await arrived
  served.on('error', () => undefined)
  unread.watch(served)
})
afterEach(() => {
  unread.close()
  client.destroy()
  served.destroy()
  server.close()
})

function look(times: number): boolean {
  for (let count = 0; count < times; count++) unread.look()
  return !served.destroyed
}

/** Reads so much. */
async function read(bytes: number): Promise<void> {
  let left = bytes
  while (left > 0) {
    const chunk: Buffer | null = client.read()
    if (chunk) left -= chunk.length
    else await once(client, 'readable')
  }
}

test.each([
  ['text', 'x'.repeat(LARGE)],
  ['bytes', Buffer.alloc(LARGE)],
])('a client that reads nothing of its reply (%s) is ended, not before the time', async (_what, reply) => {
  served.write(reply)
  expect(look(6)).toBe(true)
  expect(look(1)).toBe(false)
})

test('one that reads slowly and all the time stays', async () => {
  served.write('x'.repeat(LARGE))
  for (let round = 0; round < 8; round++) {
    expect(look(5)).toBe(true)
    // The two sides of a connection keep some megabytes: it takes a while until the server sees what was read.
    const before = sentBytes(served)
    while (sentBytes(served) - before < ENOUGH) await read(ENOUGH)
  }
  expect(look(7)).toBe(false)
})

test('what a client sends is no progress', async () => {
  served.resume()
  served.write('x'.repeat(LARGE))
  for (let round = 0; round < 7; round++) {
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(served, 'data')
    unread.look()
  }
  expect(served.destroyed).toBe(true)
})

test('a connection on which nothing waits stays, however long', async () => {
  served.write('a short reply')
  await once(client, 'readable')
  expect(look(50)).toBe(true)
  served.write('x'.repeat(LARGE))
  expect(look(6)).toBe(true)
})

test('an unread stream waits, and is ended too', async () => {
  while (served.write(Buffer.alloc(65_536)));
  expect(look(6)).toBe(true)
  expect(served.writableLength).toBeLessThan(1024 * 1024)
  expect(look(1)).toBe(false)
})
