import type { FastifyServerOptions } from 'fastify'
import { hasOwnTimeLimit } from './slow-body.ts'

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
