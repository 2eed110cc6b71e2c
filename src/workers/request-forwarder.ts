/** Passes requests on to the writer and its replies back, as streams: bodies of any size go through as they come. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Pool } from 'undici'
import { letOthersTime } from '../http/slow-body.ts'
import { hasBody, headersToClient, headersToWriter } from './forwarded-headers.ts'

export interface RequestForwarder {
  /** Of a request whose body was not read. Never fails: what goes wrong is the reply. */
  forward(request: IncomingMessage, response: ServerResponse): void
  close(): Promise<void>
}

/** `isClosing`: then each connection ends with its reply. */
export function requestForwarder(entrance: string, isClosing: () => boolean): RequestForwarder {
  // The writer limits the time of requests, runs and replies; twice would be wrong for some of them.
  const pool = new Pool('http://writer', { socketPath: entrance, headersTimeout: 0, bodyTimeout: 0 })
  return {
    forward(request, response) {
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const body = hasBody(request) ? request : null
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
            if (isClosing()) response.shouldKeepAlive = false
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
