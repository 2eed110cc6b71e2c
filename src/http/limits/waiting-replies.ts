/**
 * How much of the replies of this process waits for clients that have not taken it yet, and how much may.
 *
 * A reply is text in memory until the system has taken its last byte. A client that asks and does not read costs so much for
 * as long as it stays (`unread-replies.ts`): 60 connections that asked for 10 MB each held 700 MB. What would be too much is
 * 503 instead. Streams (files, exports, events) are not counted: they are read as fast as their client reads.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { onSendHookHandler } from 'fastify'
import { countedAddress } from '../../shared/counted-address.ts'
import { QuoinError } from '../../shared/errors.ts'

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
  const held = new WeakMap<Socket, Held>()
  const byAddress = new Map<string, number>()
  let total = 0

  function add(address: string, bytes: number): void {
    total += bytes
    const sum = (byAddress.get(address) ?? 0) + bytes
    if (sum === 0) byAddress.delete(address)
    else byAddress.set(address, sum)
  }

  function recordOf(socket: Socket): Held {
    const address = countedAddress(socket.remoteAddress ?? '')
    const known = held.get(socket)
    if (known) {
      // Between processes, a connection carries requests of one client after the other.
      if (known.bytes === 0) known.address = address
      return known
    }
    const record = { address, bytes: 0 }
    held.set(socket, record)
    socket.once('close', () => {
      add(record.address, -record.bytes)
      record.bytes = 0
    })
    return record
  }

  return {
    get bytes() {
      return total
    },
    admit(socket, bytes) {
      if (bytes <= SMALL) return
      const most = mostBytes()
      if (most === 0) return
      if (total + bytes > most) throw refused('Too many replies are waiting for their clients.')
      // Nothing waits, nearly always: then no client has to be told from another.
      if (total === 0) return
      const ip = socket.remoteAddress ?? ''
      const own = byAddress.get(countedAddress(ip)) ?? 0
      if (own > 0 && own + bytes > most / 2 && !isMany(ip))
        throw refused('Too many replies to this address are waiting to be read.')
    },
    hold(response, bytes) {
      const { socket } = response.req
      // It has ended, and would never say so again.
      if (socket.destroyed) return
      const record = recordOf(socket)
      record.bytes += bytes
      add(record.address, bytes)
      response.once('finish', () => {
        // The connection has ended meanwhile, and took everything along.
        if (record.bytes < bytes) return
        record.bytes -= bytes
        add(record.address, -bytes)
      })
    },
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
