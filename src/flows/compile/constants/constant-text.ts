import type { InPin } from '../../../blocks/pin.ts'
import { isLargerThan } from '../../../shared/json.ts'
import { StoredJson } from '../../../storage/stored-json.ts'
import type { Node } from '../blueprint-graph.ts'
import { constantPin, type Facts } from './fold-constants.ts'

/** What is longer stays as it is: blocks that share their parts can mean far more text than there is memory. */
const MOST_VALUES = 10_000
const MOST_CHARACTERS = 256 * 1024

/**
 * For a pin that takes JSON text as well as values: the text of an object or list that is the same in each run, written and
 * hashed once instead of with each reply (a tenth of the samples of a profile of a constant one). Undefined for everything else.
 */
export function constantText(node: Node, id: string, pin: InPin, facts: Facts): StoredJson | undefined {
  if (!pin.raw || pin.perFrame || pin.several) return undefined
  const wires = node.wires.get(id) ?? []
  const isFixed = wires.every((wire) => facts.constants.has(wire.node) && !wire.node.out.get(wire.pin)?.frame)
  if (!isFixed) return undefined
  const value = constantPin(node, id, pin, facts)
  if (typeof value !== 'object' || value === null || value instanceof StoredJson) return undefined
  if (isLargerThan(value, MOST_VALUES, MOST_CHARACTERS)) return undefined
  return new StoredJson(JSON.stringify(value))
}
