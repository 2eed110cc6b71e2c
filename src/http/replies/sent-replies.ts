import { createHash, hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import type { Timers } from '../../shared/clock.ts'
import { runCooperatively, type Steps } from '../../shared/cooperative.ts'
import { countedAddress } from '../../shared/counted-address.ts'
import { QuoinError } from '../../shared/errors.ts'

/** A strong tag over the bytes of a reply: about 1 µs for 500 bytes, 12 µs for 9 KB. */
export function entityTag(payload: string | Buffer): string {
  return `"${hash('sha1', payload, 'base64url')}"`
}

/**
 * Gives successful GET replies an ETag and answers 304 when the client already has those bytes. A reply that brings its
 * own tag, as one from a cache can, costs no hash. A long text, of any request, goes on as bytes.
 *
 * By hand and not with @fastify/etag: that one also tags errors and answers 304 to a POST, and does not read lists.
 */
export const tagReply: onSendHookHandler<unknown> = (request, reply, payload, done) => {
  if (typeof payload !== 'string' || payload.length <= LONG)
    return done(null, taggedReply(request, reply, payload))
  longReply(payload).then(
    ({ bytes, tag }) => done(null, taggedReply(request, reply, bytes, tag)),
    (error: unknown) => done(error instanceof Error ? error : new Error('The reply was not tagged.')),
  )
}

/** What is sent of it. `known`: its tag. */
function taggedReply(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  known?: string,
): unknown {
  const { method } = request
  if (reply.statusCode !== 200 || (method !== 'GET' && method !== 'HEAD')) return payload
  let tag = reply.getHeader('etag')
  if (tag === undefined) {
    if (request.routeOptions.config.entityTag === false) return payload
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    tag = known ?? entityTag(payload)
    reply.header('etag', tag)
  }
  if (!knowsTag(request.headers['if-none-match'], String(tag))) return payload
  reply.code(304).removeHeader('content-length')
  // A 304 says nothing of the body's length (RFC 9110, 8.6), and of an empty text the framework would say 0. Its own HEAD
  // routes measure whatever is not a stream.
  return method === 'HEAD' ? Readable.from([]) : null
}

/** Whether the client has the bytes of a tag. `known` is its If-None-Match; RFC 9110 compares weakly there. */
export function knowsTag(known: string | undefined, tag: string): boolean {
  if (known === undefined) return false
  if (known.trim() === '*') return true
  const bare = tag.replace(/^W\//, '')
  return known.split(',').some((one) => one.trim().replace(/^W\//, '') === bare)
}

/**
 * Sends the replies of one turn of the event loop together, at its end.
 *
 * A reply that is written wakes its client's process, and to wake a processor that sleeps costs much on a virtual machine: sending
 * took 20 to 40 µs in profiles, more than all blocks of a short flow. The turn reads the requests of many connections: answered one by one, each
 * reply wakes its client again; written one after the other, the first one does, and the others find it awake.
 * `src/http/DESIGN.md` has what it gave.
 */
export interface TurnReplies {
  /** Before a request is worked on: sends what has waited for as long as a reply may. `now`: of the same clock. */
  begin(now: number): void
  /** Calls once: at the end of the turn, or sooner where many wait. */
  add(send: () => void): void
}

/** A reply waits for the run that goes on and no further one when this has passed. Short flows take 20 to 200 µs. */
const MOST_MS = 1
/** At 16 KiB each, 1 MiB. */
const MOST = 64

/** `now`: in milliseconds. */
export function turnReplies(timers: Pick<Timers, 'soon'>, now: () => number): TurnReplies {
  let waiting: (() => void)[] = []
  let since = 0

  function sendAll(): void {
    const sends = waiting
    waiting = []
    for (const send of sends) send()
  }

  return {
    begin(time) {
      if (waiting.length > 0 && time - since > MOST_MS) sendAll()
    },
    add(send) {
      const count = waiting.push(send)
      if (count === 1) {
        since = now()
        timers.soon(sendAll)
      } else if (count >= MOST) sendAll()
    },
  }
}

/**
 * How much of the replies of this process waits for clients that have not taken it yet, and how much may.
 *
 * A reply is text in memory until the system has taken its last byte. A client that asks and does not read costs so much for
 * as long as it stays (`unread-replies.ts`): 60 connections that asked for 10 MB each held 700 MB. What would be too much is
 * 503 instead. Streams (files, exports, events) are not counted: they are read as fast as their client reads.
 */
export interface WaitingReplies {
  /** In all connections. */
  readonly bytes: number
  /** Throws UNAVAILABLE when so many bytes more would be too much: for all, or for the client of this connection. */
  admit(socket: Socket, bytes: number): void
  /** Counts a reply until all of it is gone. For one that was sent whole, and is not gone yet or will be sent now. */
  hold(response: ServerResponse, bytes: number): void
}

interface Held {
  address: string
  bytes: number
}

/** Whatever waits: an error must get out, and so many connections are no danger. */
export const SMALL = 16 * 1024
const RETRY_SECONDS = 5

/**
 * `mostBytes`: in all, at present; 0: no limit. One address may have half of it, so that it cannot keep others from their replies,
 * unless it stands for many clients.
 */
export function waitingReplies(
  mostBytes: () => number,
  isMany: (address: string) => boolean,
): WaitingReplies {
  return new CountedReplies(mostBytes, isMany)
}

class CountedReplies implements WaitingReplies {
  readonly #mostBytes: () => number
  readonly #isMany: (address: string) => boolean
  readonly #held = new WeakMap<Socket, Held>()
  readonly #byAddress = new Map<string, number>()
  #total = 0

  constructor(mostBytes: () => number, isMany: (address: string) => boolean) {
    this.#mostBytes = mostBytes
    this.#isMany = isMany
  }

  get bytes() {
    return this.#total
  }

  admit(socket: Socket, bytes: number): void {
    if (bytes <= SMALL) return
    const most = this.#mostBytes()
    if (most === 0) return
    if (this.#total + bytes > most) throw refused('Too many replies are waiting for their clients.')
    // Nothing waits, nearly always: then no client has to be told from another.
    if (this.#total === 0) return
    const ip = socket.remoteAddress ?? ''
    const own = this.#byAddress.get(countedAddress(ip)) ?? 0
    if (own > 0 && own + bytes > most / 2 && !this.#isMany(ip))
      throw refused('Too many replies to this address are waiting to be read.')
  }

  hold(response: ServerResponse, bytes: number): void {
    const { socket } = response.req
    // It has ended, and would never say so again.
    if (socket.destroyed) return
    const record = this.#recordOf(socket)
    record.bytes += bytes
    this.#add(record.address, bytes)
    response.once('finish', () => {
      // The connection has ended meanwhile, and took everything along.
      if (record.bytes < bytes) return
      record.bytes -= bytes
      this.#add(record.address, -bytes)
    })
  }

  #add(address: string, bytes: number): void {
    this.#total += bytes
    const sum = (this.#byAddress.get(address) ?? 0) + bytes
    if (sum === 0) this.#byAddress.delete(address)
    else this.#byAddress.set(address, sum)
  }

  #recordOf(socket: Socket): Held {
    const address = countedAddress(socket.remoteAddress ?? '')
    const known = this.#held.get(socket)
    if (known) {
      // Between processes, a connection carries requests of one client after the other.
      if (known.bytes === 0) known.address = address
      return known
    }
    const record = { address, bytes: 0 }
    this.#held.set(socket, record)
    socket.once('close', () => {
      this.#add(record.address, -record.bytes)
      record.bytes = 0
    })
    return record
  }
}

function refused(message: string): QuoinError {
  return new QuoinError('UNAVAILABLE', `${message} Try again later.`, { retryAfter: RETRY_SECONDS })
}

/** The same for replies of the framework, which are sent behind this hook. */
export function holdReplies(waiting: WaitingReplies): onSendHookHandler<unknown> {
  return (request, reply, payload, done) => {
    if (request.method === 'HEAD' || !(typeof payload === 'string' || Buffer.isBuffer(payload)))
      return done(null, payload)
    const bytes = Buffer.byteLength(payload)
    if (bytes <= SMALL) return done(null, payload)
    try {
      waiting.admit(request.raw.socket, bytes)
    } catch (error) {
      return done(error instanceof Error ? error : new Error('The reply was not admitted.'))
    }
    waiting.hold(reply.raw, bytes)
    done(null, payload)
  }
}

/** Characters from which on a reply is long: what is shorter takes 2 ms. */
export const LONG = 1_000_000
/** Characters between two looks at the time: 0.5 ms. */
const PIECE = 250_000

interface LongReply {
  readonly bytes: Buffer
  /** As `entityTag` has it. */
  readonly tag: string
}

/**
 * Long replies as bytes with their tag, made in turns: 20 MB take 20 to 40 ms to write as bytes and 20 to hash, in one turn if it were done at once.
 */
export function longReply(text: string): Promise<LongReply> {
  return runCooperatively(inPieces(text))
}

function* inPieces(text: string): Steps<LongReply> {
  const hash = createHash('sha1')
  const pieces: Buffer[] = []
  for (let at = 0; at < text.length; ) {
    let end = at + PIECE
    // Not through a character of two units.
    if (isFirstOfTwo(text.charCodeAt(end - 1))) end += 1
    const bytes = Buffer.from(text.slice(at, end))
    hash.update(bytes)
    pieces.push(bytes)
    at = end
    yield undefined
  }
  return { bytes: Buffer.concat(pieces), tag: `"${hash.digest('base64url')}"` }
}

function isFirstOfTwo(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}
