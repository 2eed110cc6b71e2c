/**
 * Where the queue worker is.
 * - idle: claims nothing at this moment.
 * - claiming: asks for jobs.
 * - claiming again: the same, and something has called for it meanwhile, so it asks once more behind that.
 * - draining: claims nothing more and waits for what is running.
 * - handing back: has aborted what is left, and gives it back.
 * - closed: nothing of it runs any more, but what paid no attention to its signal.
 */

import type { Timers } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import type { Transitions } from '../shared/state-machine.ts'

export type WorkerMode = 'idle' | 'claiming' | 'claiming again' | 'draining' | 'handing back' | 'closed'

export const workerTransitions: Transitions<WorkerMode> = {
  idle: ['claiming', 'draining'],
  claiming: ['claiming again', 'idle', 'draining'],
  'claiming again': ['claiming', 'draining'],
  draining: ['handing back'],
  'handing back': ['closed'],
  closed: [],
}

/** Resolves after so many milliseconds, or at once when the signal is aborted. Holds the process open meanwhile. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = timers.after(ms, resolve)
    signal?.addEventListener('abort', () => {
      timer.end()
      resolve()
    })
  })
}

const FIRST = 1_000
const LONGEST = 3_600_000

/**
 * Milliseconds to wait before a job is tried again, after it was begun `attempt` times: `first`, doubled each time, at most an
 * hour, or `first` if that is longer. Half of it is chance, so that jobs that failed together do not come back together.
 */
export function backOff(attempt: number, random: Random, first = FIRST): number {
  const longest = Math.min(Math.max(LONGEST, first), first * 2 ** (Math.max(1, attempt) - 1))
  const bytes = new Uint8Array(2)
  random(bytes)
  const chance = (((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)) / 65_535
  return Math.round((longest * (1 + chance)) / 2)
}
