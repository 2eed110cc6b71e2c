import type { Node } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import { blocksFrom } from '../reachable-blocks.ts'

type Behind = Pick<Facts, 'behind'>

/** The out-pins of a block that waits on which its run goes on later. */
export function laterWays({ definition }: Node): readonly string[] {
  return definition.kind === 'flow' ? (definition.waits ?? []) : []
}

/** The blocks that run behind the wait, each once. */
export function laterBlocks(node: Node, facts: Behind): readonly Node[] {
  const first = laterWays(node).flatMap((pin) => facts.behind(node, pin))
  return blocksFrom(first, facts)
}
