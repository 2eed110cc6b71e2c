/** One stream over a real connection: what is sent, and what happens to clients that do not read. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventBytes, LiveStream, type StreamMemory } from './live-stream.ts'

let server: Server
let port = 0
let taken: (response: ServerResponse) => void = () => undefined

beforeAll(async () => {
  server = createServer((_request, response) => taken(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())

interface Room {
  readonly stream: LiveStream
  readonly memory: StreamMemory
  readonly socket: Socket
  left: number
}

/** A stream whose client does not read before it is told to. */
async function openStream(headers: Record<string, string> = {}): Promise<Room> {
  const arrived = new Promise<ServerResponse>((resolve) => {
    taken = resolve
  })
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const response = await arrived
  const memory = { waiting: 0, dropped: 0, events: 0 }
  const exchange = {
    headers,
    whenOver: (listener: () => void) => void response.once('close', listener),
    begin: (status: number, own: Readonly<Record<string, string>>) => response.writeHead(status, own),
  }
  const fixture: Room = {
    memory,
    socket,
    left: 0,
    stream: new LiveStream(exchange, memory, () => {
      fixture.left += 1
    }),
  }
  return fixture
}

const big = eventBytes({ data: 'x'.repeat(1024 * 1024) })

test('it begins once, and is left once', async () => {
  const { stream, socket, ...fixture } = await openStream()
  expect([stream.isOpening, stream.isOpen]).toEqual([true, false])
  expect([stream.begin(1_000, 0), stream.begin(1_000, 0)]).toEqual([true, false])
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  socket.resume()
  stream.send(eventBytes({ id: 'a', event: 'b', data: 'one\ntwo' }), 0)
  stream.fail(401, { error: 'no' })
  stream.end()
  stream.send(eventBytes({ data: 'late' }), 0)
  await expect.poll(() => text, { timeout: 30_000 }).toContain('id: a\nevent: b\ndata: one\ndata: two\n\n')
  await expect
    .poll(() => text, { timeout: 30_000 })
    .toContain('event: error\ndata: {"status":401,"error":"no"}\n\n')
  expect(text).toContain('retry: 1000\n\n')
  expect(text).not.toContain('late')
  expect(fixture.memory.dropped).toBe(0)
})

test('a silent stream gets a comment, and not before', async () => {
  const { stream, socket } = await openStream()
  stream.begin(1_000, 0)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  socket.resume()
  await expect.poll(() => text, { timeout: 30_000 }).toContain('retry')
  stream.look(19_999)
  stream.look(20_000)
  stream.look(20_001)
  await expect.poll(() => text, { timeout: 30_000 }).toContain(': still here')
  // The clock was set back by an hour: proxies would cut what is silent until it has come up to it again.
  stream.look(-3_600_000)
  stream.look(-3_580_001)
  stream.send(eventBytes({ data: 'end' }), 20_002)
  await expect.poll(() => text, { timeout: 30_000 }).toContain('data: end')
  expect(text.match(/still here/g)).toHaveLength(2)
  socket.destroy()
})

test('a client that does not read is dropped after 20 seconds, and one that has read is not', async () => {
  const { stream, socket, ...fixture } = await openStream()
  stream.begin(1_000, 0)
  for (let at = 0; at < 8; at += 1) stream.send(big, 0)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(stream.waiting).toBeGreaterThan(0)
  stream.look(0)
  stream.look(19_999)
  expect(stream.isOpen).toBe(true)
  socket.resume()
  await expect.poll(() => stream.waiting, { timeout: 30_000 }).toBe(0)
  socket.pause()
  stream.look(20_000)
  for (let at = 0; at < 8; at += 1) stream.send(big, 20_000)
  stream.look(20_100)
  stream.look(40_099)
  expect(stream.isOpen).toBe(true)
  stream.look(40_100)
  expect([stream.isOpen, fixture.memory.dropped]).toEqual([false, 1])
})

test('32 MB that wait for all clients are the most', async () => {
  const { stream, ...fixture } = await openStream()
  stream.begin(1_000, 0)
  for (let at = 0; at < 31; at += 1) stream.send(big, 0)
  expect([stream.isOpen, fixture.memory.dropped]).toEqual([true, 0])
  stream.send(big, 0)
  stream.send(big, 0)
  expect([stream.isOpen, fixture.memory.dropped]).toEqual([false, 1])
})
