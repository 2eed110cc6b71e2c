/** Passes requests on to the writer and its replies back, as streams: bodies of any size go through as they come. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { Pool } from 'undici'
import { letOthersTime } from '../http/limits/slow-body.ts'
import { hasBody, headersToClient, headersToWriter } from './forwarded-headers.ts'

export interface RequestForwarder {
  /** Of a request whose body was not read. Never fails: what goes wrong is the reply. */
  forward(request: IncomingMessage, response: ServerResponse): void
  close(): Promise<void>
}

/** For the rest of a body that was refused. */
const DROP_MS = 15_000

/** `isClosing`: then each connection ends with its reply. */
export function requestForwarder(entrance: string, isClosing: () => boolean): RequestForwarder {
  // The writer limits the time of requests, runs and replies; twice would be wrong for some of them.
  const pool = new Pool('http://writer', { socketPath: entrance, headersTimeout: 0, bodyTimeout: 0 })
  return {
    forward(request, response) {
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const body = hasBody(request) ? bodyOf(request) : null
      const over = body && letOthersTime(request.socket)
      pool
        .stream(
          {
            path: request.url ?? '/',
            method: request.method ?? 'GET',
            headers: headersToWriter(request),
            body,
            signal: gone.signal,
          },
          ({ statusCode, headers }) => {
            if (isClosing() || headers.connection === 'close') response.shouldKeepAlive = false
            response.writeHead(statusCode, headersToClient(headers))
            return response
          },
        )
        .catch(() => refuse(response))
        .finally(() => over?.())
    },
    close: () => pool.destroy(),
  }
}

/**
 * The body on its way to the writer. Not the request itself: where the writer replies before it has read the whole body, the
 * client library destroys what it reads from, and the rest would stay in the connection in front of the next request.
 * The rest of such a body is read and dropped here, as Node does with a body that no handler has read.
 */
function bodyOf(request: IncomingMessage): PassThrough {
  const body = new PassThrough()
  body.once('error', () => undefined)
  body.once('close', () => {
    request.unpipe(body)
    if (request.complete) return
    request.resume()
    // Node's own limit may be over already, and then it looks no more.
    const late = setTimeout(() => request.socket.destroy(), DROP_MS).unref()
    request.once('close', () => clearTimeout(late))
  })
  return request.pipe(body)
}

/** The writer is gone, or it cut the connection, as it does with senders that are too slow. */
function refuse(response: ServerResponse): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const body = JSON.stringify({
    error: 'UNAVAILABLE',
    code: 503,
    message: 'The process that writes did not answer. Try again.',
  })
  response.writeHead(503, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'retry-after': '1',
    connection: 'close',
  })
  response.end(body)
}
