import type { FlowBlock, ValueBlock } from '../../blocks/block.ts'
import type { Node, PinExpression } from './blueprint-graph.ts'
import type { Frame } from './frame.ts'

export type Gather = (frame: Frame) => Record<string, unknown>
export type Getter = (frame: Frame) => unknown
export type Store = (frame: Frame, given: Readonly<Record<string, unknown>>) => void

/**
 * Looks over the shoulder of blocks. A blueprint that is compiled with a probe has it in its closures; one without has
 * nothing of it, and so costs nothing. See `tracing/`.
 */
export interface Probe {
  /** The block in place of the compiled one, for this node. */
  flow(node: Node, definition: FlowBlock): FlowBlock
  value(node: Node, definition: ValueBlock): ValueBlock
  /** What collects the inputs of a flow or value block; `catches`: its `error` pin is wired. */
  gather(node: Node, gather: Gather, catches: boolean): Gather
  /** What evaluates an expression. */
  expression(expression: PinExpression, evaluate: Getter): Getter
  /** What reads a name for the expression that is being evaluated. */
  name(name: string, read: Getter): Getter
  /** What puts where others read it what a trigger, or an event of a page, gives. */
  event(node: Node, store: Store): Store
}
