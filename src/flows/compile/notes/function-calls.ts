import type { InPin } from '../../../blocks/pin.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import type { Graph, Node } from '../blueprint-graph.ts'
import { constantPin, type Facts } from '../constants/fold-constants.ts'

/** A block that calls a custom function whose name is the same in each run. */
export interface FunctionCall {
  readonly node: Node
  readonly pin: string
  readonly name: string
}

/** The same without its block. */
export interface CalledName {
  readonly block: string
  readonly pin: string
  /** Of the pin's expression. */
  readonly column?: number
  readonly name: string
}

export function calledNames(calls: readonly FunctionCall[]): readonly CalledName[] {
  return calls.map(({ node: { block }, pin, name }) => {
    const isExpression = block.in_pins.some(({ id, expression }) => id === pin && expression !== undefined)
    return { block: block.guid, pin, ...(isExpression && { column: 1 }), name }
  })
}

/** The calls among these blocks. A name that only a run knows is none of them. */
export function* functionCalls({ nodes }: Graph, facts: Facts): Steps<readonly FunctionCall[]> {
  const calls: FunctionCall[] = []
  for (const node of nodes) {
    yield
    for (const [id, pin] of node.in) {
      if (pin.type !== 'function') continue
      const name = fixedName(node, id, pin, facts)
      if (typeof name === 'string') calls.push({ node, pin: id, name: name.trim() })
    }
  }
  return calls
}

function fixedName(node: Node, id: string, pin: InPin, facts: Facts): unknown {
  const wires = node.wires.get(id) ?? []
  const written = wires[0]?.node.expression?.parsed.root
  if (written?.kind === 'literal') return written.value
  return wires.every((wire) => facts.constants.has(wire.node)) ? constantPin(node, id, pin, facts) : undefined
}
