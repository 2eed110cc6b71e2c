import type { Steps } from '../../shared/in-turns.ts'
import type { Node } from './blueprint-graph.ts'
import type { Facts } from './constants/fold-constants.ts'
import { followsFrom } from './flow-sources.ts'

/**
 * Whether the reply of a trigger's flow depends only on the request's address and on stored data, and the flow does nothing
 * but reply. Not repeatable are flows that write, wait, read the user, the clock or a header, or continue after an error,
 * which may not occur the next time.
 */
export function isRepeatable(trigger: Node, facts: Facts): Steps<boolean> {
  return followsFrom(trigger, facts, {
    flow: (node) => repeats(node, facts) && !facts.wired(node)('error'),
    value: ({ readsRun, readsAddress }) => !readsRun || readsAddress === true,
  })
}

function repeats(node: Node, facts: Facts): boolean {
  const { definition } = node
  if (definition.kind !== 'flow' || definition.repeatable === undefined) return false
  if (definition.repeatable === true) return true
  return definition.repeatable.every((id) => {
    const pin = node.in.get(id)
    return pin !== undefined && !node.wires.has(id) && facts.literal(node, id, pin) === undefined
  })
}

/**
 * Whether a trigger's flow replies the same to every caller: none of its blocks reads the user or a header. Its reply may
 * change with time, with stored data and with replies of other servers. True only if it is certain: a flow that calls a
 * custom function may read the user, because the function's blueprint can change separately.
 */
export function isCallerBlind(trigger: Node, facts: Facts): Steps<boolean> {
  return followsFrom(trigger, facts, {
    flow: ({ definition }) =>
      definition.kind === 'flow' &&
      (definition.repeatable !== undefined || definition.ignoresCaller === true),
    value: ({ readsRun, readsAddress, readsClock }) =>
      !readsRun || readsAddress === true || readsClock === true,
  })
}
