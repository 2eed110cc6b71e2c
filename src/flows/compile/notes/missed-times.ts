import type { Node } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import type { DeployNote } from './deploy-note.ts'

/**
 * Schedules whose flow looks at the planned time, and that do not say what happens to missed ones: of the times that passed while no
 * node was running only the last is started, so the first working day of a month may never come.
 */
export function missedTimes(nodes: readonly Node[], facts: Pick<Facts, 'wired'>): DeployNote[] {
  return nodes.flatMap((node) => {
    const { block, definition, literals, wires } = node
    if (definition.kind !== 'trigger' || definition.on !== 'schedule') return []
    // A time that is worked out is one at a time.
    if (literals.has('next_run') || wires.has('next_run')) return []
    if (literals.has('catch_up') || wires.has('catch_up') || !facts.wired(node)('planned_at')) return []
    const message =
      'The flow reads planned_at, and catch_up is not set: after a downtime only the last missed time is started, so a day that matters may be lost. Set catch_up to all, or to last where that is meant.'
    return [{ block: block.guid, pin: 'catch_up', message, level: 'warn' } as const]
  })
}
