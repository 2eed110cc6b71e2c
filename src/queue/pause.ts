import type { Timers } from '../shared/timers.ts'

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
