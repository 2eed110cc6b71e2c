import type { IncomingMessage } from 'node:http'
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

function bodyTooLarge(limit: number): QuoinError {
  return new QuoinError('FILE_TOO_BIG', `The body is larger than ${limit} bytes.`)
}

function wrongLength(): QuoinError {
  return new QuoinError('INVALID_BODY', 'The length of the body differs from content-length.')
}
