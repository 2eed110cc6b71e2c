import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setImmediate as oneRound } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { yieldToEventLoop } from './cooperative.ts'

const CLIENTS = 32

/** How often the work was left off until every client was accepted that came at its beginning. */
async function pausesUntilAccepted(pause: () => Promise<void>): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  let accepted = 0
  server.on('connection', (socket) => {
    accepted += 1
    socket.destroy()
  })
  const clients = Array.from({ length: CLIENTS }, () =>
    connect(address.port, '127.0.0.1').on('error', () => undefined),
  )
  let count = 0
  for (; accepted < CLIENTS; count += 1) {
    const began = performance.now()
    while (performance.now() - began < 2);
    await pause()
  }
  for (const client of clients) client.destroy()
  server.close()
  return count
}

test('clients that come while work is done in turns are accepted in its next pauses, and not one in each', async () => {
  expect(await pausesUntilAccepted(yieldToEventLoop)).toBeLessThan(CLIENTS / 2)
  // One round of the event loop accepts one: if this fails, Node accepts several by now, and a round is enough.
  expect(await pausesUntilAccepted(() => oneRound())).toBeGreaterThanOrEqual(CLIENTS)
})

test('work goes on though others are always busy', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (data) => socket.write(data))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  const client = connect(address.port, '127.0.0.1').on('data', (data) => client.write(data))
  await once(client, 'connect')
  client.write('on and on')
  let answers = 0
  client.on('data', () => {
    answers += 1
  })
  for (let count = 0; count < 3; count += 1) await yieldToEventLoop()
  expect(answers).toBeGreaterThan(3)
  client.destroy()
  server.close()
})
