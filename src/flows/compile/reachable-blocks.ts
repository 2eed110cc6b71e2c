import type { Node } from './blueprint-graph.ts'
import type { Wiring } from './graph-wiring.ts'

type Behind = Pick<Wiring, 'behind'>

/** The flow blocks behind a trigger, each once. */
export function reachableBlocks(trigger: Node, facts: Behind): readonly Node[] {
  return blocksFrom(facts.behind(trigger, 'flow'), facts)
}

/** These blocks, and all behind their flow out-pins, each once. */
export function blocksFrom(first: readonly Node[], { behind }: Behind): readonly Node[] {
  const found = new Set(first)
  for (const node of found)
    for (const [pin, out] of node.out)
      if (out.type === 'flow') for (const next of behind(node, pin)) found.add(next)
  return [...found]
}
