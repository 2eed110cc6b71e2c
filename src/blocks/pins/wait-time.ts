import { PinError } from '../block.ts'
import type { Wait } from '../context.ts'
import { readDuration } from './scalar-values.ts'

/** Ten years in milliseconds. */
const LONGEST_WAIT = 3_660 * 86_400_000

/** Settings of every block that waits. */
export const waitSettings = {
  title: {
    kind: 'text',
    default: '',
    help: 'What the run waits for, in the list of waiting runs. Empty: the block says it.',
  },
  version: {
    kind: 'choice',
    options: ['same', 'current'],
    default: 'same',
    help: 'same: the run continues on the version of the blueprint that it began with. current: on the deployed version, if that still has the block.',
  },
} as const

/** What the setting `version` says. */
export function versionIn({ version }: { readonly version: string }): Wait['version'] {
  return version === 'current' ? 'current' : 'same'
}

/** When a wait is over, in milliseconds; undefined where neither pin has a value. */
export function waitTime(
  duration: string | undefined,
  until: Date | undefined,
  now: number,
): number | undefined {
  if (until !== undefined && duration !== undefined)
    throw new PinError('for', 'and until cannot be used together: keep one of the two')
  if (until !== undefined) {
    if (until.getTime() - now > LONGEST_WAIT) throw new PinError('until', 'must be at most 3,660 days ahead')
    return until.getTime()
  }
  if (duration === undefined) return undefined
  const milliseconds = readDuration(duration)
  if (milliseconds === undefined || milliseconds > LONGEST_WAIT)
    throw new PinError('for', 'must be seconds or 30s, 5m, 2h, 1d, and at most 3660d')
  return now + milliseconds
}
