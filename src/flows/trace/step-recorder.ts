/** Fills the trace of a run, and has it pause and replay where that is asked for. */

import type { FlowContext } from '../../blocks/context.ts'
import { effectsOf } from '../../blocks/effects.ts'
import { andThen, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import { reading } from '../../storage/stored-json.ts'
import { BlockFailure, RunStopped } from '../compile/block-failure.ts'
import type { PinExpression } from '../compile/blueprint-graph.ts'
import type { Frame } from '../compile/frame.ts'
import type { FlowWork, Gather, Getter, PinValues, ProbedBlock, Recorder } from '../compile/probe.ts'
import { EvaluatedExpressions, type Evaluation } from './evaluated-expressions.ts'
import { RecordedPasses } from './recorded-passes.ts'
import type { RunTrace, TraceStep } from './run-trace.ts'

/** One run that is traced. */
export interface TracedRun {
  readonly trace: RunTrace
  /** Before a flow block does its work: a promise while the run is paused there. */
  arrive(step: TraceStep): Promise<void> | undefined
  /** After it: what was written may end a pause of another branch. */
  leave(): void
  /** What a block that touches the world outside is to give without touching it; undefined: it is to do its work. */
  replayed?(
    step: TraceStep,
    pass: (input: PinValues) => MaybePromise<boolean>,
  ): MaybePromise<PinValues | undefined>
}

/** Pins that were read, with the expressions on them. */
interface PinsRead {
  readonly frame: Frame
  readonly evaluations: readonly Evaluation[]
}

/** A pin's expressions, while the pins of their block are read. */
interface PinsBeingRead {
  readonly block: string
  readonly evaluations: Evaluation[]
}

export class StepRecorder implements Recorder {
  readonly #run: TracedRun
  readonly #read = new WeakMap<object, PinsRead>()
  readonly #expressions = new EvaluatedExpressions()
  /** The innermost last: reading never pauses. */
  readonly #reading: PinsBeingRead[] = []

  constructor(run: TracedRun) {
    this.#run = run
  }

  pins(block: ProbedBlock, frame: Frame, gather: Gather, catches: boolean): Record<string, unknown> {
    const at = placeOf(block)
    const evaluations: Evaluation[] = []
    this.#reading.push({ block: at.block, evaluations })
    // What is read twice would be recorded twice.
    reading.canWait = false
    try {
      const inputs = { ...gather(frame) }
      this.#read.set(inputs, { frame, evaluations })
      return inputs
    } catch (error) {
      // Of a value whose own value failed there is nothing to say: that one has said it.
      if (at.kind === 'flow' || !(error instanceof BlockFailure) || error.block === at.block) {
        const { trace } = this.#run
        const step = trace.begin(frame, at, {})
        trace.evaluated(step, evaluations)
        trace.fail(step, error, catches && isCaught(error) ? 'error' : null)
      }
      throw error
    } finally {
      this.#reading.pop()
    }
  }

  /** The step begins: its inputs are known, those that the settings added too. */
  #begin(block: ProbedBlock, inputs: PinValues, more: PinValues): TraceStep | undefined {
    const read = this.#read.get(inputs)
    if (!read) return undefined
    const { trace } = this.#run
    const step = trace.begin(read.frame, placeOf(block), { ...inputs, ...more })
    trace.evaluated(step, [...read.evaluations, ...(this.#read.get(more)?.evaluations ?? [])])
    return step
  }

  value(block: ProbedBlock, inputs: PinValues, more: PinValues, work: () => PinValues): PinValues {
    const step = this.#begin(block, inputs, more)
    if (!step) return work()
    const { trace } = this.#run
    try {
      const input = work()
      trace.gave(step, input, null)
      return input
    } catch (error) {
      trace.fail(step, error, null)
      throw error
    }
  }

  flow(block: ProbedBlock, inputs: PinValues, context: FlowContext, work: FlowWork): ReturnType<FlowWork> {
    const step = this.#begin(block, inputs, context.more)
    return step ? watchedWork(this.#run, step, block, context, work) : work()
  }

  expression(expression: PinExpression, evaluate: Getter, frame: Frame): unknown {
    const { guid } = expression.owner.block
    return this.#expressions.evaluate(expression, evaluate, frame, (one) => {
      const owner = this.#reading.at(-1)
      // A pin that is read once for each element belongs to the step of its block, which is under way.
      if (owner?.block === guid) owner.evaluations.push(one)
      else this.#run.trace.evaluatedLater(frame, guid, one)
    })
  }

  name(name: string, read: Getter, frame: Frame): unknown {
    return this.#expressions.read(name, read, frame)
  }

  event(block: ProbedBlock, frame: Frame, input: PinValues): void {
    const { trace } = this.#run
    for (const password of frame.run.request?.visit?.passwords ?? []) trace.secrets.noteWhole(password)
    trace.gave(trace.begin(frame, { ...placeOf(block), kind: 'trigger' }, {}), input, 'flow')
  }
}

function placeOf({ node: { block, definition } }: ProbedBlock) {
  return { block: block.guid, type: block.type, kind: definition.kind }
}

/** The work of a flow block, with what it gave, how it failed and, where it touches the world outside, what its body was given. */
function watchedWork(
  { trace, arrive, leave, replayed }: TracedRun,
  step: TraceStep,
  { node: { out, definition } }: ProbedBlock,
  context: FlowContext,
  run: FlowWork,
): ReturnType<FlowWork> {
  const outside = effectsOf(definition).calls !== undefined
  const body = outside && definition.kind === 'flow' ? definition.body : undefined
  const passes = body === undefined ? undefined : new RecordedPasses(trace.secrets)
  if (body !== undefined && passes) notePasses(context, passes)
  let at = 0
  const pass = (values: PinValues) => {
    at += 1
    return body === undefined || context.runBody(body, at - 1, values)
  }
  const work = () => (outside ? replayed?.(step, pass) : undefined) ?? run()
  const gave = (input: PinValues | undefined) => {
    const { next = 'flow', ...values } = input ?? {}
    const taken = typeof next === 'string' && out.has(next) && context.wired(next) ? next : null
    trace.gave(step, values, taken)
    if (outside) trace.keepOutside(step, values, undefined, passes)
    leave()
    return input
  }
  const failed = (error: unknown): never => {
    trace.fail(step, error, context.wired('error') && isCaught(error) ? 'error' : null)
    if (outside) trace.keepOutside(step, {}, error, passes)
    leave()
    throw error
  }
  return recover(() => {
    const waiting = arrive(step)
    return andThen(waiting ? waiting.then(work) : work(), gave)
  }, failed)
}

/** Each execution has a context of its own. */
function notePasses(context: FlowContext, passes: RecordedPasses): void {
  const runBody = context.runBody.bind(context)
  context.runBody = (pin, element, input) => passes.run(input, () => runBody(pin, element, input))
}

/** What stops the whole run is caught by no `error` pin. */
function isCaught(error: unknown): boolean {
  return !(error instanceof RunStopped)
}
