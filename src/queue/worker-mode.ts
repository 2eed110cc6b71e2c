/**
 * Where the queue worker is.
 * - idle: claims nothing at this moment.
 * - claiming: asks for jobs.
 * - claiming again: the same, and something has called for it meanwhile, so it asks once more behind that.
 * - draining: claims nothing more and waits for what is running.
 * - handing back: has aborted what is left, and gives it back.
 * - closed: nothing of it runs any more, but what paid no attention to its signal.
 */
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
