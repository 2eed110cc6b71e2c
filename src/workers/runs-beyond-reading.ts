/**
 * The runs of a process that only reads which were to do more: write, enqueue, touch the world outside, or log. Asked by
 * the guid of the run, not by its session: what notes its reads, or keeps its rules, has put a session around that one.
 */
import type { Origin } from '../storage/database.ts'

export interface RunsBeyondReading {
  /** On whose behalf something was refused, or logged. Nothing is noted of what is no run. */
  note(origin: Pick<Origin, 'run'>): void
  /** Whether the run was to do more than read so far. */
  has(run: string): boolean
  /** Whether the run, which has ended, was to do more than read. Asked once for each. */
  take(run: string): boolean
}

export function runsBeyondReading(): RunsBeyondReading {
  const runs = new Set<string>()
  return {
    note({ run }) {
      if (run !== undefined) runs.add(run)
    },
    has: (run) => runs.has(run),
    take: (run) => runs.size > 0 && runs.delete(run),
  }
}
