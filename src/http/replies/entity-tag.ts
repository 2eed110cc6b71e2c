import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { onSendHookHandler } from 'fastify'
import type { Timers } from '../../shared/clock.ts'
import { LONG, longReply } from './long-reply.ts'

/** A strong tag over the bytes of a reply: about 1 µs for 500 bytes, 12 µs for 9 KB. */
export function entityTag(payload: string | Buffer): string {
  return `"${hash('sha1', payload, 'base64url')}"`
}

/**
 * Gives successful GET replies an ETag and answers 304 when the client already has those bytes. A reply that brings its
 * own tag, as one from a cache can, costs no hash.
 *
 * By hand and not with @fastify/etag: that one also tags errors and answers 304 to a POST, and does not read lists.
 */
export const tagReply: onSendHookHandler<unknown> = (request, reply, payload, done) => {
  const { method } = request
  if (reply.statusCode !== 200 || (method !== 'GET' && method !== 'HEAD')) return done(null, payload)
  let tag = reply.getHeader('etag')
  if (tag === undefined) {
    if (request.routeOptions.config.entityTag === false) return done(null, payload)
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done(null, payload)
    if (typeof payload === 'string' && payload.length > LONG) {
      longReply(payload).then(
        (long) => {
          reply.header('etag', long.tag)
          tagReply.call(request.server, request, reply, long.bytes, done)
        },
        (error: unknown) => done(error instanceof Error ? error : new Error('The reply was not tagged.')),
      )
      return
    }
    tag = entityTag(payload)
    reply.header('etag', tag)
  }
  if (!knowsTag(request.headers['if-none-match'], String(tag))) return done(null, payload)
  reply.code(304).removeHeader('content-length')
  // A 304 says nothing of the body's length (RFC 9110, 8.6), and of an empty text the framework would say 0. Its own HEAD
  // routes measure whatever is not a stream.
  done(null, method === 'HEAD' ? Readable.from([]) : null)
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
