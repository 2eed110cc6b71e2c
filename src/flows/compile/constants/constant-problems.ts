import { PinError } from '../../../blocks/block.ts'
import type { Problem } from '../../../shared/errors.ts'
import type { Steps } from '../../../shared/in-turns.ts'
import { isNamedType } from '../../../shared/pin-type.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import { constantPin, type Facts } from './fold-constants.ts'

/**
 * Problems that blocks find in pins with the same value in every run (`check`). Without this, a page with an impossible
 * table would be deployed, and would reply 500 to every client. `known`: the problems of the graph; blocks that have one
 * are not checked.
 */
export function* constantProblems(
  graph: Graph,
  facts: Facts,
  known: readonly Problem[],
): Steps<readonly Problem[]> {
  const faulty = new Set(known.map(({ block }) => block))
  const problems: Problem[] = []
  for (const node of graph.nodes) {
    yield
    if (node.definition.check === undefined || faulty.has(node.block.guid)) continue
    try {
      node.definition.check(constantsOf(node, facts), node.settings)
    } catch (error) {
      if (!(error instanceof PinError)) throw error
      problems.push({ block: node.block.guid, pin: error.pin, message: `${error.pin} ${error.message}.` })
    }
  }
  return problems
}

/** The pins that depend on no run. One whose constant does not fit throws PinError, as in a run. */
function constantsOf(node: Node, facts: Facts): Record<string, unknown> {
  const inputs: Record<string, unknown> = {}
  for (const [id, pin] of node.in) {
    const wires = node.wires.get(id) ?? []
    const isFixed = wires.every(
      (wire) => facts.constants.has(wire.node) && !wire.node.out.get(wire.pin)?.event,
    )
    if (pin.type === 'flow' || isNamedType(pin.type) || pin.perFrame || node.added.has(id) || !isFixed)
      continue
    const value = constantPin(node, id, pin, facts)
    if (value !== undefined) inputs[id] = value
  }
  return inputs
}
