import type { Agent } from 'undici'
import { QuoinError } from '../../shared/errors.ts'
import { PinError } from '../block.ts'

export interface OutgoingRequest {
  readonly url: URL
  readonly method: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
  /** False: a redirect is the answer. */
  readonly follow?: false
}

export interface Answer {
  readonly code: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Uint8Array
}

export interface SendLimits {
  /** Seconds from the start to the last byte, over all redirects. */
  readonly timeout: number
  /** Bytes of the body. */
  readonly maxSize: number
  readonly signal: AbortSignal
}

const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MAX_URL = 8192
/** What is left of a redirect's body is read up to here, to use the connection again. */
const MAX_REDIRECT_BODY = 16_384

/** All that goes along to another origin: anything else may be a secret that was meant for the first one. */
const FOR_ANYBODY = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent'])

/**
 * Sends a request and reads the whole answer, following up to five redirects; where they lead is checked like the first
 * address. Throws PinError('url', …) for an address that may not be reached, UNAVAILABLE when there is no answer in
 * time, INTERNAL for an answer that cannot be used, and the signal's reason when it is aborted.
 */
export async function sendRequest(
  request: OutgoingRequest,
  agent: Agent,
  limits: SendLimits,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(Math.ceil(limits.timeout * 1000))
  const signal = AbortSignal.any([limits.signal, timeout])
  try {
    return await follow(request, agent, limits.maxSize, signal)
  } catch (error) {
    if (error instanceof PinError || error instanceof QuoinError) throw error
    if (limits.signal.aborted) throw limits.signal.reason
    const message = timeout.aborted
      ? `the other server did not reply within ${limits.timeout} seconds`
      : `the other server could not be reached${codeOf(error)}`
    throw new QuoinError('UNAVAILABLE', message, { cause: error })
  }
}

async function follow(
  first: OutgoingRequest,
  agent: Agent,
  maxSize: number,
  signal: AbortSignal,
): Promise<Answer> {
  let request = first
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const { url, method, headers, body } = request
    const path = url.pathname + url.search
    const answer = await agent.request({
      origin: url.origin,
      path,
      method,
      headers,
      body: body ?? null,
      signal,
    })
    const { statusCode: code, headers: answered } = answer
    const { location } = answered
    if (!REDIRECTS.has(code) || typeof location !== 'string' || request.follow === false)
      return { code, headers: answered, bytes: await read(answer.body, maxSize) }
    // Before the next address is looked at: an unread body would hold its connection.
    await answer.body.dump({ limit: MAX_REDIRECT_BODY, signal })
    request = redirected(request, code, location)
  }
  throw new QuoinError('INTERNAL', `the other server redirected more than ${MAX_REDIRECTS} times`)
}

async function read(body: AsyncIterable<Uint8Array>, maxSize: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early closes the connection, so no more is sent than was asked for.
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxSize) {
      throw new QuoinError(
        'INTERNAL',
        `the reply of the other server is larger than ${maxSize} bytes, which is max_size`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/** The request that a redirect asks for. */
function redirected(request: OutgoingRequest, code: number, location: string): OutgoingRequest {
  const url = outgoingUrl(location, request.url)
  const { method, headers, body } = request
  const toGet = code === 303 ? method !== 'HEAD' : code < 303 && method === 'POST'
  const kept = Object.entries(headers).filter(
    ([name]) =>
      (url.origin === request.url.origin || FOR_ANYBODY.has(name)) && !(toGet && name.startsWith('content-')),
  )
  return {
    url,
    method: toGet ? 'GET' : method,
    headers: Object.fromEntries(kept),
    body: toGet ? undefined : body,
  }
}

/** The address that a text means, if it is one that a flow may send to. Throws PinError('url', …). */
export function outgoingUrl(text: string, base?: URL): URL {
  const url = text.length <= MAX_URL ? URL.parse(text, base) : null
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new PinError('url', `must be an address of http or https of at most ${MAX_URL} characters`)
  // Addresses are written to logs.
  if (url.username !== '' || url.password !== '')
    throw new PinError('url', 'must not hold a user name or password: send them in the header authorization')
  return url
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
}
