import { PinError } from '../../blocks/block.ts'
import type { CalledElement } from '../../blocks/context.ts'
import { atElement, BlockFailure } from './block-failure.ts'
import type { Node } from './blueprint-graph.ts'
import type { Wiring } from './graph-wiring.ts'

/**
 * What a call of a custom function has failed with, told from the side of the caller: a parameter that the function cannot
 * use is to blame on the request if the caller had it from there, and on its own caller if it had it from that one.
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
