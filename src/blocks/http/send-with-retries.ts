/**
 * Sends a request again where that is safe: the server says that it did not take it (429, 503), or the request may be sent
 * twice and no reply came, or 502 or 504. It may be sent twice when its method is idempotent, when it carries an
 * idempotency-key, or when the builder says so.
 */
import { QuoinError } from '../../shared/errors.ts'
import { type Attempts, mayTryAgain } from '../outside-attempts.ts'
import type { AnswerHead, OutgoingRequest } from './send-request.ts'

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const NOT_TAKEN = new Set([429, 503])
const UNKNOWN = new Set([502, 504])

export interface Retries extends Attempts {
  /** The builder says that each request may be sent twice. */
  readonly always: boolean
}

/** What the last attempt gave or threw. */
export async function sendWithRetries<A extends AnswerHead>(
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
