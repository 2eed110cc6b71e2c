/**
 * Sends a request again where that is safe: the server says that it did not take it (429, 503), or the request may be sent
 * twice (its method is idempotent, or it carries an idempotency-key) and no reply came, or 502 or 504.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { QuoinError } from '../../shared/errors.ts'
import type { AnswerHead, OutgoingRequest } from './send-request.ts'

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const NOT_TAKEN = new Set([429, 503])
const UNKNOWN = new Set([502, 504])
const FIRST_MS = 200
const LONGEST_MS = 30_000

export interface Retries {
  /** After the first attempt. */
  readonly most: number
  /** Milliseconds since 1970. No attempt begins after it. */
  readonly until: number
  readonly now: () => number
  readonly signal: AbortSignal
  /** From 0 to 1; chance if not given. */
  readonly chance?: () => number
}

/** What the last attempt gave or threw. `send`: one attempt, with the seconds that are left for it. */
export async function sendWithRetries<A extends AnswerHead>(
  request: OutgoingRequest,
  retries: Retries,
  send: (timeout: number) => Promise<A>,
): Promise<A> {
  const repeatable = IDEMPOTENT.has(request.method) || request.headers['idempotency-key'] !== undefined
  for (let attempt = 0; ; attempt += 1) {
    const left = Math.max(0.001, (retries.until - retries.now()) / 1000)
    let failure: unknown
    let answer: A | undefined
    try {
      answer = await send(left)
    } catch (error) {
      failure = error
    }
    const again = answer
      ? NOT_TAKEN.has(answer.code) || (repeatable && UNKNOWN.has(answer.code))
      : repeatable && failure instanceof QuoinError && failure.code === 'UNAVAILABLE'
    const pause = again && attempt < retries.most ? pauseOf(answer, attempt, retries) : undefined
    if (pause === undefined || retries.now() + pause >= retries.until) {
      if (answer) return answer
      throw failure
    }
    await wait(pause, undefined, { signal: retries.signal }).catch(() => {
      throw retries.signal.reason
    })
  }
}

/** Milliseconds. Undefined where the server asks for more patience than a run has. */
function pauseOf(
  answer: AnswerHead | undefined,
  attempt: number,
  { now, chance }: Retries,
): number | undefined {
  const asked = answer?.headers['retry-after']
  if (typeof asked === 'string') {
    const seconds = /^\d{1,9}$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - now()
    if (Number.isFinite(seconds)) return seconds > LONGEST_MS ? undefined : Math.max(0, seconds)
  }
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt)
  // Half of it is chance, so that runs that failed together do not come back together.
  return (longest * (1 + (chance ? chance() : randomInt(1_000) / 1_000))) / 2
}
