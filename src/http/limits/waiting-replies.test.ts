import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { setFields } from '../../shared/mutation.ts'
import { transact } from '../../storage/transact.ts'
import { type WaitingReplies, waitingReplies } from '../replies/sent-replies.ts'

const clients: Socket[] = []

/** Sends requests and reads nothing. */
function ask(port: number, bytes: string): Socket {
  const client = connect(port, '127.0.0.1')
  client.on('error', () => undefined)
  client.pause()
  client.write(bytes)
  clients.push(client)
  return client
}

const portOf = (server: Server) => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server does not listen.')
  return address.port
}

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
})

describe('what waits', () => {
  let server: Server
  const arrived: { readonly request: IncomingMessage; readonly response: ServerResponse }[] = []
  beforeEach(async () => {
    arrived.length = 0
    server = createServer((request, response) => void arrived.push({ request, response }))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  /** As many requests as are asked for, on one connection. */
  async function requests(count: number) {
    const before = arrived.length
    ask(portOf(server), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(count))
    await expect.poll(() => arrived.length - before).toBe(count)
    return arrived.slice(before)
  }

  const refusal = (waiting: WaitingReplies, request: IncomingMessage, bytes: number) => {
    try {
      waiting.admit(request.socket, bytes)
      return undefined
    } catch (error) {
      return error
    }
  }
  const tooMuch = {
    code: 'UNAVAILABLE',
    retryAfter: 5,
    message: expect.stringMatching(/^Too many replies are waiting/),
  }
  const tooMuchOfOne = {
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/^Too many replies to this address/),
  }

  test('is refused from the limit on, for all and for one address, but never what is small', async () => {
    const [one] = await requests(1)
    if (!one) throw new Error('Nothing has arrived.')
    const { request, response } = one
    const [waiting, behindProxy] = [false, true].map((many) =>
      waitingReplies(
        () => 100_000,
        () => many,
      ),
    )
    if (!waiting || !behindProxy) throw new Error('There are two.')
    expect(refusal(waiting, request, 100_001)).toMatchObject(tooMuch)
    // The first reply may be as large as all.
    expect(refusal(waiting, request, 100_000)).toBeUndefined()
    for (const one of [waiting, behindProxy]) one.hold(response, 40_000)
    expect(refusal(waiting, request, 20_000)).toMatchObject(tooMuchOfOne)
    expect(refusal(waiting, request, 60_001)).toMatchObject(tooMuch)
    expect(refusal(behindProxy, request, 60_000)).toBeUndefined()
    expect(refusal(behindProxy, request, 60_001)).toMatchObject(tooMuch)
    expect(refusal(waiting, request, 16_000)).toBeUndefined()
    waiting.hold(response, 100_000)
    expect(refusal(waiting, request, 16_384)).toBeUndefined()
    const unlimited = waitingReplies(
      () => 0,
      () => false,
    )
    unlimited.hold(response, 1e12)
    expect(refusal(unlimited, request, 1e12)).toBeUndefined()
  })

  test('is counted until it is gone, also behind another reply of its connection', async () => {
    const waiting = waitingReplies(
      () => 100_000,
      () => false,
    )
    const [first, second] = await requests(2)
    for (const one of [first, second]) if (one) waiting.hold(one.response, 30_000)
    second?.response.end('second')
    await new Promise((resolve) => setImmediate(resolve))
    expect(waiting.bytes).toBe(60_000)
    first?.response.end('first')
    await expect.poll(() => waiting.bytes).toBe(0)
  })

  test('is gone with its connection, once', async () => {
    const waiting = waitingReplies(
      () => 100_000,
      () => false,
    )
    const [first, second] = await requests(2)
    for (const one of [first, second]) if (one) waiting.hold(one.response, 30_000)
    first?.request.socket.destroy()
    await expect.poll(() => waiting.bytes).toBe(0)
    for (const one of [first, second]) {
      if (!one) continue
      one.response.end('late')
      waiting.hold(one.response, 30_000)
    }
    await new Promise((resolve) => setImmediate(resolve))
    expect(waiting.bytes).toBe(0)
  })
})

describe('many clients that ask for 7 MB each and read nothing', () => {
  // Each is 7 MB through the PostgreSQL client: sixty at once keep a busy machine from renewing its lease.
  const CLIENTS = inject('engine') === 'postgres' ? 8 : 60
  const MIB = 1024 * 1024
  const LIMIT = 16 * MIB
  let quoin: TestQuoin
  let port: number
  let documents = ''
  const sockets = new Set<Socket>()

  beforeAll(async () => {
    quoin = await openTestQuoin({ QUOIN_REPLY_MEMORY: '16', QUOIN_RATE_LIMIT: '0' })
    await quoin.install('large', {
      pages: { type: 'storage', fields: { storage: 'pages' } },
      on: { type: 'on_startup_register_uri_get', in: { uri: 'large' } },
      find: { type: 'function_search', in: { flow: '@on.flow', storage: '@pages.storage', limit: 8 } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@find.flow', value: '@find.documents' } },
    })
    for (let n = 0; n < 8; n++)
      await transact(quoin.quoin.database, (session) =>
        session.create('pages', setFields({ n, text: 'x'.repeat(900_000) })),
      )
    const found = await quoin.manage('POST', '/_system/storages/search', { filters: { name: 'pages' } })
    documents = `/api/v1/_system/storages/${guidOf(objectsOf(found)[0])}/documents/search`
    quoin.quoin.server.app.server.on('connection', (socket) => sockets.add(socket))
    port = Number(new URL(await quoin.quoin.server.listen()).port)
  })
  afterAll(() => quoin?.close())

  /** Finished requests by the class of their status. */
  async function finished(of: string): Promise<Record<string, number>> {
    const { body } = await quoin.quoin.server.app.inject('/metrics')
    const lines = body.split('\n').filter((line) => line.startsWith('quoin_http_requests_total{'))
    return Object.fromEntries(
      lines
        .filter((line) => line.includes(of))
        .map((line) => [/status="(\w+)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]),
    )
  }
  /** The text as it is: compressed it is a hundredth. */
  const plain = { headers: { 'accept-encoding': 'identity' } }
  const waitingInSockets = () => [...sockets].reduce((sum, { writableLength }) => sum + writableLength, 0)
  const head = (method: string, path: string, more = '') =>
    `${method} ${path} HTTP/1.1\r\nhost: a\r\n${more}\r\n`

  test('an endpoint: what waits stays below the limit, the rest is 503, and others are answered', async () => {
    for (let count = 0; count < CLIENTS; count++) ask(port, head('GET', '/api/v1/large'))
    await expect.poll(() => finished('/large'), { timeout: 60_000 }).toEqual({ '2xx': 2, '5xx': CLIENTS - 2 })
    expect(quoin.quoin.server.waitingBytes()).toBeGreaterThan(LIMIT / 2)
    expect(quoin.quoin.server.waitingBytes()).toBeLessThanOrEqual(LIMIT)
    expect(waitingInSockets()).toBeLessThanOrEqual(LIMIT)
    const others = await fetch(`http://127.0.0.1:${port}/api/v1/info`)
    expect(others.status).toBe(200)
    const refused = await fetch(`http://127.0.0.1:${port}/api/v1/large`, plain)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await refused.json()).toEqual({ error: expect.stringContaining('Too many replies are waiting') })
    for (const client of clients.splice(0)) client.destroy()
    await expect.poll(() => quoin.quoin.server.waitingBytes()).toBe(0)
    const answered = await fetch(`http://127.0.0.1:${port}/api/v1/large`, plain)
    expect([answered.status, objectsOf(JSON.parse(await answered.text())).length]).toEqual([200, 8])
    await expect.poll(() => quoin.quoin.server.waitingBytes()).toBe(0)
  }, 120_000)

  test('the management API likewise', async () => {
    const token = `authorization: Bearer ${await quoin.tokenOf('admin')}\r\n`
    const body = JSON.stringify({ limit: 8 })
    const type = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`
    for (let count = 0; count < 6; count++) ask(port, head('POST', documents, token + type) + body)
    await expect.poll(() => finished('/documents/search'), { timeout: 60_000 }).toMatchObject({ '5xx': 4 })
    expect(waitingInSockets()).toBeLessThanOrEqual(LIMIT)
    for (const client of clients.splice(0)) client.destroy()
    await expect.poll(() => quoin.quoin.server.waitingBytes()).toBe(0)
  }, 120_000)
})
