import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testClock } from '../../../test/test-database.ts'
import { addressConnections } from './connection-limits.ts'

let server: Server
const clients: Socket[] = []
beforeEach(async () => {
  server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
  server.close()
})

/** Connects and says whether the server has kept the connection. */
async function isKept(take: (socket: Socket) => void): Promise<boolean> {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server does not listen.')
  const arrived = once(server, 'connection')
  const client = connect(address.port, '127.0.0.1')
  client.on('error', () => undefined)
  clients.push(client)
  const [socket] = await arrived
  take(socket)
  return !socket.destroyed
}

test('more connections than an address may have are closed at once, and counted again when one ends', async () => {
  const clock = testClock()
  const warned: object[] = []
  const take = addressConnections({
    most: () => 3,
    isMany: () => false,
    clock,
    warn: (one) => void warned.push(one),
  })
  const kept: boolean[] = []
  for (let count = 0; count < 6; count++) kept.push(await isKept(take))
  expect(kept).toEqual([true, true, true, false, false, false])
  // One line for a flood, and the number of what it keeps quiet about in the next.
  expect(warned).toEqual([{ address: '127.0.0.1', closed: 1 }])
  clock.now += 10_000
  expect(await isKept(take)).toBe(false)
  expect(warned.slice(1)).toEqual([{ address: '127.0.0.1', closed: 3 }])
  // Waiting for a time that is an hour ahead would keep a flood quiet for that long.
  clock.now -= 3_600_000
  expect(await isKept(take)).toBe(false)
  expect(warned.slice(2)).toEqual([{ address: '127.0.0.1', closed: 1 }])
  clients[0]?.destroy()
  await expect.poll(() => isKept(take)).toBe(true)
})

test.each([
  ['who stands for many', { most: () => 1, isMany: () => true }],
  ['where there is no limit', { most: () => 0, isMany: () => false }],
])('no connection is closed %s', async (_who, limits) => {
  const warn = () => expect.unreachable()
  const take = addressConnections({ ...limits, clock: testClock(), warn })
  for (let count = 0; count < 4; count++) expect(await isKept(take)).toBe(true)
})
