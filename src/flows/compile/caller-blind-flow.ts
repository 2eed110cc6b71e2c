import type { Node } from './blueprint-graph.ts'
import { followsFrom } from './flow-sources.ts'
import type { Facts } from './fold-constants.ts'

/**
 * Whether the flow behind a trigger replies the same to every caller: nothing in it looks at who asks or at a header. Its
 * reply may change with time, with what is stored and with what other servers say. Only what is certain counts: custom
 * functions are of blueprints that change by themselves, and may look at the user.
 */
export function isCallerBlind(trigger: Node, facts: Facts): boolean {
  return followsFrom(trigger, facts, {
    flow: ({ definition }) =>
      definition.kind === 'flow' &&
      (definition.repeatable !== undefined || definition.ignoresCaller === true),
    value: ({ readsRun, readsAddress, readsClock }) =>
      !readsRun || readsAddress === true || readsClock === true,
  })
}
