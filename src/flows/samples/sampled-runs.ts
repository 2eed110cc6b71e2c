/**
 * Samples runs: the first of each trigger in a second, and at most {@link MOST} of a node in a second, so that a rare
 * endpoint beside a busy one is seen too and the cost does not grow with the load. A run that is not sampled costs one
 * look-up in a set. Cached replies are no runs; traced runs, tries and replays do not come by here.
 */
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import type { Flows } from '../flows.ts'
import { Run } from '../run/run.ts'
import type { RunEnvironment } from '../run/run-environment.ts'
import type { RunEnd, RunStart } from '../run/run-start.ts'
import { Sample } from './sample.ts'
import { type TimedFlow, timedCopies } from './timed-copies.ts'
import { timingProbes } from './timing-probe.ts'

/** Undefined for a run that is not sampled, which is nearly every one. */
export type SampleRun = (environment: RunEnvironment, start: RunStart) => MaybePromise<RunEnd> | undefined

interface SampledRunsOptions {
  readonly flows: Pick<Flows, 'live' | 'catalogue'>
  readonly sampled: (sample: Sample) => void
}

const SECOND = 1_000
const MOST = 100

export function sampledRuns({ flows, sampled }: SampledRunsOptions): SampleRun {
  const { live, catalogue } = flows
  const probes = timingProbes()
  const copies = timedCopies(live, catalogue, probes)
  /** Triggers that had their run in this second. */
  const had = new Set<CompiledFlow>()
  let left = MOST

  function nextSecond(): void {
    had.clear()
    left = MOST
  }

  function run(environment: RunEnvironment, start: RunStart, timed: TimedFlow): MaybePromise<RunEnd> {
    const changed = { ...start, flow: timed.flow }
    const inner = new Run(
      {
        ...environment,
        deploymentOf: () => timed.deployment,
        findFunction(name, blueprint) {
          const found = environment.findFunction(name, blueprint)
          return found && copies.functionOf(found)
        },
      },
      changed,
    )
    const sample = new Sample()
    probes.watch(inner, sample)
    const began = performance.now()
    return andThen(inner.execute(changed), (end) => {
      if (end.again) return end
      sample.of(timed).runs += 1
      sample.add(timed, drawnBlock(timed.flow.trigger), (performance.now() - began) * 1_000)
      sampled(sample)
      return end
    })
  }

  return (environment, start) => {
    const { flow } = start
    if (had.has(flow)) return undefined
    had.add(flow)
    if (had.size === 1) setTimeout(nextSecond, SECOND).unref()
    // One that goes on after a wait is half a run.
    if (left <= 0 || start.resume) return undefined
    const timed = copies.of(start.blueprint, flow)
    if (!timed) return undefined
    left -= 1
    return run(environment, start, timed)
  }
}
