import type { Steps } from '../../../shared/in-turns.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import type { Wiring } from '../graph-wiring.ts'
import type { DeployNote } from './deploy-note.ts'
import { valuesOf } from './used-blocks.ts'

/**
 * Blocks that no trigger leads to. Of what hangs together only the first is named: the blocks behind it, and the values
 * that only it reads, are used when it is.
 */
export function* unusedBlocks(
  { nodes }: Graph,
  { behind }: Pick<Wiring, 'behind'>,
  used: ReadonlySet<Node>,
): Steps<DeployNote[]> {
  const unused = nodes.filter((node) => !used.has(node))
  const follows = new Set<Node>()
  for (const node of unused) {
    yield
    for (const next of followersOf(node, behind)) if (next !== node) follows.add(next)
  }
  const told = new Set<Node>()
  const notes: DeployNote[] = []
  // Those in a circle all follow one another: the first of them is named.
  for (const node of [...unused.filter((one) => !follows.has(one)), ...unused]) {
    yield
    if (told.has(node)) continue
    notes.push({ block: node.block.guid, message: messageOf(node), level: 'warn' })
    yield* addWithFollowers(node, behind, told)
  }
  return notes
}

function* addWithFollowers(first: Node, behind: Wiring['behind'], told: Set<Node>): Steps<void> {
  const queue = [first]
  for (let node = queue.pop(); node; node = queue.pop()) {
    if (told.has(node)) continue
    yield
    told.add(node)
    queue.push(...followersOf(node, behind))
  }
}

function followersOf(node: Node, behind: Wiring['behind']): readonly Node[] {
  const next = [...node.out].flatMap(([pin, out]) => (out.type === 'flow' ? behind(node, pin) : []))
  return [...next, ...valuesOf(node)]
}

function messageOf({ definition }: Node): string {
  return definition.kind === 'value'
    ? 'No block that runs uses what this block gives. Wire it, name it in an expression, or remove it.'
    : 'No trigger leads to this block, so it never runs. Wire its flow, or remove it.'
}
