import type { Problem } from '../../../shared/errors.ts'
import type { Steps } from '../../../shared/in-turns.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import type { Wiring } from '../graph-wiring.ts'
import { blocksFrom } from '../reachable-blocks.ts'
import { laterBlocks, laterWays } from './later-blocks.ts'

/** Waits in the middle of a loop, and joins of a branch that waits with one that does not: their state would be lost. */
export function* waitProblems(graph: Graph, wiring: Pick<Wiring, 'behind'>): Steps<Problem[]> {
  const waits = graph.nodes.filter((node) => laterWays(node).length > 0)
  if (waits.length === 0) return []
  const problems: Problem[] = []
  const inLoops = new Set<Node>()
  for (const node of graph.nodes) {
    yield
    const { definition } = node
    if (definition.kind !== 'flow' || definition.body === undefined) continue
    for (const one of blocksFrom(wiring.behind(node, definition.body), wiring)) inLoops.add(one)
  }
  for (const wait of waits) {
    yield
    if (inLoops.has(wait))
      problems.push({
        block: wait.block.guid,
        message: `A loop cannot wait: call a custom function from the queue for each element, and wait in it.`,
      })
    const later = new Set(laterBlocks(wait, wiring))
    for (const join of later)
      if (joinsOthers(join, later, wait)) problems.push({ block: join.block.guid, message: JOINED })
  }
  return problems
}

const JOINED =
  'One branch of the join waits and another one does not: they are different runs then. Join them before the wait, or have both behind it.'

function joinsOthers(join: Node, later: ReadonlySet<Node>, wait: Node): boolean {
  if (join.definition.kind !== 'flow' || !join.definition.joins) return false
  return [...join.wires].some(
    ([id, wires]) =>
      join.in.get(id)?.type === 'flow' &&
      wires.some(({ node, pin }) => !later.has(node) && !(node === wait && laterWays(wait).includes(pin))),
  )
}
