import type { Node, Wire } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import type { ResumePoint } from '../frame.ts'
import { blocksFrom } from '../graph-wiring.ts'
import { restoreFrame, saveFrame } from './saved-frame.ts'
import { type ValuesRead, valuesRead } from './values-read.ts'
import { laterBlocks, laterWays } from './wait-problems.ts'

export interface ResumePointParts extends Pick<ResumePoint, 'behind' | 'itself'> {
  readonly node: Node
  readonly facts: Facts
  readonly slotOf: (wire: Wire) => number | undefined
}

/** Values are stored under guids of blocks and ids of pins, so that a later version of the blueprint can read them too. */
export function resumePoint({ node, facts, slotOf, behind, itself }: ResumePointParts): ResumePoint {
  // Worked out when the first run comes here: most deployments never meet it.
  let known: ValuesRead | undefined
  const running = () => (waits(node) ? laterBlocks(node, facts) : blocksFrom([node], facts))
  const read = (): ValuesRead => {
    known ??= valuesRead(running(), facts)
    return known
  }
  return {
    block: node.block.guid,
    save: (frame) => saveFrame(frame, read(), slotOf),
    restore: (frame, saved) => restoreFrame(frame, saved, read(), slotOf),
    reads: () => readBefore(read(), new Set([node, ...running()])),
    type: node.block.type,
    behind,
    itself,
  }
}

/** Without what value blocks give, which are evaluated again, and what the blocks that are to run give each other. */
function readBefore({ wires, names }: ValuesRead, running: ReadonlySet<Node>): ReadonlyMap<string, string> {
  const reads = new Map<string, string>()
  for (const { node, pin } of wires) {
    const { block, definition, out } = node
    if (running.has(node) || definition.kind === 'value' || out.get(pin)?.type === 'connection') continue
    reads.set(`${block.guid}.${pin}`, `${pin} of "${block.title || definition.title}"`)
  }
  for (const name of ['params', 'query', 'body'] as const) if (names.has(name)) reads.set(name, name)
  return reads
}

function waits(node: Node): boolean {
  return laterWays(node).length > 0
}
