/** A request as the pins of a block ask for it, and how it is sent: signed in, and again where that is safe. */
import type { Agent } from 'undici'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import type { HttpConnection, OpenedConnection } from '../http-connection.ts'
import { type Attempts, attemptsIn, mayTryAgain } from '../outside-attempts.ts'
import { connectionUrl, isRefusedHeader, sendSignedIn } from './connection-request.ts'
import { sharedAgent } from './guarded-agent.ts'
import { checkHeaders } from './reply-headers.ts'
import { requestBody } from './request-body.ts'
import { type AnswerHead, type OutgoingRequest, outgoingUrl, type TimeLimits } from './send-request.ts'

// Sends a request again where that is safe: the server says that it did not take it (429, 503), or the request may be sent
// twice and no reply came, or 502 or 504. It may be sent twice when its method is idempotent, when it carries an
// idempotency-key, or when the builder says so.

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const NOT_TAKEN = new Set([429, 503])
const UNKNOWN = new Set([502, 504])

export interface Retries extends Attempts {
  /** The builder says that each request may be sent twice. */
  readonly always: boolean
}

/** What the last attempt gave or threw. */
async function sendWithRetries<A extends AnswerHead>(
  request: OutgoingRequest,
  retries: Retries,
  send: () => Promise<A>,
): Promise<A> {
  const repeatable =
    retries.always || IDEMPOTENT.has(request.method) || request.headers['idempotency-key'] !== undefined
  for (let done = 1; ; done += 1) {
    let failure: unknown
    let answer: A | undefined
    try {
      answer = await send()
    } catch (error) {
      failure = error
    }
    const again = answer
      ? NOT_TAKEN.has(answer.code) || (repeatable && UNKNOWN.has(answer.code))
      : repeatable && failure instanceof QuoinError && failure.code === 'UNAVAILABLE'
    if (again && (await mayTryAgain(retries, done, askedPause(answer, retries.now())))) continue
    if (answer) return answer
    throw failure
  }
}

/** Milliseconds that `retry-after` asks for. */
function askedPause(answer: AnswerHead | undefined, now: number): number | undefined {
  const asked = answer?.headers['retry-after']
  if (typeof asked !== 'string') return undefined
  const pause = /^\d{1,9}$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - now
  return Number.isFinite(pause) ? Math.max(0, pause) : undefined
}

export interface PreparedRequest {
  readonly request: OutgoingRequest
  readonly opened: OpenedConnection | undefined
  readonly agent: Agent
}

interface Requested {
  readonly connection: HttpConnection | undefined
  readonly url: string
  readonly method: string
  readonly headers: JsonObject | undefined
  readonly query: JsonObject | undefined
  readonly body?: JsonValue | StoredJson | undefined
  readonly bodyAs?: string
}

/** Throws PinError for what cannot be sent. */
export async function prepareRequest(
  requested: Requested,
  { allowedHosts }: Pick<FlowContext, 'allowedHosts'>,
): Promise<PreparedRequest> {
  const opened = requested.connection?.open()
  const address = requested.url.trim()
  const url = opened ? connectionUrl(opened, address) : outgoingUrl(address)
  addQuery(url, requested.query)
  const { type, body } = await requestBody(requested.body, requested.bodyAs ?? 'auto')
  const headers = {
    accept: '*/*',
    'user-agent': 'quoin',
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(opened ? checkHeaders(opened.headers, isRefusedHeader) : {}),
    ...checkHeaders(requested.headers, isRefusedHeader),
    // Answers are not unpacked, so that bounds of the size are what they say.
    'accept-encoding': 'identity',
  }
  const agent = await sharedAgent(allowedHosts)
  return { request: { url, method: requested.method, headers, body }, opened, agent }
}

/** How a block sends its requests. */
export interface Sending {
  readonly attempts: Attempts
  /** Each request may be sent twice, whatever its method. */
  readonly always: boolean
  /** Seconds, over all attempts. */
  readonly timeout: number
  readonly outgoing: FlowContext['outgoing']
}

/** Throws PinError. */
export function sendingIn(
  inputs: { readonly timeout: number } & Parameters<typeof attemptsIn>[0],
  settings: { readonly retries: number; readonly repeat?: string },
  context: Parameters<typeof attemptsIn>[1] & Pick<FlowContext, 'outgoing'>,
): Sending {
  const attempts = inputs.attempts ?? settings.retries + 1
  return {
    attempts: attemptsIn({ ...inputs, attempts }, context),
    always: settings.repeat === 'always',
    timeout: inputs.timeout,
    outgoing: context.outgoing,
  }
}

/** `send`: one attempt, within its limits. */
export function sendPrepared<A extends AnswerHead>(
  { request, opened, agent }: PreparedRequest,
  { attempts, always, timeout, outgoing }: Sending,
  send: (request: OutgoingRequest, limits: TimeLimits) => Promise<A>,
): Promise<A> {
  const { now, signal, most } = attempts
  const end = now() + timeout * 1000
  const retries = { ...attempts, always, until: Math.min(end, attempts.until) }
  return sendWithRetries(request, retries, () => {
    const left = Math.max(0.001, (end - now()) / 1000)
    const limits = { timeout: most === 1 ? timeout : left, signal, now }
    const once = (one: OutgoingRequest) => sendTraced(outgoing, one, (traced) => send(traced, limits))
    return opened ? sendSignedIn(opened, request, agent, limits, once) : once(request)
  })
}

/** Sends it with the place in the trace of its run, if that has one. A `traceparent` of the builder stays. */
function sendTraced<A extends AnswerHead>(
  outgoing: FlowContext['outgoing'],
  request: OutgoingRequest,
  send: (request: OutgoingRequest) => Promise<A>,
): Promise<A> {
  const piece = outgoing?.()
  if (!piece) return send(request)
  const { method, url } = request
  const over = (code?: number) =>
    piece.end({
      name: `${method} ${url.hostname}`,
      // Neither path nor query: they may hold anything.
      attributes: {
        ...{ 'http.request.method': method, 'server.address': url.hostname },
        ...(code !== undefined && { 'http.response.status_code': code }),
      },
      failed: code === undefined || code >= 400,
    })
  return send({ ...request, headers: { traceparent: piece.place, ...request.headers } }).then(
    (answer) => {
      over(answer.code)
      return answer
    },
    (error: unknown) => {
      over()
      throw error
    },
  )
}

function addQuery(url: URL, query: JsonObject | undefined): void {
  for (const [name, value] of Object.entries(query ?? {})) {
    const items: readonly JsonValue[] = Array.isArray(value) ? value : [value]
    for (const item of items) {
      if (typeof item === 'object' && item !== null)
        throw new PinError('query', `must give text, a number or a list of these for ${JSON.stringify(name)}`)
      if (item !== null) url.searchParams.append(name, String(item))
    }
  }
}
