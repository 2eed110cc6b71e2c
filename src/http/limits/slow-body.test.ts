import { connect, type Socket } from 'node:net'
import fastify from 'fastify'
import { afterEach, expect, it } from 'vitest'
import { answerBrokenConnection } from './connection-limits.ts'
import { allowSlowBody, hasOwnTimeLimit, type SlowBodyLimits } from './slow-body.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** A server whose time for a request is 100 ms, with a route under its own watch and one without. */
async function openServer(limits: SlowBodyLimits): Promise<number> {
  const app = fastify({
    requestTimeout: 100,
    http: { connectionsCheckingInterval: 20, headersTimeout: 90 },
    clientErrorHandler(error, socket) {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && hasOwnTimeLimit(socket)) return
      answerBrokenConnection.call(this, error, socket)
    },
  })
  open.push(app)
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.post('/watched', { onRequest: allowSlowBody(limits) }, async (request) => String(request.body).length)
  app.post('/other', async (request) => String(request.body).length)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  return Number(port)
}

interface Client {
  readonly socket: Socket
  readonly closed: Promise<unknown>
  received(): string
}

function begin(port: number, path: string, length: number): Client {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', () => undefined)
  ask(socket, path, length)
  return { socket, closed: new Promise((resolve) => socket.once('close', resolve)), received: () => text }
}

function ask(socket: Socket, path: string, length: number): void {
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: ${length}\r\n\r\n`,
  )
}

/** Sends a byte every 20 ms, so many, or until the connection ends. */
function drip({ socket }: Client, bytes = Number.POSITIVE_INFINITY): void {
  let left = bytes
  const timer = setInterval(() => {
    socket.write('x')
    left -= 1
    if (left === 0) clearInterval(timer)
  }, 20)
  socket.once('close', () => clearInterval(timer))
}

const patient = { pause: 5_000, bytes: 1, total: 60_000 }

it('a slow body without a watch is cut', async () => {
  const client = begin(await openServer(patient), '/other', 1_000_000)
  drip(client)
  await client.closed
  expect(client.received()).toMatch(/^HTTP\/1\.1 408 /)
})

it('a slow body under watch arrives; the next request on the connection has the usual time again', async () => {
  const port = await openServer(patient)
  const client = begin(port, '/watched', 30)
  // 30 bytes take six times as long as a request may.
  drip(client, 30)
  await expect.poll(client.received, { timeout: 10_000 }).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n30$/s)
  ask(client.socket, '/other', 1_000_000)
  drip(client)
  await client.closed
  expect(client.received()).toMatch(/\r\n\r\n30HTTP\/1\.1 408 /)
})

it('a sender that stops, or goes on for too long, is cut', async () => {
  const silent = begin(await openServer({ pause: 50, bytes: 1, total: 60_000 }), '/watched', 1_000_000)
  await silent.closed
  const endless = begin(await openServer({ pause: 200, bytes: 1, total: 400 }), '/watched', 1_000_000)
  drip(endless)
  await endless.closed
  const trickle = begin(await openServer({ pause: 200, bytes: 1_000, total: 60_000 }), '/watched', 1_000_000)
  drip(trickle)
  await trickle.closed
  expect([silent.received(), endless.received(), trickle.received()]).toEqual(['', '', ''])
})
