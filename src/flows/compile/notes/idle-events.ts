import type { Steps } from '../../../shared/cooperative.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import { constantPin, type Facts } from '../constants/fold-constants.ts'
import type { Wiring } from '../graph-wiring.ts'
import type { DeployNote } from './deploy-note.ts'

/** Forms and buttons of pages whose use by a visitor starts nothing, because no block follows. */
export function* idleEvents(graph: Graph, facts: Facts, used: ReadonlySet<Node>): Steps<DeployNote[]> {
  const forms = [...used].filter(({ definition }) => definition.identifier === 'state_form')
  const buttons = [...used].filter(({ definition }) => definition.identifier === 'state_button')
  const notes: DeployNote[] = []
  const handled = yield* showing(graph, new Set(buttons.filter((node) => facts.wired(node)('click'))))
  for (const node of forms) {
    const content = node.wires.get('content') ?? []
    if (facts.wired(node)('submit') || content.some((wire) => handled.has(wire.node))) continue
    const message =
      'Nothing happens when a visitor submits this form. Wire submit to the block that stores or uses its values.'
    notes.push({ block: node.block.guid, pin: 'submit', message, level: 'warn' })
  }
  for (const node of buttons) {
    if (facts.wired(node)('click') || kindOf(node, facts) !== 'action') continue
    const message = 'Nothing happens when a visitor clicks this button. Wire click to the block that follows.'
    notes.push({ block: node.block.guid, pin: 'click', message, level: 'warn' })
  }
  return notes
}

function kindOf(node: Node, facts: Facts): unknown {
  const pin = node.in.get('kind')
  const wires = node.wires.get('kind') ?? []
  if (!pin || !wires.every((wire) => facts.constants.has(wire.node))) return undefined
  return constantPin(node, 'kind', pin, facts)
}

/** The value blocks that show one of these blocks, through others too; themselves included. */
function* showing({ nodes }: Graph, shown: ReadonlySet<Node>): Steps<ReadonlySet<Node>> {
  const found = new Set(shown)
  if (found.size === 0) return found
  const readers = new Map<Node, Node[]>()
  for (const node of nodes) {
    yield
    if (node.definition.kind !== 'value') continue
    for (const [pin, wires] of node.wires) {
      if (node.in.get(pin)?.type !== 'state') continue
      for (const wire of wires) {
        const known = readers.get(wire.node)
        if (known) known.push(node)
        else readers.set(wire.node, [node])
      }
    }
  }
  for (const node of found) {
    yield
    for (const reader of readers.get(node) ?? []) found.add(reader)
  }
  return found
}

/** Triggers with no block behind them: their runs do nothing. */
export function idleTriggers({ nodes }: Graph, { behind }: Pick<Wiring, 'behind'>): DeployNote[] {
  return nodes.flatMap((node) => {
    const { definition, block } = node
    if (definition.kind !== 'trigger' || behind(node, 'flow').length > 0) return []
    const message = `${definition.title} leads to no block, so its runs do nothing. Wire flow to the first block, or remove the trigger.`
    return [{ block: block.guid, pin: 'flow', message, level: 'warn' as const }]
  })
}
