/** Requests of the access matrix: over real connections, some at once, and never waiting for a stream to end. */
import { Agent } from 'undici'
import type { JsonValue } from '../../../src/shared/json.ts'

export interface MatrixReply {
  readonly status: number
  /** Parsed; undefined when there was none, or it is no JSON. */
  readonly body: JsonValue | undefined
}

export interface MatrixCaller {
  call(method: string, path: string, sent?: Sent): Promise<MatrixReply>
  close(): Promise<void>
}

interface Sent {
  readonly token?: string | undefined
  readonly body?: JsonValue
}

const PATIENCE_MS = 30_000

/** `address`: in turns, one for each call. */
export function matrixCaller(address: () => string): MatrixCaller {
  const agent = new Agent({ headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS, connections: 8 })
  return {
    async call(method, path, { token, body } = {}) {
      const reply = await agent.request({
        origin: address(),
        method,
        path,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const type = String(reply.headers['content-type'])
      if (type.startsWith('text/event-stream')) {
        reply.body.on('error', () => undefined).destroy()
        return { status: reply.statusCode, body: undefined }
      }
      const text = await reply.body.text()
      const isJson = type.startsWith('application/json') && text !== ''
      return { status: reply.statusCode, body: isJson ? JSON.parse(text) : undefined }
    },
    close: () => agent.destroy(),
  }
}
