import { createHash } from 'node:crypto'

/** What is known of a file once it has gone by. */
export interface FileFacts {
  readonly size: number
  /** Hexadecimal. */
  readonly sha256: string
  /** The first 4,100 bytes, or all: what tells of which type a file is. */
  readonly head: Buffer
}

/** What file-type asks for. */
const HEAD = 4_100

/** Hands a stream on as it is, one chunk in memory at a time. `facts` once it has ended. */
export function receivedBytes(source: AsyncIterable<Buffer>): {
  readonly chunks: AsyncIterable<Buffer>
  facts(): FileFacts
} {
  const hash = createHash('sha256')
  let head = Buffer.alloc(0)
  let size = 0
  async function* chunks() {
    for await (const chunk of source) {
      if (head.length < HEAD) head = Buffer.concat([head, chunk.subarray(0, HEAD - head.length)])
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  return { chunks: chunks(), facts: () => ({ size, sha256: hash.digest('hex'), head }) }
}
