import type { Agent } from 'undici'
import { QuoinError } from '../../shared/errors.ts'
import { PinError } from '../block.ts'
import type { ReplyMask } from './masked-reply.ts'

export interface OutgoingRequest {
  readonly url: URL
  readonly method: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
  /** False: a redirect is the answer. */
  readonly follow?: false
  /** Of what signs it in: the reply is masked with it. */
  readonly mask?: ReplyMask | undefined
}

export interface AnswerHead {
  readonly code: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Where the answer came from, behind all redirects. */
  readonly url: URL
}

export interface Answer extends AnswerHead {
  readonly bytes: Uint8Array
}

/** An answer whose body is still to be read, a piece at a time. Reading throws as `sendRequest`. */
export interface OpenAnswer extends AnswerHead {
  readonly body: AsyncIterable<Buffer>
}

export interface TimeLimits {
  /** Seconds from the start to the last byte, over all redirects. */
  readonly timeout: number
  readonly signal: AbortSignal
}

export interface SendLimits extends TimeLimits {
  /** Bytes of the body. */
  readonly maxSize: number
  /** No pin or setting raises the bound: a longer reply is a fault of the other server, as one that does not come. */
  readonly isFixed?: true
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
export function sendRequest(request: OutgoingRequest, agent: Agent, limits: SendLimits): Promise<Answer> {
  const { mask } = request
  return withAnswer(request, agent, limits, async ({ body, ...head }) => {
    const bytes = await read(body, limits)
    return { ...head, bytes: mask ? await mask.escapes(bytes) : bytes }
  })
}

/** The same where only the status counts: no body is read, so that none is too large. */
export function sendForHead(request: OutgoingRequest, agent: Agent, limits: TimeLimits): Promise<AnswerHead> {
  return withAnswer(request, agent, limits, async ({ code, headers, url }) => ({ code, headers, url }))
}

/**
 * The same for a body of any size: `use` reads as much of it as it wants, within the time; what it leaves closes the connection.
 * What `use` throws itself is thrown on.
 */
export async function withAnswer<T>(
  request: OutgoingRequest,
  agent: Agent,
  limits: TimeLimits,
  use: (answer: OpenAnswer) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(Math.ceil(limits.timeout * 1000))
  const signal = AbortSignal.any([limits.signal, timeout])
  const reported = (error: unknown) => {
    if (error instanceof PinError || error instanceof QuoinError) return error
    if (limits.signal.aborted) return limits.signal.reason
    const message = timeout.aborted
      ? `the other server did not reply within ${Math.round(limits.timeout * 1000) / 1000} seconds`
      : `the other server could not be reached${codeOf(error)}`
    return new QuoinError('UNAVAILABLE', message, { cause: error })
  }
  const { body, ...head } = await follow(request, agent, signal).catch((error: unknown) => {
    throw reported(error)
  })
  try {
    return await use(maskedAnswer({ ...head, body: telling(body, reported) }, request))
  } finally {
    // A body that was not read to its end says so in an event when it is closed.
    if (!body.readableEnded) body.on('error', () => undefined).destroy()
  }
}

/** Before a flow sees it. The address too where the other server has chosen it. */
function maskedAnswer(answer: OpenAnswer, { mask, url: asked }: OutgoingRequest): OpenAnswer {
  if (!mask) return answer
  const url = answer.url === asked ? asked : new URL(mask.text(answer.url.href))
  return { ...answer, url, headers: mask.headers(answer.headers), body: mask.pieces(answer.body) }
}

async function* telling(
  body: AsyncIterable<Buffer>,
  reported: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw reported(error)
  }
}

async function follow(first: OutgoingRequest, agent: Agent, signal: AbortSignal) {
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
      return { code, headers: answered, url, body: answer.body }
    // Before the next address is looked at: an unread body would hold its connection.
    await answer.body.dump({ limit: MAX_REDIRECT_BODY, signal })
    request = redirected(request, code, location)
  }
  throw new QuoinError('INTERNAL', `the other server redirected more than ${MAX_REDIRECTS} times`)
}

async function read(body: AsyncIterable<Uint8Array>, { maxSize, isFixed }: SendLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early closes the connection, so no more is sent than was asked for.
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxSize) throw isFixed ? tooLong(maxSize) : tooLarge(maxSize)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

export function tooLarge(maxSize: number): QuoinError {
  return new QuoinError(
    'INTERNAL',
    `the reply of the other server is larger than ${maxSize} bytes, which is max_size`,
  )
}

/** Where no pin says the bound. */
export function tooLong(maxSize: number): QuoinError {
  return new QuoinError('UNAVAILABLE', `the reply of the other server is larger than ${maxSize} bytes`)
}

/** The request that a redirect asks for. */
function redirected(request: OutgoingRequest, code: number, location: string): OutgoingRequest {
  const url = outgoingUrl(location, request.url)
  const { method, headers, body } = request
  const toGet = code === 303 ? method !== 'HEAD' : code < 303 && method === 'POST'
  const remaining = Object.entries(headers).filter(
    ([name]) =>
      (url.origin === request.url.origin || FOR_ANYBODY.has(name)) && !(toGet && name.startsWith('content-')),
  )
  return {
    url,
    method: toGet ? 'GET' : method,
    headers: Object.fromEntries(remaining),
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
