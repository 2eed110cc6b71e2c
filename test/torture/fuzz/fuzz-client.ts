/** Sends the fuzzer's requests over real connections. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { Agent, errors } from 'undici'

export interface FuzzReply {
  /** 'none': the connection was cut, or nothing came; `text` says what. */
  readonly status: number | 'none'
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

export interface FuzzClient {
  /** undefined: the client itself refused to send it. */
  send(sent: Sent): Promise<FuzzReply | undefined>
  close(): Promise<void>
}

/** Bodies over the limit may be answered before they are sent: then the connection ends under the client's feet. */
const BODY_LIMIT = 1024 * 1024

export function fuzzClient(address: () => string, patience: number): FuzzClient {
  const agent = new Agent({ headersTimeout: patience, bodyTimeout: patience, connections: 16 })
  return {
    async send({ method, url, headers, body }) {
      try {
        const reply = await agent.request({
          origin: address(),
          method,
          path: url,
          headers,
          body: body ?? null,
        })
        // A stream has no end, but for that of `/mcp`, which is one answer.
        const isStream = String(reply.headers['content-type']).startsWith('text/event-stream')
        if (isStream && !url.startsWith('/mcp')) {
          reply.body.on('error', () => undefined).destroy()
          return { status: reply.statusCode, headers: reply.headers, text: '' }
        }
        const bytes = Buffer.from(await reply.body.arrayBuffer())
        const text = decoded(bytes, reply.headers['content-encoding'])
        return { status: reply.statusCode, headers: reply.headers, text }
      } catch (error) {
        if (error instanceof errors.InvalidArgumentError) return undefined
        if (body !== undefined && body.length > BODY_LIMIT) return undefined
        return {
          status: 'none',
          headers: {},
          text: error instanceof Error ? `${error.name}: ${error.message}` : '',
        }
      }
    },
    close: () => agent.destroy(),
  }
}

/** The client of these requests decodes nothing by itself. A reply in a coding that it was not asked for stays unreadable, and is a failure. */
function decoded(bytes: Buffer, coding: string | string[] | undefined): string {
  if (coding === 'br') return brotliDecompressSync(bytes).toString()
  if (coding === 'gzip') return gunzipSync(bytes).toString()
  if (coding === 'zstd') return zstdDecompressSync(bytes).toString()
  return bytes.toString()
}
