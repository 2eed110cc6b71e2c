import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { QuoinError } from '../../shared/errors.ts'

/** The body, whole. Rejects one that is longer than `most` bytes, and one that is not as long as it says. */
export function wholeBody(request: IncomingMessage, most: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? Number.NaN)
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    const refuse = (error: QuoinError) => {
      request.off('data', take)
      reject(error)
    }
    const take = (chunk: Buffer) => {
      length += chunk.length
      if (length > most) refuse(bodyTooLarge(most))
      else chunks.push(chunk)
    }
    if (announced > most) refuse(bodyTooLarge(most))
    else
      request
        .on('data', take)
        .on('error', () => refuse(wrongLength()))
        .on('end', () => {
          if (!Number.isNaN(announced) && announced !== length) refuse(wrongLength())
          else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length))
        })
  })
}

/** How long the rest of a refused body is read before its connection is cut: 64 MB at 250 Mbit/s. */
const REST_MS = 2_000

/**
 * Before a reply to a request whose body was refused, and with which its connection ends. TCP resets a connection that is closed with bytes unread: a
 * client that still sends gets EPIPE then, and never reads why it was refused. So the rest is read, and dropped, before.
 */
export function dropRest(request: IncomingMessage): void {
  const { socket } = request
  // A request that a plugin or a test injects has no connection.
  if (request.complete || !(socket instanceof Socket) || socket.destroyed) return
  const destroySoon = socket.destroySoon.bind(socket)
  // Called by Node when a last reply is written.
  socket.destroySoon = () => {
    if (request.complete || request.destroyed) return destroySoon()
    socket.end()
    const late = setTimeout(() => socket.destroy(), REST_MS).unref()
    request.once('end', destroySoon).once('close', destroySoon).resume()
    socket.once('close', () => clearTimeout(late))
  }
}

/** Whether the client sends a body. GET and HEAD have none, whatever they send. */
export function sendsBody({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  if (headers['content-type'] !== undefined || headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}

/**
 * Throws UNSUPPORTED_MEDIA_TYPE for a body that is packed (RFC 9110, 8.4). Read as if it were not, it would be another body here
 * than for a proxy that unpacks it; unpacked here, 1 MB could become 1 GB.
 */
export function refuseEncoded(headers: IncomingHttpHeaders): void {
  const transfer = headers['transfer-encoding']?.trim().toLowerCase()
  const packed = (headers['content-encoding'] ?? '').split(',').map((one) => one.trim().toLowerCase())
  const isPlain = packed.every((one) => one === '' || one === 'identity')
  if (isPlain && (transfer === undefined || transfer === 'chunked')) return
  throw new QuoinError(
    'UNSUPPORTED_MEDIA_TYPE',
    `${isPlain ? 'transfer-encoding must be chunked' : 'content-encoding must be identity'} or absent. Send the body without compression.`,
  )
}

function bodyTooLarge(limit: number): QuoinError {
  return new QuoinError('FILE_TOO_BIG', `The body is larger than ${limit} bytes.`)
}

function wrongLength(): QuoinError {
  return new QuoinError('INVALID_BODY', 'The length of the body differs from content-length.')
}
