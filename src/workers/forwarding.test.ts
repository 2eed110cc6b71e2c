/** From a reader's door to the writer's entrance and back, over real sockets. */
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type RequestForwarder, requestForwarder } from './request-forwarder.ts'
import { type Entrance, openEntrance } from './writer-entrance.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

let directory: string
let writer: Server
let entrance: Entrance
let forwarder: RequestForwarder
let reader: Server
let handler: Handler
let closing = false
const watch = () => undefined

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  closing = false
  writer = createServer((request, response) => handler(request, response))
  entrance = await openEntrance(directory, writer, watch)
  forwarder = requestForwarder(entrance.path, () => closing)
  reader = createServer((request, response) => forwarder.forward(request, response))
  for (const server of [reader, writer]) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
})
afterEach(async () => {
  await forwarder.close()
  await entrance.close()
  for (const server of [reader, writer]) {
    server.closeAllConnections()
    server.close()
  }
  await rm(directory, { recursive: true, force: true })
})

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const echo: Handler = async (request, response) => {
  const body = await text(request)
  const { method, url, headers, socket } = request
  response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })
  response.end(JSON.stringify({ method, url, headers, address: socket.remoteAddress, body }))
}

describe('the request', () => {
  beforeEach(() => {
    handler = echo
  })

  test.each([
    ['GET without a body', { method: 'GET' }, ''],
    ['POST with a body', { method: 'POST', body: '{"a":"ä"}' }, '{"a":"ä"}'],
    ['PUT with an empty one', { method: 'PUT', body: '' }, ''],
    ['DELETE', { method: 'DELETE' }, ''],
  ])('%s arrives as it was', async (_what, init, body) => {
    const reply = await fetch(`${urlOf(reader)}/a%20b?c=d&c=e`, { ...init, headers: { 'x-mine': 'yes' } })
    expect(reply.status).toBe(201)
    expect(reply.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(await reply.json()).toMatchObject({
      method: init.method,
      url: '/a%20b?c=d&c=e',
      body,
      address: '127.0.0.1',
      headers: { 'x-mine': 'yes', host: new URL(urlOf(reader)).host },
    })
  })

  test('a body without a length is passed on as it comes', async () => {
    const arrived = Promise.withResolvers<string>()
    handler = async (request, response) => {
      for await (const chunk of request) arrived.resolve(String(chunk))
      response.end('all')
    }
    const sent = httpRequest(urlOf(reader), { method: 'POST' })
    const reply = once(sent, 'response')
    sent.write('first')
    expect(await arrived.promise).toBe('first')
    sent.end('second')
    const [response] = await reply
    expect(await text(response)).toBe('all')
  })

  test('who sent it is believed of readers only, and not of what they were sent', async () => {
    const forged = { headers: { 'x-quoin-sender': '8.8.8.8' } }
    expect(await (await fetch(urlOf(reader), forged)).json()).toMatchObject({ address: '127.0.0.1' })
    const direct = await (await fetch(urlOf(writer), forged)).json()
    expect(direct).toMatchObject({ address: '127.0.0.1' })
    const passed = await (await fetch(urlOf(reader))).json()
    expect(Object.keys(passed.headers)).not.toContain('x-quoin-sender')
  })

  test('only its owner can open the entrance', async () => {
    expect((await stat(entrance.path)).mode & 0o777).toBe(0o600)
  })
})

describe('the reply', () => {
  test('megabytes come whole, and HEAD, 204 and 304 without a body', async () => {
    const large = Buffer.alloc(5_000_000, 'quoin ')
    handler = ({ url, method }, response) => {
      if (url === '/large') response.end(method === 'HEAD' ? undefined : large)
      else response.writeHead(Number(url?.slice(1)), { etag: '"x"' }).end()
    }
    expect((await buffer((await fetch(`${urlOf(reader)}/large`)).body as never)).equals(large)).toBe(true)
    expect((await fetch(`${urlOf(reader)}/large`, { method: 'HEAD' })).status).toBe(200)
    for (const status of [204, 304]) {
      const reply = await fetch(`${urlOf(reader)}/${status}`)
      expect([reply.status, reply.headers.get('etag'), await reply.text()]).toEqual([status, '"x"', ''])
    }
  })

  test('the writer hears when the client has gone', async () => {
    const arrived = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    handler = (_request, response) => {
      arrived.resolve()
      response.once('close', gone.resolve)
    }
    const client = new AbortController()
    const reply = fetch(urlOf(reader), { signal: client.signal }).catch(() => 'aborted')
    await arrived.promise
    client.abort()
    await gone.promise
    expect(await reply).toBe('aborted')
  })

  test('while the reader ends, connections end with their replies', async () => {
    handler = (_request, response) => response.end('ok')
    expect((await fetch(urlOf(reader))).headers.get('connection')).toBe('keep-alive')
    closing = true
    expect((await fetch(urlOf(reader))).headers.get('connection')).toBe('close')
  })

  test('a writer that is gone is 503, and one that goes in the middle breaks the connection', async () => {
    handler = (_request, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half', () => response.destroy())
    }
    const half = await fetch(urlOf(reader))
    await expect(half.text()).rejects.toThrow()
    await entrance.close()
    const reply = await fetch(urlOf(reader), { method: 'POST', body: 'x' })
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await reply.json()).toMatchObject({ error: 'UNAVAILABLE', code: 503 })
  })
})

describe('a body that the writer does not read', () => {
  const refusals: [string, Handler][] = [
    ['refused, and the connection kept', (_request, response) => response.writeHead(404).end('refused')],
    [
      'refused, and the connection closed',
      (_request, response) => response.writeHead(413, { connection: 'close' }).end('refused'),
    ],
    [
      'refused in the middle',
      (request, response) => {
        request.once('data', () => {
          request.pause()
          response.writeHead(413, { connection: 'close' }).end('refused')
        })
      },
    ],
  ]
  const sizes = [10, 300_000, 3_000_000]

  test.each(refusals)('%s: the client gets the reply, and the next one or the end', async (_how, refuse) => {
    handler = (request, response) =>
      request.method === 'POST' ? refuse(request, response) : response.end('next')
    for (const size of sizes)
      for (let round = 0; round < 4; round++) {
        const socket = connect(Number(new URL(urlOf(reader)).port), '127.0.0.1')
        // The end of a connection while its client is still sending.
        socket.on('error', () => undefined)
        socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${size}\r\n\r\n`)
        socket.write('x'.repeat(size))
        socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
        const replies = await new Promise<string>((resolve) => {
          let received = ''
          socket.setEncoding('utf8').on('data', (more) => {
            received += more
          })
          socket.on('close', () => resolve(received))
        })
        const statuses = [...replies.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
        // A reply may be lost to a client that is still sending when its connection ends, as without readers.
        const kept = [['404', '200']]
        const closed = size > 10 ? [['413'], []] : [['413'], ['413', '200']]
        expect(_how.endsWith('kept') ? kept : closed).toContainEqual(statuses)
        expect(replies).not.toContain('503')
      }
  })

  test('the writer hands its reply over before its connection ends', async () => {
    handler = refusals[1]?.[1] ?? echo
    const replies = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const sent = httpRequest(urlOf(reader), { method: 'POST', headers: { 'content-length': 2_000_000 } })
        sent.on('error', () => undefined)
        const replied = once(sent, 'response')
        sent.write('x'.repeat(1_000_000))
        const [response] = await replied
        sent.destroy()
        return response.statusCode
      }),
    )
    expect(new Set(replies)).toEqual(new Set([413]))
  })
})

test('what a killed process left is no obstacle; a path too long for a socket is told', async () => {
  const other = createServer()
  await entrance.close()
  const { writeFile } = await import('node:fs/promises')
  await writeFile(join(directory, 'quoin.lock.entrance'), '')
  entrance = await openEntrance(directory, other, watch)
  await expect(openEntrance(`/${'a'.repeat(120)}`, other, watch)).rejects.toThrow('QUOIN_DATA')
})
