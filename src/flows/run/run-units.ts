/**
 * Runs of flows that are units of work (`flows/compile/unit-flow.ts`): when others have changed what such a run has read, it
 * is undone and begins once more with its trigger, within the time that a run has. Nothing of a try that failed remains:
 * neither writes nor jobs, log entries, entries of the cache or what a page was asked. Up to its first commit a run is a unit: what it does behind a
 * block that touches the world outside, or behind its reply, could not begin once more.
 *
 * Where transactions are open side by side, two of them may wait for each other: one transfers from A to B, another one from B to
 * A. The database undoes one of the two, whether it has read something or not. So a run that only writes begins once more too.
 */
import type { Clock } from '../../shared/clock.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import type { RunLimits } from './run-environment.ts'
import type { RunEnd, RunFlow, RunStart } from './run-start.ts'
import type { RunUnit } from './run-unit.ts'

export function unitRuns(
  clock: Clock,
  limits: Pick<RunLimits, 'deadline'>,
  sideBySide: boolean,
): (run: RunFlow) => RunFlow {
  return (run) => (start) => {
    const holdsReads = isWhen(start.flow.unit, start)
    if (!holdsReads && !(sideBySide && isWhen(start.flow.writes, start))) return run(start)
    const until = clock() + limits.deadline
    const unit: RunUnit = { attempt: 1, holdsReads, until, committed: false, counted: new Map() }
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

function isWhen(when: CompiledFlow['unit'], { request }: RunStart): boolean {
  if (when === 'when_sent') return request?.method !== 'GET' && request?.method !== 'HEAD'
  return when === 'always'
}
