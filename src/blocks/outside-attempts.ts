/**
 * How blocks that reach outside try again within their run: the pins `attempts` and `back_off`, and the pauses. No attempt begins
 * after the deadline of the run, and a run that ends stops the pause. Which failures are tried again, the block decides: only
 * what may be done twice.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { PinError } from './block.ts'
import type { FlowContext } from './context.ts'
import type { InPins } from './pin.ts'
import { readDuration } from './pins/scalar-values.ts'

const MOST_ATTEMPTS = 10
const FIRST_MS = 200
const LONGEST_MS = 30_000

export const attemptPins = {
  attempts: {
    type: 'number',
    integer: true,
    min: 1,
    max: MOST_ATTEMPTS,
    help: `Maximum number of attempts within the run, at most ${MOST_ATTEMPTS}. 1 if empty: the block does not try again.`,
  },
  back_off: {
    type: 'value',
    help: 'Pause before the second attempt: 500ms, seconds, or 2s, at most 30s. 200ms if empty. Each further pause is twice as long, up to 30s. A random part of up to half of it is left out.',
  },
} as const satisfies InPins

export interface Attempts {
  readonly most: number
  /** Milliseconds before the second one. */
  readonly backOff: number
  /** Milliseconds since 1970. No attempt begins after it. */
  readonly until: number
  readonly now: () => number
  readonly signal: AbortSignal
  /** From 0 to 1; chance if not given. */
  readonly chance?: () => number
}

/** Throws PinError. */
export function attemptsIn(
  inputs: { readonly attempts: number | undefined; readonly back_off: string | undefined },
  context: Pick<FlowContext, 'now' | 'signal' | 'deadline'>,
): Attempts {
  const { signal, deadline: until } = context
  const most = inputs.attempts ?? 1
  return { most, backOff: backOffIn(inputs.back_off?.trim()), until, now: () => context.now(), signal }
}

function backOffIn(text: string | undefined): number {
  if (!text) return FIRST_MS
  const [, milliseconds] = /^(\d{1,5}) ?ms$/.exec(text) ?? []
  const backOff = milliseconds === undefined ? readDuration(text) : Number(milliseconds)
  if (backOff === undefined || backOff < 1 || backOff > LONGEST_MS)
    throw new PinError('back_off', 'must be seconds, 500ms or 2s; at least 1ms and at most 30s')
  return backOff
}

/** What the last attempt gave or threw. `isLost`: whether a failure is worth a further attempt that does no harm. */
export async function withAttempts<T>(
  attempts: Attempts,
  isLost: (error: unknown) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  for (let done = 1; ; done += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isLost(error) || !(await mayTryAgain(attempts, done))) throw error
    }
  }
}

/**
 * Pauses before the next attempt, after so many. False where there is none: it was the last, or the pause would end after the
 * deadline. `asked`: milliseconds that the other server asks for; more than a run waits is no further attempt.
 */
export async function mayTryAgain(attempts: Attempts, done: number, asked?: number): Promise<boolean> {
  if (done >= attempts.most) return false
  const pause = asked ?? pauseAfter(attempts, done)
  if (pause > LONGEST_MS || attempts.now() + pause >= attempts.until) return false
  await wait(pause, undefined, { signal: attempts.signal }).catch(() => {
    throw attempts.signal.reason
  })
  return true
}

/** Half of it is chance, so that runs that failed together do not come back together. */
function pauseAfter({ backOff, chance }: Attempts, done: number): number {
  const longest = Math.min(LONGEST_MS, backOff * 2 ** (done - 1))
  return (longest * (1 + (chance ? chance() : randomInt(1_000) / 1_000))) / 2
}
