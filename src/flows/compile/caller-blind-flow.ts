import type { Steps } from '../../shared/in-turns.ts'
import type { Node } from './blueprint-graph.ts'
import type { Facts } from './constants/fold-constants.ts'
import { followsFrom } from './flow-sources.ts'

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
