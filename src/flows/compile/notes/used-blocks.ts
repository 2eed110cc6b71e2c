import type { Steps } from '../../../shared/in-turns.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import type { Wiring } from '../graph-wiring.ts'

/** All that the triggers of a blueprint lead to, themselves too: flow blocks, values, and the value blocks of expressions. */
export function* usedBlocks({ nodes }: Graph, { behind }: Pick<Wiring, 'behind'>): Steps<ReadonlySet<Node>> {
  const used = new Set<Node>(nodes.filter(({ definition }) => definition.kind === 'trigger'))
  // A set that grows while it is gone through is a queue without an end of its own.
  for (const node of used) {
    yield
    for (const [pin, out] of node.out)
      if (out.type === 'flow') for (const next of behind(node, pin)) used.add(next)
    for (const source of valuesOf(node)) used.add(source)
  }
  return used
}

/** The value blocks that a block reads, those of its expressions too. */
export function valuesOf(node: Node): readonly Node[] {
  return [...node.wires].flatMap(([pin, wires]) =>
    node.in.get(pin)?.type === 'flow'
      ? []
      : wires.flatMap((wire) => (wire.node.definition.kind === 'value' ? [wire.node] : [])),
  )
}
