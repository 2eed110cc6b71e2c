import type { Steps } from '../../../shared/cooperative.ts'
import type { Problem } from '../../../shared/errors.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import { blocksFrom, type Wiring } from '../graph-wiring.ts'

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
