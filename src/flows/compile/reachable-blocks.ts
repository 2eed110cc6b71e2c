import type { Node } from './blueprint-graph.ts'
import type { Wiring } from './graph-wiring.ts'

/** The flow blocks behind a trigger, each once. */
export function reachableBlocks(trigger: Node, { behind }: Pick<Wiring, 'behind'>): readonly Node[] {
  const found = new Set<Node>()
  const queue = [...behind(trigger, 'flow')]
  for (let node = queue.shift(); node; node = queue.shift()) {
    if (found.has(node)) continue
    found.add(node)
    for (const [pin, out] of node.out) if (out.type === 'flow') queue.push(...behind(node, pin))
  }
  return [...found]
}
