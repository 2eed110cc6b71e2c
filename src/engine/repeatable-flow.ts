import type { BlockDefinition } from '../blocks/block.ts'
import type { InPin } from '../blocks/pin.ts'
import type { Node } from './blueprint-graph.ts'
import type { Facts } from './fold-constants.ts'
import { reachableBlocks } from './reachable-blocks.ts'

/**
 * Whether what the flow behind a trigger replies follows from the request's address and from what it reads, and it does
 * nothing else. Not so: flows that write, wait for something, look at who asks, at the clock or at a header, or go on after
 * an error, which may be over the next time.
 */
export function isRepeatable(trigger: Node, facts: Facts): boolean {
  const steady = new Map<Node, boolean>()
  return reachableBlocks(trigger, facts).every(
    (node) =>
      repeats(node, facts) &&
      !facts.wired(node)('error') &&
      [...node.in].every(([id, pin]) => pin.type === 'flow' || isSteadyPin(node, id, pin)),
  )

  function isSteadyPin(node: Node, id: string, pin: InPin): boolean {
    return (node.wires.get(id) ?? []).every(({ node: source, pin: from }) => {
      const { definition } = source
      // A request holds more than its address: only those may have it that read no more.
      if (definition.kind === 'trigger') return pin.type === 'connection' && readsNoMore(node.definition)
      return definition.kind === 'flow' ? source.out.get(from)?.type !== 'connection' : isSteady(source)
    })
  }

  function isSteady(node: Node): boolean {
    const known = steady.get(node)
    if (known !== undefined) return known
    // A block that stands on itself, by its frame pins, is no reason against itself.
    steady.set(node, true)
    const { definition } = node
    const itself = definition.kind === 'value' && (!definition.readsRun || definition.readsAddress === true)
    const answer = itself && [...node.in].every(([id, pin]) => isSteadyPin(node, id, pin))
    steady.set(node, answer)
    return answer
  }
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

function readsNoMore(definition: BlockDefinition): boolean {
  return definition.kind === 'value' ? definition.readsAddress === true : definition.kind === 'flow'
}
