import type { BlockDefinition } from '../../blocks/block.ts'
import type { InPin } from '../../blocks/pin.ts'
import type { Steps } from '../../shared/in-turns.ts'
import type { Node } from './blueprint-graph.ts'
import type { Facts } from './constants/fold-constants.ts'
import { reachableBlocks } from './reachable-blocks.ts'

/** Which blocks may be in a flow, and which values may reach it. */
export interface Allowed {
  flow(node: Node): boolean
  /** What it depends on is looked at by itself. */
  value(definition: BlockDefinition & { readonly kind: 'value' }): boolean
}

/**
 * Whether every block behind a trigger is allowed, and every value that one of them depends on. The request itself, which
 * holds more than its address, may only go where no more than the address is read.
 */
export function* followsFrom(trigger: Node, facts: Facts, allowed: Allowed): Steps<boolean> {
  const known = new Map<Node, boolean>()
  for (const node of reachableBlocks(trigger, facts)) {
    yield
    if (!allowed.flow(node)) return false
    if (![...node.in].every(([id, pin]) => pin.type === 'flow' || isAllowedPin(node, id, pin))) return false
  }
  return true

  function isAllowedPin(node: Node, id: string, pin: InPin): boolean {
    return (node.wires.get(id) ?? []).every(({ node: source, pin: from }) => {
      const { definition } = source
      if (definition.kind === 'trigger')
        return (
          source.out.get(from)?.ofAddress === true ||
          (pin.type === 'connection' && readsNoMore(node.definition))
        )
      return definition.kind === 'flow' ? source.out.get(from)?.type !== 'connection' : isAllowed(source)
    })
  }

  function isAllowed(node: Node): boolean {
    const decided = known.get(node)
    if (decided !== undefined) return decided
    // A block that stands on itself, by its frame pins, is no reason against itself.
    known.set(node, true)
    const { definition } = node
    const itself = definition.kind === 'value' && allowed.value(definition)
    const answer = itself && [...node.in].every(([id, pin]) => isAllowedPin(node, id, pin))
    known.set(node, answer)
    return answer
  }
}

function readsNoMore(definition: BlockDefinition): boolean {
  return definition.kind === 'value' ? definition.readsAddress === true : definition.kind === 'flow'
}
