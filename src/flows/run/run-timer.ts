import type { RunSteps } from './run-steps.ts'

/** Calls `over` when the time of a run is over, without that in which it was paused. Returns what ends it. */
export function runTimer(
  steps: Pick<RunSteps, 'paused' | 'late'>,
  milliseconds: number,
  over: (reason: Error) => void,
): () => void {
  /** Added already to the time that the run has. */
  let granted = 0
  let timer = setTimeout(look, milliseconds)
  function look() {
    const more = steps.paused - granted
    if (more <= 0) return over(steps.late())
    granted += more
    timer = setTimeout(look, more)
  }
  return () => clearTimeout(timer)
}
