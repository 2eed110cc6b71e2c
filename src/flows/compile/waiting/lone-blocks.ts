import type { Node } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import { blocksFrom } from '../reachable-blocks.ts'

/**
 * The blocks behind these that run alone: no other branch of the run and no loop goes on beside them, on whatever way they are
 * reached. A run that continues after one of these can begin again at such a block.
 */
export function loneBlocks(first: readonly Node[], facts: Pick<Facts, 'behind'>): ReadonlySet<Node> {
  const lone = new Set(first)
  const crowded = new Set<Node>()
  for (const node of lone)
    for (const pin of flowPins(node)) {
      const next = facts.behind(node, pin)
      for (const one of next) (next.length > 1 || isBody(node, pin) ? crowded : lone).add(one)
    }
  for (const node of blocksFrom([...crowded], facts)) lone.delete(node)
  return lone
}

function flowPins({ out }: Node): readonly string[] {
  return [...out].flatMap(([pin, { type }]) => (type === 'flow' ? [pin] : []))
}

function isBody({ definition }: Node, pin: string): boolean {
  return definition.kind === 'flow' && definition.body === pin
}
