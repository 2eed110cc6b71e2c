import type { Node } from './blueprint-graph.ts'
import type { Frame, Step } from './frame.ts'

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
        frame.run.steps.tick()
        return undefined
      }
      joins.delete(node)
      return step
    }
  }
}
