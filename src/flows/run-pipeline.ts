/**
 * Everything that happens to every run, from the outside in: `counted(units(traced(repeated(run))))`.
 *
 * - `counted` counts ends by blueprint and outcome, knows how many runs are under way, and tells `failed` of failures.
 * - `units` begins a run once more when others have changed what it has read, or hold what it writes. Each try has a trace of its own.
 * - `traced` runs the probed copy of a flow where tracing asks for it.
 * - `repeated` sends the reply that the flow gave before, while nothing that it has read was written.
 * - `run` executes the flow, now and then its copy that notes how long blocks take (`samples/`).
 *
 * Endpoints, pages, jobs and schedules start runs through {@link Runs} and have no other way: `Flows` cannot run anything.
 */
import type { Flows } from './flows.ts'
import { type CountedRuns, countedRuns } from './run/counted-runs.ts'
import { keptReplies, type RunOn } from './run/kept-replies.ts'
import { rehearse } from './run/rehearsal.ts'
import { Run } from './run/run.ts'
import type { RunEnd, RunFlow, RunStart } from './run/run-start.ts'
import { unitRuns } from './run/run-units.ts'
import type { SampleRun } from './samples/sampled-runs.ts'

export interface Runs extends Omit<CountedRuns, 'counted'> {
  /** Runs a flow to its end, or replies again what it replied. Gives at once when nothing waited. */
  readonly run: RunFlow
  /** Evaluates a pin of a trigger before its flow runs. Neither counted nor traced: it is part of a run that is. */
  readonly evaluate: RunFlow
  /** Runs a flow as far as its first effect. Gives its end where it has refused the request, and sends that reply. Not counted. */
  readonly rehearse: (start: RunStart) => Promise<RunEnd | undefined>
}

type Stage = (next: RunFlow) => RunFlow

export function runPipeline(
  { environment, records: { database } }: Pick<Flows, 'environment' | 'records'>,
  traced: Stage = (next) => next,
  failed?: (start: RunStart, end: RunEnd) => void,
  sample?: SampleRun,
): Runs {
  const { counted, ...counts } = countedRuns(failed)
  const run: RunOn = (start, on) => {
    const there = on === database ? environment : { ...environment, database: on }
    return sample?.(there, start) ?? new Run(there, start).execute(start)
  }
  const { readVersions } = database.capabilities
  const repeated = (on: RunOn): RunFlow =>
    keptReplies({
      database,
      versions: readVersions,
      env: environment.values.env,
      references: environment.references,
      unruled: environment.permissions.none,
      run: on,
    })

  const sideBySide = database.capabilities.cluster !== undefined
  const evaluate: RunFlow = (start) => new Run(environment, start).execute(start)
  const { clock, limits, newGuid } = environment
  const units = unitRuns({ clock, limits, newGuid, sideBySide, evaluate })
  return {
    ...counts,
    run: counted(units(traced(repeated(run)))),
    evaluate,
    rehearse: (start) => rehearse(environment, start),
  }
}
