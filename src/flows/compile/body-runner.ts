import { PinError } from '../../blocks/block.ts'
import type { CalledElement } from '../../blocks/context.ts'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { atElement, BlockFailure } from './block-failure.ts'
import type { Node } from './blueprint-graph.ts'
import type { Frame, Step } from './frame.ts'
import type { Wiring } from './graph-wiring.ts'

type PinValues = Readonly<Record<string, unknown>>

/**
 * Runs what follows a flow out-pin in the middle of a block, once for each element that the block has. The reply of a pass
 * is durable before the next pass begins, and a run with a long turn pauses between two passes.
 *
 * @param store puts values on the block's out-pins, and has what depends on them pulled again
 */
export function bodyRunner(
  store: (frame: Frame, input: PinValues) => void,
  next: ReadonlyMap<string, Step | undefined>,
): (frame: Frame, pin: string, element: number, input: PinValues) => MaybePromise<boolean> {
  return (frame, pin, element, input) => {
    const { run } = frame
    const before = frame.finished
    const { steps } = run
    const { budget } = steps
    steps.checkpoint()
    store(frame, input)

    const over = (): MaybePromise<boolean> => {
      // In a run without a request the passes do not count: its deadline bounds them.
      if (run.request === undefined) steps.refill(budget)
      const goesOn = before || !frame.finished
      const waiting = run.settle() ?? steps.yieldIfLong()
      return waiting ? waiting.then(() => goesOn) : goesOn
    }
    const failed = (error: unknown): never => {
      throw atElement(error, element)
    }
    try {
      const driven = steps.drive(next.get(pin), frame)
      return isPromise(driven) ? driven.catch(failed).then(over) : over()
    } catch (error) {
      return failed(error)
    }
  }
}

/**
 * Which flow in-pins of the blocks that join branches were reached, in each frame. Gives the step for one in-pin: the last
 * pin that is reached continues at the block, and the block then waits for all of them again.
 */
export function joinArrivals(): (node: Node, pin: string, step: Step) => Step {
  const reached = new WeakMap<Frame, Map<Node, Set<string>>>()
  return (node, pin, step) => {
    const wired = [...node.wires.keys()].filter((id) => node.in.get(id)?.type === 'flow').length
    return (frame) => {
      const joins = reached.get(frame) ?? new Map<Node, Set<string>>()
      reached.set(frame, joins)
      const pins = joins.get(node) ?? new Set<string>()
      joins.set(node, pins)
      pins.add(pin)
      if (pins.size < wired) {
        // Arriving is a block: branches in a circle would otherwise never end.
        frame.run.steps.checkpoint()
        return undefined
      }
      joins.delete(node)
      return step
    }
  }
}

/**
 * What a call of a custom function failed with, as its caller sees it. The function could not use a parameter: if the caller took it
 * from the request, the request is to blame; if it took it from its own parameters, its caller is.
 */
export function callFailure(
  node: Node,
  wiring: Pick<Wiring, 'requestParameter' | 'functionParameter'>,
): (error: unknown, element: CalledElement | undefined) => unknown {
  return (error, element) => {
    const failure = element ? atElement(failed(error), element.index) : failed(error)
    if (!(failure instanceof BlockFailure) || failure.argument === undefined) return failure
    const pin = element && !node.in.has(failure.argument) ? element.pin : failure.argument
    return failure.at({
      parameter: wiring.requestParameter(node, pin),
      argument: wiring.functionParameter(node, pin),
    })
  }

  /** A parameter of the wrong type is refused before the function begins. */
  function failed(error: unknown): unknown {
    if (!(error instanceof PinError)) return error
    const { guid: block, type } = node.block
    return new BlockFailure({ block, type, pin: error.pin, argument: error.pin }, error)
  }
}
