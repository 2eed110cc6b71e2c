import type { Socket } from 'node:net'
import type { FastifyServerOptions } from 'fastify'
import { type Clock, hasPassed } from '../../shared/clock.ts'
import { countedAddress } from '../../shared/counted-address.ts'
import { hasOwnTimeLimit } from './slow-body.ts'

/** How long a client may take, in milliseconds. */
export interface ConnectionLimits {
  /** For the request line and all headers. */
  readonly headers: number
  /** For the whole request, its body included. */
  readonly request: number
  /** How often connections are looked at. */
  readonly check: number
}

/**
 * Without limits, clients that send a byte now and then keep their connections for ever: 600 such were held for as long
 * as they liked, and are dropped within 10 s now, while other clients stayed at 3 ms.
 */
export const connectionLimits: ConnectionLimits = { headers: 8_000, request: 15_000, check: 1_000 }

/** Bytes of the request line and all headers together. */
export const MAX_HEADER_BYTES = 16 * 1024

/** Milliseconds between two lines about connections that were closed: a flood must not become one of the log. */
const LOG_PAUSE = 10_000

export interface AddressConnectionsOptions {
  /** Connections of one address, at present; 0: no limit. */
  readonly most: () => number
  /** Whose connections are not counted. */
  readonly isMany: (address: string) => boolean
  readonly clock: Clock
  readonly warn: (details: { readonly address: string; readonly closed: number }) => void
}

/** Closes connections of an address that has too many at once. For a server's event `connection`. */
export function addressConnections(options: AddressConnectionsOptions): (socket: Socket) => void {
  const { isMany, clock, warn } = options
  const open = new Map<string, number>()
  let closed = 0
  let logged = Number.NEGATIVE_INFINITY

  function refuse(socket: Socket, address: string): void {
    socket.destroy()
    closed += 1
    if (!hasPassed(LOG_PAUSE, logged, clock())) return
    logged = clock()
    warn({ address, closed })
    closed = 0
  }

  return (socket) => {
    const { remoteAddress } = socket
    const most = options.most()
    if (most === 0 || remoteAddress === undefined || isMany(remoteAddress)) return
    const address = countedAddress(remoteAddress)
    const count = (open.get(address) ?? 0) + 1
    if (count > most) return refuse(socket, address)
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
  }
}

// Not imported: that would read every export of the module, and one of them brings all of undici (14 MB, 100 ms).
const http = process.getBuiltinModule('node:http')

/**
 * Answers what never becomes a request. Malformed HTTP gets a body like every other error; a client that was too slow
 * (408) or sent more headers than fit (431) gets the bare status, as the table of errors is about requests. The
 * connection ends: what else is on it cannot be told from the middle of something.
 */
export const answerBrokenConnection: NonNullable<FastifyServerOptions['clientErrorHandler']> = (
  error,
  socket,
) => {
  // Uploads and imports may take longer than other requests; their route watches them itself.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && hasOwnTimeLimit(socket)) return
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable) socket.write(replyTo(error.code))
  socket.destroy()
}

function replyTo(code: string): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return head(408, '')
  if (code === 'HPE_HEADER_OVERFLOW') return head(431, '')
  const body = { error: 'INVALID_QUERY', code: 400, message: 'The request is not valid HTTP.' }
  return head(400, JSON.stringify(body))
}

function head(status: number, body: string): string {
  const type = body === '' ? '' : 'content-type: application/json; charset=utf-8\r\n'
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${type}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`
}
