/**
 * The load generator: keep-alive connections on which the next request goes out when the reply to the last one is here,
 * so `connections` requests are always under way.
 *
 * By hand, because with one core the client must not be what is measured: on the same core autocannon 9 kept the
 * hand-written server busy for a quarter to a half of the time (constant object: 6,000 to 10,000 replies/s), this one for
 * 0.6 to 0.9 of it (7,000 to 24,000/s, both in turns on a machine with other work). wrk would do, but is not on every
 * machine.
 */
import { connect, type Socket } from 'node:net'
import { Latencies } from './latencies.ts'
import type { Ask } from './requests.ts'
import { responseScanner } from './response-scanner.ts'

export interface Load {
  readonly port: number
  readonly connections: number
  /** Gives the next request; undefined when there is none left. */
  readonly next: () => Ask | undefined
  /** How long to measure. Undefined: until there is no request left. */
  readonly seconds?: number
  /** Load before the clock starts. */
  readonly rampSeconds?: number
}

export interface LoadResult {
  /** Counted replies, those before the clock started included. */
  readonly replies: number
  /** Counted replies a second. */
  readonly rate: number
  readonly latencies: Latencies
  /** Replies with another status than expected, and connections that broke. With any, the rate means nothing. */
  readonly errors: number
  readonly firstError: string | undefined
  /** Share of its core that this generator used. Near 1, the rate is its own and not the server's; NaN if unknown. */
  readonly busy: number
}

export type LoadGenerator = (load: Load) => Promise<LoadResult>

/** How long to wait for the last replies. */
const PATIENCE_MS = 10_000
/** Of a load without an end: how long to wait for any reply at all. */
const SILENCE_MS = 60_000

interface Tally {
  /** On the clock of `performance.now`. */
  readonly from: number
  readonly until: number
  readonly latencies: Latencies
  replies: number
  errors: number
  firstError: string | undefined
}

export async function runLoad({
  port,
  connections,
  next,
  seconds,
  rampSeconds = 0,
}: Load): Promise<LoadResult> {
  const began = performance.now()
  const from = began + rampSeconds * 1000
  const until = seconds === undefined ? Number.POSITIVE_INFINITY : from + seconds * 1000
  const tally: Tally = {
    from,
    until,
    latencies: new Latencies(),
    replies: 0,
    errors: 0,
    firstError: undefined,
  }
  const cpu = process.cpuUsage()
  const sockets = new Set<Socket>()
  const giveUp = (milliseconds: number) => {
    for (const socket of sockets) socket.destroy(new Error(`no reply within ${milliseconds / 1000} seconds`))
  }
  let before = -1
  const guard =
    seconds === undefined
      ? setInterval(() => {
          if (tally.replies === before) giveUp(SILENCE_MS)
          before = tally.replies
        }, SILENCE_MS)
      : setTimeout(() => giveUp(PATIENCE_MS), until - began + PATIENCE_MS)
  await Promise.all(Array.from({ length: connections }, () => converse(port, next, tally, sockets)))
  clearTimeout(guard)
  const ended = performance.now()
  const { user, system } = process.cpuUsage(cpu)
  const measured = (Math.min(ended, until) - from) / 1000
  return {
    replies: tally.replies,
    rate: tally.latencies.total / measured,
    latencies: tally.latencies,
    errors: tally.errors,
    firstError: tally.firstError,
    busy: (user + system) / 1000 / (ended - began),
  }
}

/** One connection, from its first request to its last reply. Resolves however it ends; what went wrong is in the tally. */
function converse(
  port: number,
  next: () => Ask | undefined,
  tally: Tally,
  sockets: Set<Socket>,
): Promise<void> {
  return new Promise((resolve) => {
    let current: Ask | undefined
    let sent = 0
    const fail = (message: string) => {
      tally.errors += 1
      tally.firstError ??= message
    }
    const send = () => {
      sent = performance.now()
      current = sent < tally.until ? next() : undefined
      if (current === undefined) socket.end()
      else socket.write(current.bytes)
    }
    const scan = responseScanner((status, error) => {
      const now = performance.now()
      if (current === undefined) return fail('a reply came without a request')
      if (status !== current.expected)
        fail(`${lineOf(current)} was answered with ${status} and not ${current.expected}: ${error}`)
      else if (current.counted) {
        tally.replies += 1
        if (now >= tally.from && now < tally.until) tally.latencies.note(now - sent)
      }
      send()
    })
    const buffer = Buffer.allocUnsafe(128 * 1024)
    const socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer,
        callback(length) {
          try {
            scan(buffer.subarray(0, length))
          } catch (error) {
            socket.destroy(error instanceof Error ? error : new Error(String(error)))
          }
          return true
        },
      },
    })
    sockets.add(socket)
    socket.once('connect', send)
    socket.once('error', (error) => fail(`a connection broke: ${error.message}`))
    socket.once('close', (broken) => {
      if (current !== undefined && !broken) fail('the server closed a connection before it had answered')
      sockets.delete(socket)
      resolve()
    })
  })
}

function lineOf({ bytes }: Ask): string {
  return bytes.toString('latin1', 0, bytes.indexOf(' HTTP/1.1'))
}
