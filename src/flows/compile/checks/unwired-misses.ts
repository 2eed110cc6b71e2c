import type { Steps } from '../../../shared/in-turns.ts'
import type { Node } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import type { Miss } from '../frame.ts'
import { reachableBlocks } from '../reachable-blocks.ts'

const misses: readonly Miss[] = ['not_found', 'conflict', 'refused', 'exceeded']

/** The ways behind a trigger that are not wired: each may end a request without a reply. */
export function* unwiredMisses(trigger: Node, facts: Facts): Steps<readonly Miss[]> {
  const found = new Set<Miss>()
  for (const node of reachableBlocks(trigger, facts)) {
    yield
    const wired = facts.wired(node)
    for (const miss of misses) if (node.out.get(miss)?.type === 'flow' && !wired(miss)) found.add(miss)
  }
  return misses.filter((miss) => found.has(miss))
}
