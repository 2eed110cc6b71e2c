import type { FlowBlock, ValueBlock } from '../../blocks/block.ts'
import type { FlowContext } from '../../blocks/context.ts'
import type { Node, PinExpression } from './blueprint-graph.ts'
import type { Frame, RunControl } from './frame.ts'

export type PinValues = Readonly<Record<string, unknown>>
export type Gather = (frame: Frame) => Record<string, unknown>
export type Getter = (frame: Frame) => unknown
export type FlowWork = () => ReturnType<FlowBlock['run']>

/** A block of a flow that was compiled with a probe. The same object for all that is told of it. */
export interface ProbedBlock {
  /** Guid of its blueprint. */
  readonly blueprint: string
  readonly node: Node
}

/** Records one run: its blocks call it. What they give and throw passes through. */
export interface Recorder {
  /** Reads the pins of an execution; `catches`: its `error` pin is wired. What it gives is an object of its own. */
  pins(block: ProbedBlock, frame: Frame, gather: Gather, catches: boolean): Record<string, unknown>
  /** The work of a value block. `inputs` and `more` are what `pins` gave. */
  value(block: ProbedBlock, inputs: PinValues, more: PinValues, work: () => PinValues): PinValues
  flow(block: ProbedBlock, inputs: PinValues, context: FlowContext, work: FlowWork): ReturnType<FlowWork>
  /** An expression is evaluated. */
  expression?(expression: PinExpression, evaluate: Getter, frame: Frame): unknown
  /** A name is read for the expression that is being evaluated. */
  name?(name: string, read: Getter, frame: Frame): unknown
  /** A trigger, or an event of a page, gives its values. */
  event?(block: ProbedBlock, frame: Frame, input: PinValues): void
}

/** Forgotten with the run. */
export type Recorders = WeakMap<RunControl, Recorder>

/**
 * Has what blocks do go through the recorder of the run. A flow that is compiled with it has it in its closures; one without
 * has nothing of it, and so costs nothing. A run without a recorder executes both alike.
 *
 * What connects the pins with the work is the object of inputs itself: each execution gets one of its own, also where
 * branches of a flow execute the same block side by side.
 */
export class Probe {
  readonly #recorders: Recorders
  readonly #blueprint: string
  /** By the object of inputs of an execution. */
  readonly #ofWork = new WeakMap<object, Recorder>()
  /** Of the run whose expression is being evaluated, which never pauses. Looked at for each name that is read. */
  #evaluating: Recorder | undefined

  constructor(recorders: Recorders, blueprint: string) {
    this.#recorders = recorders
    this.#blueprint = blueprint
  }

  /** What collects the inputs of a block. */
  gather(node: Node, gather: Gather, catches: boolean): Gather {
    if (node.definition.kind === 'trigger') return gather
    const block = { blueprint: this.#blueprint, node }
    return (frame) => {
      const recorder = this.#recorders.get(frame.run)
      if (!recorder) return gather(frame)
      const inputs = recorder.pins(block, frame, gather, catches)
      this.#ofWork.set(inputs, recorder)
      return inputs
    }
  }

  value(node: Node, definition: ValueBlock): ValueBlock {
    const block = { blueprint: this.#blueprint, node }
    return {
      ...definition,
      value: (inputs, context) => {
        const recorder = this.#ofWork.get(inputs)
        const work = () => definition.value(inputs, context)
        return recorder ? recorder.value(block, inputs, context.more, work) : work()
      },
    }
  }

  flow(node: Node, definition: FlowBlock): FlowBlock {
    const block = { blueprint: this.#blueprint, node }
    return {
      ...definition,
      run: (inputs, context) => {
        const recorder = this.#ofWork.get(inputs)
        const work = () => definition.run(inputs, context)
        return recorder ? recorder.flow(block, inputs, context, work) : work()
      },
    }
  }

  expression(expression: PinExpression, evaluate: Getter): Getter {
    return (frame) => {
      const recorder = this.#recorders.get(frame.run)
      if (!recorder?.expression) return evaluate(frame)
      const before = this.#evaluating
      this.#evaluating = recorder
      try {
        return recorder.expression(expression, evaluate, frame)
      } finally {
        this.#evaluating = before
      }
    }
  }

  name(name: string, read: Getter): Getter {
    return (frame) => {
      const recorder = this.#evaluating
      return recorder?.name ? recorder.name(name, read, frame) : read(frame)
    }
  }

  /** Before a trigger, or an event of a page, puts its values where others read them. */
  event(node: Node, store: (frame: Frame, input: PinValues) => void): typeof store {
    const block = { blueprint: this.#blueprint, node }
    return (frame, input) => {
      this.#recorders.get(frame.run)?.event?.(block, frame, input)
      store(frame, input)
    }
  }
}
