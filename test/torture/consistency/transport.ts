/** How clients reach what is tested: over HTTP, or in this process. */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'undici'
import type { JsonValue } from '../../../src/shared/json.ts'

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Under /api/v1. */
  readonly path: string
  readonly body?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
}

export interface Reply {
  /** 'lost': there was no answer, so its outcome is unknown. */
  readonly status: number | 'lost'
  /** Parsed; undefined when there was none. */
  readonly body: JsonValue | undefined
}

export interface Transport {
  call(request: Request): Promise<Reply>
  /** Breaks the connection, and with it the call that is under way. */
  cut(): void
  close(): Promise<void>
}

const lost: Reply = { status: 'lost', body: undefined }
const PATIENCE_MS = 45_000
const RETRY_MS = 25

/** One connection at a time. When it broke, the next call makes another one, perhaps to another address. */
export function httpTransport(address: () => string): Transport {
  let client: Client | undefined
  const end = async () => {
    const ended = client
    client = undefined
    await ended?.destroy().catch(() => undefined)
  }
  const attempt = async ({ method, path, body, headers }: Request): Promise<Reply> => {
    client ??= new Client(address(), { headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS })
    const reply = await client.request({
      method,
      path: `/api/v1${path}`,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.body.text()
    return { status: reply.statusCode, body: text === '' ? undefined : JSON.parse(text) }
  }
  return {
    async call(request) {
      const late = performance.now() + PATIENCE_MS
      for (;;)
        try {
          return await attempt(request)
        } catch (error) {
          await end()
          // There was no connection, so it was not done.
          const refused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
          if (!refused || performance.now() > late) return lost
          await wait(RETRY_MS)
        }
    },
    cut: () => void end(),
    close: end,
  }
}
