/**
 * The probe that fills traces: it has each block's inputs go through `gather` and its work through the block in its place,
 * and finds the trace by the run. A run that is not traced has no trace here; a flow compiled with this probe executes it
 * as it would without.
 *
 * What connects the two is the object of inputs itself: each execution gets one of its own, also where branches of a flow
 * execute the same block side by side.
 */
import type { FlowContext } from '../../blocks/context.ts'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { BlockFailure, RunStopped } from '../compile/block-failure.ts'
import type { Frame, RunControl } from '../compile/frame.ts'
import type { Probe } from '../compile/probe.ts'
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
  const runs = new WeakMap<RunControl, TracedRun>()
  const executions = new WeakMap<object, Gathered>()
  const expressions = new WeakMap<RunControl, EvaluatedExpressions>()
  /** The blocks whose pins are being read, the innermost last: reading never pauses. */
  const reading: { readonly block: string; readonly evaluations: Evaluation[] }[] = []

  /** The step begins: its inputs are known, those that the settings added too. */
  function begin(
    inputs: Given,
    more: Given,
    at: { block: string; type: string; kind: 'flow' | 'value' },
  ): Execution | undefined {
    const found = executions.get(inputs)
    if (!found) return undefined
    const { run, frame, evaluations } = found
    const step = run.trace.begin(frame, at, { ...inputs, ...more })
    run.trace.evaluated(step, [...evaluations, ...(executions.get(more)?.evaluations ?? [])])
    return { run, step }
  }

  const probe: Probe = {
    value({ block }, definition) {
      const at = { block: block.guid, type: block.type, kind: 'value' } as const
      return {
        ...definition,
        value(inputs, context) {
          const execution = begin(inputs, context.more, at)
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
    },

    flow({ block, out }, definition) {
      const at = { block: block.guid, type: block.type, kind: 'flow' } as const
      const outside = definition.outside === true

      function watched({ run, step }: Execution, inputs: Given, context: FlowContext) {
        const body = outside ? definition.body : undefined
        const passes = body === undefined ? undefined : new RecordedPasses(run.trace.secrets)
        if (body !== undefined && passes) notePasses(context, passes)
        let at = 0
        const pass = (values: Given) => {
          at += 1
          return body === undefined || context.runBody(body, at - 1, values)
        }
        const work = () =>
          (outside ? run.replayed?.(step, pass) : undefined) ?? definition.run(inputs, context)
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

      return {
        ...definition,
        run(inputs, context) {
          const execution = begin(inputs, context.more, at)
          if (!execution) return definition.run(inputs, context)
          return watched(execution, inputs, context)
        },
      }
    },

    gather({ block, definition }, gather, catches) {
      if (definition.kind === 'trigger') return gather
      const at = { block: block.guid, type: block.type, kind: definition.kind }
      return (frame) => {
        const run = runs.get(frame.run)
        if (!run) return gather(frame)
        const evaluations: Evaluation[] = []
        reading.push({ block: at.block, evaluations })
        try {
          const inputs = { ...gather(frame) }
          executions.set(inputs, { run, frame, evaluations })
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
          reading.pop()
        }
      }
    },

    expression(expression, evaluate) {
      const { guid } = expression.owner.block
      return (frame) => {
        const run = runs.get(frame.run)
        const evaluated = run && expressions.get(frame.run)
        if (!evaluated) return evaluate(frame)
        return evaluated.evaluate(expression, evaluate, frame, (one) => {
          const owner = reading.at(-1)
          // A pin that is read once for each element belongs to the step of its block, which is under way.
          if (owner?.block === guid) owner.evaluations.push(one)
          else run.trace.evaluatedLater(frame, guid, one)
        })
      }
    },

    name(name, read) {
      return (frame) => {
        const evaluated = expressions.get(frame.run)
        return evaluated ? evaluated.read(name, read, frame) : read(frame)
      }
    },

    event({ block }, store) {
      const at = { block: block.guid, type: block.type, kind: 'trigger' } as const
      return (frame, given) => {
        const trace = runs.get(frame.run)?.trace
        for (const password of frame.run.request?.visit?.passwords ?? []) trace?.secrets.noteWhole(password)
        if (trace) trace.gave(trace.begin(frame, at, {}), given, 'flow')
        store(frame, given)
      }
    },
  }

  function watch(run: RunControl, traced: TracedRun): void {
    runs.set(run, traced)
    expressions.set(run, new EvaluatedExpressions())
  }

  return { probe, watch }
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
