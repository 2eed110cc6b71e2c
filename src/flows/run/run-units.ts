/**
 * Runs of flows that are units of work (`flows/compile/unit-flow.ts`): when others have changed what such a run has read, it
 * is undone and begins once more with its trigger, within the time that a run has. Nothing of a try that failed remains:
 * neither writes nor jobs, log entries, entries of the cache or what a page was asked. Up to its first commit a run is a unit: what it does behind a
 * block that touches the world outside, or behind its reply, could not begin once more.
 */
import type { Clock } from '../../shared/clock.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import type { RunLimits } from './run-environment.ts'
import type { RunEnd, RunFlow, RunStart } from './run-start.ts'
import type { RunUnit } from './run-unit.ts'

export function unitRuns(clock: Clock, limits: Pick<RunLimits, 'deadline'>): (run: RunFlow) => RunFlow {
  return (run) => (start) => {
    if (!isUnit(start)) return run(start)
    const until = clock() + limits.deadline
    const unit: RunUnit = { attempt: 1, until, committed: false, counted: new Map() }
    return andThen(run({ ...start, unit }), (end) => (end.again ? tryAgain(run, start, unit) : end))
  }
}

async function tryAgain(run: RunFlow, start: RunStart, unit: RunUnit): Promise<RunEnd> {
  let end: RunEnd
  do {
    unit.attempt += 1
    start.request?.visit?.beginAgain()
    end = await run({ ...start, unit })
  } while (end.again)
  return end
}

function isUnit({ flow, request }: RunStart): boolean {
  if (flow.unit === 'when_sent') return request?.method !== 'GET' && request?.method !== 'HEAD'
  return flow.unit === 'always'
}
