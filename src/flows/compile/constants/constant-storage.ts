import type { Node } from '../blueprint-graph.ts'
import type { Facts } from './fold-constants.ts'

/** The storage that a block works on, if its name is a constant. */
export function constantStorage(node: Node, facts: Pick<Facts, 'constants'>): string | undefined {
  for (const [id, { type }] of node.in) {
    if (type !== 'storage') continue
    const [wire] = node.wires.get(id) ?? []
    const name = wire ? facts.constants.get(wire.node)?.[wire.pin] : node.literals.get(id)
    return typeof name === 'string' ? name : undefined
  }
  return undefined
}
