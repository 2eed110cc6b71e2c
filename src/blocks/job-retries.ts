import type { JobRetries } from '../storage/job.ts'
import { PinError } from './block.ts'
import { readDuration } from './pins/scalar-values.ts'

const USUAL_ATTEMPTS = 3
const USUAL_BACK_OFF = 1_000
const LONGEST_BACK_OFF = 86_400_000

/** Pins of every block that makes jobs of a flow. */
export const jobRetryPins = {
  attempts: {
    type: 'number',
    default: USUAL_ATTEMPTS,
    integer: true,
    min: 1,
    max: 100,
    help: 'Maximum number of attempts before the job becomes a dead letter.',
  },
  back_off: {
    type: 'value',
    default: '1s',
    help: 'Pause before the second attempt: seconds, or 30s, 5m, 2h, at most 1d. Each further pause is twice as long, up to one hour, or back_off if that is longer. A random part of up to half of it is left out.',
  },
} as const

/** What the pins say; undefined where they say what is usual. */
export function jobRetriesIn(
  inputs: { readonly attempts: number; readonly back_off: string },
  usualAttempts = USUAL_ATTEMPTS,
): JobRetries | undefined {
  const { attempts } = inputs
  const backOff = readDuration(inputs.back_off)
  if (backOff === undefined || backOff < 1_000 || backOff > LONGEST_BACK_OFF)
    throw new PinError('back_off', 'must be seconds or 30s, 5m, 2h, 1d; at least 1s and at most 1d')
  if (attempts === usualAttempts && backOff === USUAL_BACK_OFF) return undefined
  return {
    ...(attempts !== usualAttempts && { attempts }),
    ...(backOff !== USUAL_BACK_OFF && { backOff }),
  }
}
