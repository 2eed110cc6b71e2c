import { call, reached, tokenHeader } from '../../api/request.ts'
import { session } from '../../api/session.ts'

export interface Asked {
  readonly method: string
  /** Below /api/v1, with its query. */
  readonly path: string
  /** JSON text; empty = no body. */
  readonly body: string
  /** As the signed-in user, or anonymous. */
  readonly signedIn: boolean
  /** Signed before it is sent, for this block of the blueprint. */
  readonly signedFor?: { readonly blueprint: string; readonly block: string } | undefined
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
  /** Guid of the run that answered; empty if it was not traced. */
  readonly run: string
}

/** The headers of the signature. The server signs: the secret does not come here. Throws ApiError. */
export async function signatureOf({ method, path, body, signedFor }: Asked): Promise<Record<string, string>> {
  if (!signedFor) return {}
  const asked = { ...signedFor, method, path: `/api/v1/${path}`, body }
  return (await call<{ headers: Record<string, string> }>('POST', '/_system/secrets/sign', { body: asked }))
    .headers
}

/** Sends a request to an endpoint as any client would. Throws when it cannot be signed, or the server not be reached. */
export async function sendRequest(asked: Asked): Promise<Reply> {
  const { method, path, body, signedIn } = asked
  const signature = await signatureOf(asked)
  const started = performance.now()
  const response = await reached(`/api/v1/${path}`, {
    method,
    cache: 'no-store',
    // Anonymous: without the cookie too.
    credentials: signedIn ? 'same-origin' : 'omit',
    headers: {
      ...(signedIn ? tokenHeader() : {}),
      ...traceHeader(signedIn),
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
      ...signature,
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
    run: response.headers.get('x-quoin-run') ?? '',
  }
}

/** Asks for a trace. An anonymous request names the user in this header only; the request itself stays anonymous. */
function traceHeader(signedIn: boolean): Record<string, string> {
  const { token } = session.getState()
  return { 'x-quoin-trace': signedIn ? '1' : `Bearer ${token}` }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
