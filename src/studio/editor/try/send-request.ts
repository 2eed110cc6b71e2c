import { tokenHeader } from '../../api/request.ts'

export interface Asked {
  readonly method: string
  /** Below /api/v1, with its query. */
  readonly path: string
  /** JSON text; empty = no body. */
  readonly body: string
  /** As the one who is signed in, or as nobody. */
  readonly signedIn: boolean
}

export interface Reply {
  readonly status: number
  /** From sending to the last byte, in milliseconds, as this browser measures it. */
  readonly milliseconds: number
  readonly bytes: number
  readonly headers: readonly (readonly [string, string])[]
  readonly text: string
  /** undefined: it is no JSON. */
  readonly json: unknown
}

/** Sends a request to an endpoint as any client would. Throws only when the server cannot be reached. */
export async function sendRequest({ method, path, body, signedIn }: Asked): Promise<Reply> {
  const started = performance.now()
  const response = await fetch(`/api/v1/${path}`, {
    method,
    cache: 'no-store',
    // As nobody: without the cookie too.
    credentials: signedIn ? 'same-origin' : 'omit',
    headers: {
      ...(signedIn ? tokenHeader() : {}),
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === '' ? {} : { body }),
  })
  const text = await response.text()
  const milliseconds = performance.now() - started
  return {
    status: response.status,
    milliseconds,
    bytes: new TextEncoder().encode(text).length,
    headers: [...response.headers],
    text,
    json: parsed(text),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
