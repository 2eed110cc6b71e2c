/**
 * The probe that fills traces: it has each block's inputs go through `gather` and its work through the block in its place,
 * and finds the trace by the run. A run that is not traced has no trace here; a flow compiled with this probe executes it
 * as it would without.
 *
 * What connects the two is the object of inputs itself: each execution gets one of its own, also where branches of a flow
 * execute the same block side by side.
 */
import type { FlowBlock, ValueBlock } from '../../blocks/block.ts'
import type { FlowContext } from '../../blocks/context.ts'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { BlockFailure, RunStopped } from '../compile/block-failure.ts'
import type { Node, PinExpression } from '../compile/blueprint-graph.ts'
import type { Frame, RunControl } from '../compile/frame.ts'
import type { Gather, Getter, Probe, Store } from '../compile/probe.ts'
import { EvaluatedExpressions, type Evaluation } from './evaluated-expressions.ts'
import { RecordedPasses } from './recorded-passes.ts'
import type { RunTrace, TraceStep } from './run-trace.ts'

type Given = Readonly<Record<string, unknown>>

/** One run that is traced, as its blocks meet it. */
export interface TracedRun {
  readonly trace: RunTrace
  /** Before a flow block does its work: a promise while the run is paused there. */
  arrive(step: TraceStep): Promise<void> | undefined
  /** After it: what was written may end a pause of another branch. */
  leave(): void
  /** What a block that touches the world outside is to give without touching it; undefined: it is to do its work. */
  replayed?(step: TraceStep, pass: (given: Given) => MaybePromise<boolean>): MaybePromise<Given | undefined>
}

export interface WatchedBlocks {
  readonly probe: Probe
  /** From now on what the run's blocks do is in the trace. Forgotten with the run. */
  watch(run: RunControl, traced: TracedRun): void
}

interface Gathered {
  readonly run: TracedRun
  readonly frame: Frame
  readonly evaluations: readonly Evaluation[]
}

interface Execution {
  readonly run: TracedRun
  readonly step: TraceStep
}

export function watchedBlocks(): WatchedBlocks {
  const probe = new TracingProbe()
  return { probe, watch: (run, traced) => probe.watch(run, traced) }
}

/** A pin's expressions, while the pins of their block are read. */
interface PinsBeingRead {
  readonly block: string
  readonly evaluations: Evaluation[]
}

interface BlockAt {
  readonly block: string
  readonly type: string
  readonly kind: 'flow' | 'value'
}

class TracingProbe implements Probe {
  readonly #runs = new WeakMap<RunControl, TracedRun>()
  readonly #executions = new WeakMap<object, Gathered>()
  readonly #expressions = new WeakMap<RunControl, EvaluatedExpressions>()
  /** The innermost last: reading never pauses. */
  readonly #reading: PinsBeingRead[] = []

  watch(run: RunControl, traced: TracedRun): void {
    this.#runs.set(run, traced)
    this.#expressions.set(run, new EvaluatedExpressions())
  }

  /** The step begins: its inputs are known, those that the settings added too. */
  #begin(inputs: Given, more: Given, at: BlockAt): Execution | undefined {
    const found = this.#executions.get(inputs)
    if (!found) return undefined
    const { run, frame, evaluations } = found
    const step = run.trace.begin(frame, at, { ...inputs, ...more })
    run.trace.evaluated(step, [...evaluations, ...(this.#executions.get(more)?.evaluations ?? [])])
    return { run, step }
  }

  value({ block }: Node, definition: ValueBlock): ValueBlock {
    const at = { block: block.guid, type: block.type, kind: 'value' } as const
    return {
      ...definition,
      value: (inputs, context) => {
        const execution = this.#begin(inputs, context.more, at)
        if (!execution) return definition.value(inputs, context)
        const { run, step } = execution
        try {
          const given = definition.value(inputs, context)
          run.trace.gave(step, given, null)
          return given
        } catch (error) {
          run.trace.fail(step, error, null)
          throw error
        }
      },
    }
  }

  flow(node: Node, definition: FlowBlock): FlowBlock {
    const at = { block: node.block.guid, type: node.block.type, kind: 'flow' } as const
    return {
      ...definition,
      run: (inputs, context) => {
        const execution = this.#begin(inputs, context.more, at)
        if (!execution) return definition.run(inputs, context)
        return watchedWork(execution, node, definition, inputs, context)
      },
    }
  }

  gather({ block, definition }: Node, gather: Gather, catches: boolean): Gather {
    if (definition.kind === 'trigger') return gather
    const at = { block: block.guid, type: block.type, kind: definition.kind }
    return (frame) => {
      const run = this.#runs.get(frame.run)
      if (!run) return gather(frame)
      const evaluations: Evaluation[] = []
      this.#reading.push({ block: at.block, evaluations })
      try {
        const inputs = { ...gather(frame) }
        this.#executions.set(inputs, { run, frame, evaluations })
        return inputs
      } catch (error) {
        // Of a value whose own value failed there is nothing to say: that one has said it.
        if (at.kind === 'flow' || !(error instanceof BlockFailure) || error.block === at.block) {
          const step = run.trace.begin(frame, at, {})
          run.trace.evaluated(step, evaluations)
          run.trace.fail(step, error, catches && isCaught(error) ? 'error' : null)
        }
        throw error
      } finally {
        this.#reading.pop()
      }
    }
  }

  expression(expression: PinExpression, evaluate: Getter): Getter {
    const { guid } = expression.owner.block
    return (frame) => {
      const run = this.#runs.get(frame.run)
      const evaluated = run && this.#expressions.get(frame.run)
      if (!evaluated) return evaluate(frame)
      return evaluated.evaluate(expression, evaluate, frame, (one) => {
        const owner = this.#reading.at(-1)
        // A pin that is read once for each element belongs to the step of its block, which is under way.
        if (owner?.block === guid) owner.evaluations.push(one)
        else run.trace.evaluatedLater(frame, guid, one)
      })
    }
  }

  name(name: string, read: Getter): Getter {
    return (frame) => {
      const evaluated = this.#expressions.get(frame.run)
      return evaluated ? evaluated.read(name, read, frame) : read(frame)
    }
  }

  event({ block }: Node, store: Store): Store {
    const at = { block: block.guid, type: block.type, kind: 'trigger' } as const
    return (frame, given) => {
      const trace = this.#runs.get(frame.run)?.trace
      for (const password of frame.run.request?.visit?.passwords ?? []) trace?.secrets.noteWhole(password)
      if (trace) trace.gave(trace.begin(frame, at, {}), given, 'flow')
      store(frame, given)
    }
  }
}

/** The work of a flow block, with what it gave, how it failed and, where it touches the world outside, what its body was given. */
function watchedWork(
  { run, step }: Execution,
  { out }: Node,
  definition: FlowBlock,
  inputs: Given,
  context: FlowContext,
): ReturnType<FlowBlock['run']> {
  const outside = definition.outside === true
  const body = outside ? definition.body : undefined
  const passes = body === undefined ? undefined : new RecordedPasses(run.trace.secrets)
  if (body !== undefined && passes) notePasses(context, passes)
  let at = 0
  const pass = (values: Given) => {
    at += 1
    return body === undefined || context.runBody(body, at - 1, values)
  }
  const work = () => (outside ? run.replayed?.(step, pass) : undefined) ?? definition.run(inputs, context)
  const gave = (given: Given | undefined) => {
    const { next = 'flow', ...values } = given ?? {}
    const taken = typeof next === 'string' && out.has(next) && context.wired(next) ? next : null
    run.trace.gave(step, values, taken)
    if (outside) run.trace.keepOutside(step, values, undefined, passes)
    run.leave()
    return given
  }
  const failed = (error: unknown): never => {
    run.trace.fail(step, error, context.wired('error') && isCaught(error) ? 'error' : null)
    if (outside) run.trace.keepOutside(step, {}, error, passes)
    run.leave()
    throw error
  }
  try {
    const waiting = run.arrive(step)
    const given = waiting ? waiting.then(work) : work()
    return isPromise(given) ? given.then(gave, failed) : gave(given)
  } catch (error) {
    return failed(error)
  }
}

/** Each execution has a context of its own. */
function notePasses(context: FlowContext, passes: RecordedPasses): void {
  const runBody = context.runBody.bind(context)
  context.runBody = (pin, element, given) => passes.run(given, () => runBody(pin, element, given))
}

/** What stops the whole run is caught by no `error` pin. */
function isCaught(error: unknown): boolean {
  return !(error instanceof RunStopped)
}
