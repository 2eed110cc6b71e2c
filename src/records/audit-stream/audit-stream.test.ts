/** Streaming of the audit log to real servers: what arrives, what happens while they are down, and on which node. */
import { once } from 'node:events'
import { createServer as createHttp, type IncomingMessage } from 'node:http'
import { createServer as createTcp, type Server, type Socket } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { localCertificate } from '../../../test/local-certificate.ts'
import { openCollector } from '../../../test/otlp-collector.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { transact } from '../../storage/transact.ts'
import { type AuditChain, openAuditChain } from '../audit-chain.ts'
import { type AuditLog, openAuditLog } from '../audit-log.ts'
import { secretKeys } from '../secrets/signing-secret.ts'
import { auditReceiver, type ReceiverAddress } from './audit-receiver.ts'
import { type AuditStream, openAuditStream } from './audit-stream.ts'

let fixture: TestDatabase
let chain: AuditChain
let log: AuditLog
let failures: string[]
const opened: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  fixture = await openTestDatabase()
  const { database, clock } = fixture
  failures = []
  chain = await openAuditChain({ database, clock, keys: secretKeys('', []), offline: true })
  log = await openAuditLog(database, {}, chain)
})
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
  log.close()
  await chain.close()
  await fixture.close()
})

async function note(...names: string[]): Promise<void> {
  for (const name of names)
    await transact(fixture.database, async (session) =>
      log.record(session, {
        ...{ category: 'things', action: 'created', guid: 'g', name, before: undefined, after: {} },
      }),
    )
  await chain.seal()
}

async function stream(address: Omit<ReceiverAddress, 'token'>, token = ''): Promise<AuditStream> {
  const { database, clock } = fixture
  const receiver = auditReceiver({ token, ...address })
  const one = await openAuditStream({ database, clock, receiver, failed: (text) => void failures.push(text) })
  opened.push(() => one.close())
  return one
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.push(async () => {
    server.close()
    await once(server, 'close').catch(() => undefined)
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  return address.port
}

interface Collected {
  readonly url: string
  readonly names: string[]
  readonly requests: IncomingMessage[]
  /** Lengths of bodies that were taken. */
  readonly taken: number[]
  status: number
}

async function httpServer(longest = Number.POSITIVE_INFINITY): Promise<Collected> {
  const collected: Omit<Collected, 'url' | 'names'> & { names: string[] } = {
    ...{ names: [], requests: [], taken: [], status: 204 },
  }
  const server = createHttp(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    collected.requests.push(request)
    const status = body.length > longest ? 413 : collected.status
    if (status === 204) {
      collected.names.push(...namesIn(body.trimEnd().split('\n')))
      collected.taken.push(body.length)
    }
    response.writeHead(status).end()
  })
  const port = await listen(server)
  return Object.assign(collected, { url: `http://127.0.0.1:${port}/audit` })
}

const namesIn = (lines: readonly string[]) => lines.map((line) => String(JSON.parse(line).audit?.name))

/** Frames by their length, and closes where the client has closed, as syslog servers do. */
function collectFrames(names: string[]) {
  return (socket: Socket) => {
    let rest = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (let space = rest.indexOf(' '); space > 0; space = rest.indexOf(' ')) {
        const end = space + 1 + Number(rest.subarray(0, space).toString())
        if (rest.length < end) return
        const message = rest.subarray(space + 1, end).toString()
        names.push(...namesIn([message.slice(message.indexOf('\uFEFF') + 1)]))
        rest = rest.subarray(end)
      }
    })
  }
}

const many = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `n${from + at}`)

test('records from before the first start are not sent, and later ones in order, in batches of 50', async () => {
  await note('before')
  const receiver = await httpServer()
  const one = await stream({ url: receiver.url }, 'secret-token')
  await one.run()
  expect(receiver.requests).toEqual([])
  await note(...many(0, 120))
  await one.run()
  expect(receiver.names).toEqual(many(0, 120))
  expect(receiver.requests.map(({ headers }) => [headers.authorization, headers['content-type']])).toEqual(
    Array(3).fill(['Bearer secret-token', 'application/x-ndjson']),
  )
  await one.run()
  expect(receiver.requests).toHaveLength(3)
})

test.each([
  ['TCP', false],
  ['TLS', true],
])('syslog over %s gets each record as a frame', async (_, isTls) => {
  const names: string[] = []
  const server = isTls ? createTls(localCertificate, collectFrames(names)) : createTcp(collectFrames(names))
  const port = await listen(server)
  const one = await stream({
    ...{ url: isTls ? `syslog+tls://localhost:${port}` : `syslog+tcp://127.0.0.1:${port}` },
    ...(isTls && { ca: localCertificate.cert }),
  })
  await note(...many(0, 60))
  await one.run()
  expect([names, failures]).toEqual([many(0, 60), []])
})

test('a collector of OTLP gets each record as a log, with its place, and with the space that it is of', async () => {
  const collector = await openCollector()
  opened.push(() => collector.close())
  const one = await stream({ url: `otlp+${collector.url}`, space: 'guid-of-a-space' }, 'secret-token')
  await note(...many(0, 60))
  await one.run()
  expect([collector.faults, failures]).toEqual([[], []])
  expect(namesIn(collector.logs.map(({ body }) => body))).toEqual(many(0, 60))
  expect(collector.logs[0]).toMatchObject({
    severity: 9,
    attributes: { 'event.name': 'things.created', 'quoin.space': 'guid-of-a-space' },
  })
  const places = collector.logs.map(({ attributes }) => Number(attributes['audit.place']))
  expect(places).toEqual(places.map((_place, at) => (places[0] ?? 0) + at))
  expect(collector.headers.map(({ authorization }) => authorization)).toEqual(
    Array(2).fill('Bearer secret-token'),
  )
})

test('records that a collector rejects with a reply of 200 come again', async () => {
  const seen: [string | undefined, number][] = []
  let rejected = 1
  const server = createHttp(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    seen.push([request.url, text.split('audit.place').length - 1])
    const partialSuccess = { rejectedLogRecords: `${rejected}`, errorMessage: 'too old' }
    response.writeHead(200).end(JSON.stringify({ partialSuccess }))
  })
  const one = await stream({ url: `otlp+http://127.0.0.1:${await listen(server)}/own/path?a=1` })
  await note('a', 'b', 'c')
  for (let tries = 0; tries < 3; tries++) await one.run()
  expect(failures).toEqual([expect.stringContaining('the receiver rejected 1 records: too old')])
  rejected = 0
  await one.run()
  await one.run()
  expect(seen.map(([url]) => url)).toEqual(seen.map(() => '/own/path?a=1'))
  expect(seen.map(([, records]) => records)).toEqual([3, 3, 3, 3])
})

test('a certificate that is not trusted gets nothing', async () => {
  const names: string[] = []
  const port = await listen(
    createTls(localCertificate, collectFrames(names)).on('tlsClientError', () => undefined),
  )
  const one = await stream({ url: `syslog+tls://localhost:${port}` })
  await note('a')
  for (let tries = 0; tries < 3; tries++) await one.run()
  expect([names, failures]).toEqual([[], [expect.stringContaining('self-signed certificate')]])
})

test('a receiver that refuses loses nothing: the third failure is reported, and all arrives later', async () => {
  const receiver = await httpServer()
  const one = await stream({ url: receiver.url })
  receiver.status = 500
  await note('a', 'b')
  for (let tries = 0; tries < 4; tries++) await one.run()
  expect(receiver.names).toEqual([])
  expect(failures).toEqual([expect.stringContaining('3 times in a row: Error: the receiver replied 500')])
  expect(one.isLate()).toBe(false)
  fixture.clock.now += 61_000
  expect(one.isLate()).toBe(true)
  receiver.status = 204
  await one.run()
  expect([receiver.names, one.isLate()]).toEqual([['a', 'b'], false])
})

test('a batch that the receiver does not take gets smaller until it does, and then larger again', async () => {
  const receiver = await httpServer(5_000)
  const one = await stream({ url: receiver.url })
  await note(...many(0, 40))
  for (let tries = 0; tries < 20 && receiver.names.length < 40; tries++) await one.run()
  expect(receiver.names).toEqual(many(0, 40))
  // Each try takes some of them on: nothing is wrong for long.
  expect(failures).toEqual([expect.stringContaining('3 times in a row: Error: the receiver replied 413')])
  expect(receiver.requests.length).toBeLessThan(30)
  expect(receiver.taken.length).toBeGreaterThan(2)
})

test('large records are sent in batches of at most 512 KiB', async () => {
  const receiver = await httpServer(600_000)
  const one = await stream({ url: receiver.url })
  const large = Array.from({ length: 12 }, (_, at) => `${at}${'x'.repeat(60_000)}`)
  await note(...large)
  await one.run()
  expect([receiver.names.map((name) => name.length), failures]).toEqual([
    large.map((name) => name.length),
    [],
  ])
  expect(receiver.taken).toHaveLength(2)
})

test('a redirect is not followed', async () => {
  const elsewhere = await httpServer()
  const server = createHttp((_request, response) =>
    response.writeHead(307, { location: elsewhere.url }).end(),
  )
  const one = await stream({ url: `http://127.0.0.1:${await listen(server)}/` })
  await note('a')
  await one.run()
  expect(elsewhere.requests).toEqual([])
})

test.each([
  ['closes before it has read', (socket: Socket) => void socket.resetAndDestroy()],
  ['reads and never closes', (socket: Socket) => void socket.resume()],
  ['reads nothing', (socket: Socket) => void socket.pause()],
])('records that a syslog receiver has not taken come again: one that %s', async (_, treat) => {
  const sockets: Socket[] = []
  const broken = createTcp({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket.on('error', () => undefined))
    treat(socket)
  })
  const port = await listen(broken)
  opened.push(async () => {
    for (const socket of sockets) socket.destroy()
  })
  const first = await stream({ url: `syslog+tcp://127.0.0.1:${port}`, patience: 200 })
  await note(...many(0, 3))
  await first.run()
  await first.close()
  const names: string[] = []
  const whole = await listen(createTcp(collectFrames(names)))
  const second = await stream({ url: `syslog+tcp://127.0.0.1:${whole}` })
  await second.run()
  expect(names).toEqual(many(0, 3))
})

test('two nodes send each record once, and the position survives a restart', async () => {
  const receiver = await httpServer()
  const [one, other] = [await stream({ url: receiver.url }), await stream({ url: receiver.url })]
  await note(...many(0, 30))
  await Promise.all([one.run(), other.run(), one.run()])
  expect(receiver.names).toEqual(many(0, 30))
  await Promise.all([one.close(), other.close()])
  await note('later')
  await (await stream({ url: receiver.url })).run()
  expect(receiver.names).toEqual([...many(0, 30), 'later'])
})

test('a receiver that hangs is left at once when the node closes', async () => {
  const server = createHttp(() => undefined)
  const one = await stream({ url: `http://127.0.0.1:${await listen(server)}/` })
  await note('a')
  const arrived = once(server, 'request')
  const running = one.run()
  await arrived
  await one.close()
  await running
  server.closeAllConnections()
  expect(failures).toEqual([])
})
