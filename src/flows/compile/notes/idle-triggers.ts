import type { Graph } from '../blueprint-graph.ts'
import type { Wiring } from '../graph-wiring.ts'
import type { DeployNote } from './deploy-note.ts'

/** Triggers with no block behind them: their runs do nothing. */
export function idleTriggers({ nodes }: Graph, { behind }: Pick<Wiring, 'behind'>): DeployNote[] {
  return nodes.flatMap((node) => {
    const { definition, block } = node
    if (definition.kind !== 'trigger' || behind(node, 'flow').length > 0) return []
    const message = `${definition.title} leads to no block, so its runs do nothing. Wire flow to the first block, or remove the trigger.`
    return [{ block: block.guid, pin: 'flow', message, level: 'warn' as const }]
  })
}
