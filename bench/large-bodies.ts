/** Bodies that are larger than a process should hold: made while they are sent, as fast as the server takes them. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

export const MIB = 1024 * 1024

export interface Body {
  readonly type: string
  /** undefined: it is sent in chunks, and the server must count for itself. */
  readonly length: number | undefined
  readonly bytes: () => Iterable<Buffer>
}

export interface Answered {
  readonly status: number
  readonly text: string
  readonly seconds: number
}

const BOUNDARY = 'quoin-bench-boundary'

/** A form with one file of so many bytes. */
export function fileForm(size: number, lengthSaid: boolean): Body {
  const head = Buffer.from(
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="large.bin"\r\ncontent-type: application/octet-stream\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
  return {
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    length: lengthSaid ? head.length + size + tail.length : undefined,
    *bytes() {
      const block = randomBytes(MIB)
      yield head
      for (let left = size; left > 0; left -= MIB) yield left < MIB ? block.subarray(0, left) : block
      yield tail
    },
  }
}

/** One line for each number below `count`. */
export function lines(count: number, line: (number: number) => string): Body {
  return {
    type: 'application/x-ndjson',
    length: undefined,
    *bytes() {
      let batch = ''
      for (let number = 0; number < count; number++) {
        batch += `${line(number)}\n`
        if (batch.length < MIB / 16) continue
        yield Buffer.from(batch)
        batch = ''
      }
      yield Buffer.from(batch)
    },
  }
}

/** Posts it. A server that has answered is sent no more; what then happens to the connection is no error. */
export async function post(url: string, token: string, body: Body): Promise<Answered> {
  const began = performance.now()
  const sent = request(url, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': body.type,
      authorization: `Bearer ${token}`,
      ...(body.length !== undefined && { 'content-length': body.length }),
    },
  })
  const source = Readable.from(body.bytes(), { objectMode: true, highWaterMark: 1 })
  const answer: Promise<IncomingMessage> = once(sent, 'response').then(([response]) => response)
  // Before the answer this fails `answer` too; behind it, nothing is wrong.
  sent.on('error', () => undefined)
  source.pipe(sent)
  try {
    const response = await answer
    // Read at once: a server that closes takes with it what has not been read.
    const reported = await text(response)
    return { status: response.statusCode ?? 0, text: reported, seconds: (performance.now() - began) / 1000 }
  } finally {
    source.destroy()
    sent.destroy()
  }
}
