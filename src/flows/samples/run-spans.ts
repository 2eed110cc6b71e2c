/**
 * Runs as pieces of a distributed trace, with their flow blocks: those of sampled requests, those that another traced run has caused, and some of
 * jobs and schedules. No values go along. A run that is not traced costs one look at its start.
 */
import type { FlowContext } from '../../blocks/context.ts'
import { andThen, recover } from '../../shared/maybe-promise.ts'
import { type Span, spanTime, type Telemetry } from '../../shared/telemetry.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { Frame } from '../compile/frame.ts'
import type { FlowWork, Gather, PinValues, ProbedBlock, Recorder } from '../compile/probe.ts'
import type { Flows } from '../flows.ts'
import { Run } from '../run/run.ts'
import type { RunEnd, RunStart } from '../run/run-start.ts'
import { type TracedFlows, triggersOf } from '../trace/traced-flows.ts'
import type { SampleRun } from './sampled-runs.ts'

interface RunSpansOptions {
  readonly flows: Pick<Flows, 'live'>
  /** Until the copy of a flow is there, its runs have no blocks. */
  readonly copies: TracedFlows
  readonly telemetry: Telemetry
}

export function runSpans({ flows: { live }, copies, telemetry }: RunSpansOptions): SampleRun {
  return (environment, start) => {
    const place = start.origin?.trace
    // A request decides for its run.
    if (place === undefined && start.request) return undefined
    const span = telemetry.run(place)
    if (!span) return undefined
    const found = live.table().blueprints.get(start.blueprint)
    // One that goes on after a wait has a frame of the flow itself.
    const copy = found && !start.resume ? copies.soon(found.compiled, start.flow) : undefined
    const traced = {
      ...start,
      origin: { ...start.origin, trace: span.place },
      ...(copy && { flow: copy.flow }),
    }
    const inner = new Run({ ...environment, outgoing: () => span.call() }, traced)
    if (copy) copies.recorders.set(inner, new SpanRecorder(span))
    return andThen(inner.execute(traced), (end) => {
      span.end({ name: `run ${label(found?.compiled, start)}`, ...about(start, end) })
      return end
    })
  }
}

/** As people call its trigger: `GET tasks/:id`, the name of a function. */
function label(compiled: CompiledBlueprint | undefined, { flow, blueprint }: RunStart): string {
  const triggers = compiled ? triggersOf(compiled) : []
  return triggers.find((one) => one.flow === flow)?.label ?? blueprint
}

function about({ blueprint, flow, job, unit }: RunStart, { run, error }: RunEnd) {
  return {
    attributes: {
      ...{ 'quoin.run': run, 'quoin.blueprint': blueprint, 'quoin.trigger': drawnBlock(flow.trigger) },
      ...(job !== undefined && { 'quoin.job': job }),
      ...(unit && unit.attempt > 0 && { 'quoin.attempt': unit.attempt }),
      ...(error && { 'error.type': error.code }),
    },
    failed: error !== undefined && error.status >= 500,
  }
}

class SpanRecorder implements Recorder {
  readonly #span: Span

  constructor(span: Span) {
    this.#span = span
  }

  pins(_block: ProbedBlock, frame: Frame, gather: Gather): Record<string, unknown> {
    return { ...gather(frame) }
  }

  value(_block: ProbedBlock, _inputs: PinValues, _more: PinValues, work: () => PinValues): PinValues {
    return work()
  }

  flow(
    { node }: ProbedBlock,
    _inputs: PinValues,
    _context: FlowContext,
    work: FlowWork,
  ): ReturnType<FlowWork> {
    const began = spanTime()
    const over = (failed: boolean) =>
      this.#span.add({
        ...{ name: node.definition.identifier, began, ended: spanTime(), failed },
        attributes: { 'quoin.block': drawnBlock(node.block.guid) },
      })
    return recover(
      () =>
        andThen(work(), (gave) => {
          over(false)
          return gave
        }),
      (error) => {
        over(true)
        throw error
      },
    )
  }
}
