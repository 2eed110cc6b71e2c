import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TemporaryServer } from '../../../test/temporary-server.ts'
import { openTemporaryServer } from '../../../test/temporary-server.ts'
import { leftBy } from '../routes/search-reply.ts'

let server: TemporaryServer
let port: number
let release: () => void = () => undefined
let entered: () => void = () => undefined
let left: (isSeen: boolean) => void = () => undefined

beforeAll(async () => {
  server = await openTemporaryServer({
    limits: { headers: 200, request: 400, check: 50 },
    unread: { pause: 50, looks: 3, bytes: 1024 },
    settings: { connections: 2 },
    api: [
      (app) => {
        const config = { permission: 'public' } as const
        app.get('/_system/a', { config }, () => ({ a: 1 }))
        app.post('/_system/a', { config: { ...config, bodyBytes: 'setting' } }, () => ({ a: 1 }))
        app.get('/_system/large', { config }, () => 'x'.repeat(40_000_000))
        app.get('/_system/slow', { config }, async () => {
          await new Promise<void>((resolve) => {
            release = resolve
            entered()
          })
          return { slow: true }
        })
        app.get('/_system/left', { config }, async (_request, reply) => {
          const closed = once(reply.raw, 'close')
          entered()
          await closed
          left(leftBy(reply).aborted)
          return {}
        })
      },
    ],
  })
  port = Number(new URL(await server.server.listen()).port)
})
afterAll(() => server.close())

/** Sends bytes as they are and gives all that comes back until the server ends the connection; else the error's code. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8')
  socket.on('data', (text) => {
    received += text
  })
  let failure = ''
  socket.on('error', (error) => {
    failure = 'code' in error ? String(error.code) : error.message
  })
  socket.write(bytes)
  await new Promise((resolve) => socket.on('close', resolve))
  return received || failure
}

const get = (headers: string) => `GET /api/v1/_system/a HTTP/1.1\r\n${headers}\r\n\r\n`

describe('a connection', () => {
  it.each([
    ['garbage', 'hello\r\n\r\n'],
    ['a TLS greeting', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n'],
    ['two lengths', get('Host: a\r\nContent-Length: 1\r\nContent-Length: 2')],
    ['a length and chunks', get('Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked')],
    ['no host', get('Accept: */*')],
    ['a header without a name', get('Host: a\r\n: b')],
    ['a header with a bare line feed', get('Host: a\r\nX: a\nb\rc')],
    ['a version that does not exist', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
  ])('is refused and ended after %s', async (_name, bytes) => {
    const reply = await exchange(bytes)
    expect(reply).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(reply).toMatch(/connection: close/i)
  })

  it('names malformed HTTP in the body', async () => {
    const body = (await exchange('hello\r\n\r\n')).split('\r\n\r\n')[1]
    expect(JSON.parse(body ?? '')).toMatchObject({ error: 'INVALID_QUERY', code: 400 })
  })

  it('is ended after more than 16 KiB of headers', async () => {
    const reply = await exchange(get(`Host: a\r\nX: ${'a'.repeat(20_000)}`))
    expect(reply).toMatch(/^HTTP\/1\.1 431 /)
  })

  it('is ended when the body is longer than it may be, without reading it', async () => {
    const head = 'POST /api/v1/_system/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
    const reply = await exchange(`${head}Content-Length: 900000000\r\n\r\n{`)
    expect(reply).toMatch(/^HTTP\/1\.1 413 /)
    expect(reply).toContain('FILE_TOO_BIG')
  })

  it.each([
    ['headers', 'GET /api/v1/_system/a HTTP/1.1\r\nHost: a\r\n'],
    [
      'body',
      'POST /api/v1/_system/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ],
  ])('is ended when the %s do not come in time', async (_name, bytes) => {
    expect(await exchange(bytes)).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('is ended when its client does not read a reply', async () => {
    const connected = new Promise<Socket>((resolve) => server.app.server.once('connection', resolve))
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.pause()
    const ended = once(await connected, 'close')
    socket.write('GET /api/v1/_system/large HTTP/1.1\r\nHost: a\r\n\r\n')
    await ended
    expect(server.server.waitingBytes()).toBe(0)
    socket.destroy()
  })

  it('is closed at once when its address has too many', async () => {
    const elsewhere = createServer((socket) => {
      Object.defineProperty(socket, 'remoteAddress', { value: '192.0.2.1' })
      server.app.server.emit('connection', socket)
    })
    elsewhere.listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const address = elsewhere.address()
    const at = typeof address === 'object' && address !== null ? address.port : 0
    const ended = (socket: Socket) => textOf(socket).catch(() => '')
    const open = [connect(at, '127.0.0.1'), connect(at, '127.0.0.1')]
    await Promise.all(open.map((socket) => once(socket, 'connect')))
    expect(await ended(connect(at, '127.0.0.1'))).toBe('')
    expect(server.log.filter((line) => line.includes('QUOIN_CONNECTIONS'))).toHaveLength(1)
    for (const socket of open) {
      socket.write(get('Host: a\r\nConnection: close'))
      expect(await ended(socket)).toMatch(/^HTTP\/1\.1 200 /)
    }
    elsewhere.close()
  })

  it('serves several requests', async () => {
    const last = get('Host: a\r\nConnection: close')
    const reply = await exchange(get('Host: a') + last)
    expect(reply.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2)
  })
})

it('tells work of a client that left before the work began', async () => {
  const begun = new Promise<void>((resolve) => {
    entered = resolve
  })
  const seen = new Promise<boolean>((resolve) => {
    left = resolve
  })
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/v1/_system/left HTTP/1.1\r\nhost: x\r\n\r\n')
  await begun
  socket.destroy()
  expect(await seen).toBe(true)
})

describe('closing', () => {
  it('lets a request in flight finish, and takes no new one', async () => {
    const arrived = new Promise<void>((resolve) => {
      entered = resolve
    })
    const inFlight = exchange('GET /api/v1/_system/slow HTTP/1.1\r\nHost: a\r\n\r\n')
    await arrived
    const closed = server.server.close()
    await expect.poll(() => exchange(get('Host: a\r\nConnection: close'))).toBe('ECONNREFUSED')
    release()
    const reply = await inFlight
    expect(reply).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(reply).toMatch(/connection: close/i)
    expect(reply).toContain('{"slow":true}')
    await closed
  })
})
