/**
 * Samples runs: the first of each trigger in a second, and at most {@link MOST} of a node in a second, so that a rare
 * endpoint beside a busy one is seen too and the cost does not grow with the load. A run that is not sampled costs one
 * look-up in a set. Cached replies are no runs; traced runs, tries and replays do not come by here.
 */

import type { FlowContext } from '../../blocks/context.ts'
import { andThen, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { CompiledFlow, Frame } from '../compile/frame.ts'
import type { FlowWork, Gather, PinValues, ProbedBlock, Recorder } from '../compile/probe.ts'
import type { Flows } from '../flows.ts'
import { Run } from '../run/run.ts'
import type { RunEnvironment } from '../run/run-environment.ts'
import type { RunEnd, RunStart } from '../run/run-start.ts'
import type { TracedFlows } from '../trace/traced-flows.ts'
import {
  addTime,
  type Deployed,
  type ModelUse,
  Sample,
  type StepTimes,
  stepOf,
  usedTogether,
} from './sample.ts'

// The recorder of sampled runs: it keeps how long each block took, and nothing of its values. The time of a block is that of
// its own work and of the expressions on its pins, without the value blocks that those read; of a block that waits, all of it.

export class BlockTimes implements Recorder {
  readonly all = new Map<ProbedBlock, StepTimes>()
  /** Of blocks that ask models. */
  readonly used = new Map<ProbedBlock, ModelUse>()
  readonly #now: () => number
  /** Milliseconds for the pins of an execution, by the object of its inputs. */
  readonly #pins = new WeakMap<object, number>()
  /** Milliseconds of the value blocks that were read for the pins which are being read. */
  #pulled = 0

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  pins(_block: ProbedBlock, frame: Frame, gather: Gather): Record<string, unknown> {
    let own = 0
    const inputs = this.#apart(
      () => ({ ...gather(frame) }),
      (took) => {
        own = took
      },
    )
    this.#pins.set(inputs, own)
    return inputs
  }

  value(block: ProbedBlock, inputs: PinValues, more: PinValues, work: () => PinValues): PinValues {
    return this.#apart(work, (own) => this.#add(block, inputs, more, own))
  }

  flow(block: ProbedBlock, inputs: PinValues, { more }: FlowContext, work: FlowWork): ReturnType<FlowWork> {
    const began = this.#now()
    const over = () => this.#add(block, inputs, more, this.#now() - began)
    const gave = (input: PinValues | undefined) => {
      over()
      this.#addUse(block, input)
      return input
    }
    return recover(
      () => andThen(work(), gave),
      (error) => {
        over()
        throw error
      },
    )
  }

  #add(block: ProbedBlock, inputs: PinValues, more: PinValues, own: number): void {
    const pins = (this.#pins.get(inputs) ?? 0) + (this.#pins.get(more) ?? 0)
    const times = this.all.get(block) ?? new Map<number, number>()
    this.all.set(block, times)
    addTime(times, (pins + own) * 1_000)
  }

  /** Blocks that ask models have these pins. */
  #addUse(block: ProbedBlock, { tokens_in: sent, tokens_out: received = 0, cost }: PinValues = {}): void {
    if (typeof sent !== 'number' || typeof received !== 'number' || typeof cost !== 'number') return
    this.used.set(block, usedTogether(this.used.get(block), { tokens: sent + received, cost }))
  }

  /** What it takes without what is read for it. */
  #apart<T>(work: () => T, took: (own: number) => void): T {
    const before = this.#pulled
    this.#pulled = 0
    const began = this.#now()
    try {
      return work()
    } finally {
      const all = this.#now() - began
      took(all - this.#pulled)
      this.#pulled = before + all
    }
  }
}

/** Undefined for a run that is not sampled, which is nearly every one. */
export type SampleRun = (environment: RunEnvironment, start: RunStart) => MaybePromise<RunEnd> | undefined

interface SampledRunsOptions {
  readonly flows: Pick<Flows, 'live'>
  /** Until its copy is there, no run of a flow is sampled. */
  readonly copies: TracedFlows
  readonly sampled: (sample: Sample) => void
}

const SECOND = 1_000
const MOST = 100

export function sampledRuns({ flows: { live }, copies, sampled }: SampledRunsOptions): SampleRun {
  /** Triggers that had their run in this second. */
  const had = new Set<CompiledFlow>()
  let left = MOST

  function run(environment: RunEnvironment, start: RunStart, flow: CompiledFlow): MaybePromise<RunEnd> {
    // Functions of other blueprints count for the version that was deployed when the run began.
    const { blueprints } = live.table()
    const deployed = (blueprint: string): Deployed => {
      return { blueprint, deployment: blueprints.get(blueprint)?.deployment ?? 0 }
    }
    const own = deployed(start.blueprint)
    const changed = { ...start, flow }
    const inner = new Run(
      {
        ...environment,
        deploymentOf: () => own.deployment,
        findFunction(name, blueprint) {
          const found = environment.findFunction(name, blueprint)
          return found && (copies.functionOf(found, copies.soon) ?? found)
        },
      },
      changed,
    )
    const times = new BlockTimes()
    copies.recorders.set(inner, times)
    const began = performance.now()
    return andThen(inner.execute(changed), (end) => {
      if (end.again) return end
      const sample = sampleOf(times, deployed)
      sample.add(own, drawnBlock(flow.trigger), [[stepOf((performance.now() - began) * 1_000), 1]])
      sample.of(own).runs += 1
      sampled(sample)
      return end
    })
  }

  return (environment, start) => {
    const { flow, blueprint, resume } = start
    if (had.has(flow)) return undefined
    had.add(flow)
    const nextSecond = () => {
      had.clear()
      left = MOST
    }
    if (had.size === 1) setTimeout(nextSecond, SECOND).unref()
    // One that goes on after a wait is half a run.
    if (left <= 0 || resume) return undefined
    const found = live.table().blueprints.get(blueprint)
    const copy = found && copies.soon(found.compiled, flow)
    if (!copy) return undefined
    left -= 1
    return run(environment, start, copy.flow)
  }
}

function sampleOf({ all, used }: BlockTimes, deployed: (blueprint: string) => Deployed): Sample {
  const sample = new Sample()
  for (const [block, times] of all)
    sample.add(deployed(block.blueprint), drawnBlock(block.node.block.guid), times, used.get(block))
  return sample
}
