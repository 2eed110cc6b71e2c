import { effectsOf } from '../../../blocks/effects.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import type { Node } from '../blueprint-graph.ts'
import { constantStorage, type Facts } from '../constants/fold-constants.ts'
import type { DeployNote } from './deploy-note.ts'

/** Storages of one blueprint that are looked at: each takes a walk through the flows. */
const MOST_STORAGES = 100

/**
 * Blocks that write to a storage which the flow has read before a block that touches the world outside: what was read may have
 * changed meanwhile, because a unit of work ends there (`flows/run/run-units.ts`). A write that decides itself, with `if`, `where` or by a
 * unique field, is none of them.
 */
export function* staleReads(nodes: readonly Node[], facts: Facts): Steps<DeployNote[]> {
  if (!nodes.some(isOutside)) return []
  const touching = Map.groupBy(
    nodes.filter((node) => reads(node) || decidesNothing(node)),
    (node) => constantStorage(node, facts),
  )
  const notes: DeployNote[] = []
  for (const [storage, blocks] of [...touching].slice(0, MOST_STORAGES)) {
    if (storage === undefined) continue
    const before = yield* behindEach(blocks.filter(reads), facts)
    const outside = [...before.keys()].filter(isOutside)
    const readsAgain = (node: Node) => reads(node) && constantStorage(node, facts) === storage
    const after = yield* behindEach(outside, facts, readsAgain)
    for (const [node, call] of after)
      if (decidesNothing(node) && constantStorage(node, facts) === storage)
        notes.push(noteOf(node, storage, call))
  }
  return notes
}

/** All blocks behind these, each with the one from which it was reached; the walk does not go on behind those at which it ends. */
function* behindEach(
  first: readonly Node[],
  facts: Facts,
  ends: (node: Node) => boolean = () => false,
): Steps<ReadonlyMap<Node, Node>> {
  const found = new Map<Node, Node>()
  const walk = new Map(first.map((node) => [node, node]))
  for (const [node, start] of walk) {
    yield
    if (found.has(node) && ends(node)) continue
    for (const [pin, out] of node.out) {
      if (out.type !== 'flow') continue
      for (const next of facts.behind(node, pin)) {
        if (!found.has(next)) found.set(next, start)
        if (!walk.has(next)) walk.set(next, start)
      }
    }
  }
  return found
}

function noteOf(node: Node, storage: string, outside: Node): DeployNote {
  const way = creates(node)
    ? 'Use function_upsert_document or a unique field'
    : 'Decide with if in this block'
  const call = outside.block.title || outside.definition.title
  return {
    block: node.block.guid,
    message: `The flow reads ${storage} before "${call}" and writes to it here: others may have changed it meanwhile. ${way}, or read again behind "${call}".`,
    level: 'warn',
  }
}

function reads({ definition }: Node): boolean {
  return effectsOf(definition).reads === true
}

/** A block that changes many decides by its `where`; a removal has nothing to decide. */
function decidesNothing(node: Node): boolean {
  const { definition, wires, literals, block } = node
  if (effectsOf(definition).writes === undefined) return false
  if (!node.in.has('if')) return creates(node)
  const decided = block.in_pins.some(({ id, expression }) => id === 'if' && expression !== undefined)
  return !decided && !wires.has('if') && !literals.has('if')
}

function creates({ definition }: Node): boolean {
  return definition.identifier === 'function_create_document_from_mutations'
}

function isOutside({ definition }: Node): boolean {
  return effectsOf(definition).calls !== undefined
}
