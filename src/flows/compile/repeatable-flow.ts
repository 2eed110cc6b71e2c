import type { Node } from './blueprint-graph.ts'
import { followsFrom } from './flow-sources.ts'
import type { Facts } from './fold-constants.ts'

/**
 * Whether what the flow behind a trigger replies follows from the request's address and from what it reads, and it does
 * nothing else. Not so: flows that write, wait for something, look at who asks, at the clock or at a header, or go on after
 * an error, which may be over the next time.
 */
export function isRepeatable(trigger: Node, facts: Facts): boolean {
  return followsFrom(trigger, facts, {
    flow: (node) => repeats(node, facts) && !facts.wired(node)('error'),
    value: ({ readsRun, readsAddress }) => !readsRun || readsAddress === true,
  })
}

function repeats(node: Node, facts: Facts): boolean {
  const { definition } = node
  if (definition.kind !== 'flow' || definition.repeatable === undefined) return false
  if (definition.repeatable === true) return true
  return definition.repeatable.every((id) => {
    const pin = node.in.get(id)
    return pin !== undefined && !node.wires.has(id) && facts.literal(node, id, pin) === undefined
  })
}
