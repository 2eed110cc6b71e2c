/**
 * What follows from a graph's wires alone, worked out once per deploy: who depends on whom, which values live only inside
 * a frame, and which ones the requester chose.
 */
import { converterFor, finishPin } from '../../blocks/convert-pin.ts'
import type { InPin } from '../../blocks/pin.ts'
import type { PinType } from '../../shared/pin-type.ts'
import type { Graph, Node, Wire } from './blueprint-graph.ts'

export interface Wiring {
  /** Whether a wire leaves the out-pin. */
  wired(node: Node): (pin: string) => boolean
  /** The value of a pin that is not wired: its literal or default, converted; undefined if it holds nothing. */
  literal(node: Node, id: string, pin: InPin): unknown
  /** What the wire gives, for the converter. */
  typeOf(wire: Wire, into: InPin): PinType
  /** Value blocks that depend, through value blocks only, on what this flow block or trigger gives. */
  dependents(node: Node): ReadonlySet<Node>
  /** Value blocks that depend on the frame pins of this block. */
  inFramesOf(node: Node): ReadonlySet<Node>
  /** Flow blocks behind a flow out-pin, in the blueprint's order. */
  behind(node: Node, pin: string): readonly Node[]
  /** The request's parameter that a pin's value comes from, if the requester chose it. */
  requestParameter(node: Node, pin: string): string | undefined
}

export function wiringOf(graph: Graph): Wiring {
  const leaving = new Map<Node, Map<string, Node[]>>()
  for (const node of graph.nodes) {
    for (const [pin, wires] of node.wires) {
      for (const wire of wires) {
        const pins = leaving.get(wire.node) ?? new Map<string, Node[]>()
        leaving.set(wire.node, pins)
        const key = node.in.get(pin)?.type === 'flow' ? `flow ${wire.pin}` : wire.pin
        pins.set(key, [...(pins.get(key) ?? []), node])
      }
    }
  }
  const readers = (node: Node, keep: (pin: string) => boolean): Node[] =>
    [...(leaving.get(node) ?? [])].flatMap(([pin, nodes]) =>
      !pin.startsWith('flow ') && keep(pin) ? nodes : [],
    )

  function downstream(node: Node, keep: (pin: string) => boolean): Set<Node> {
    const found = new Set<Node>()
    const queue = readers(node, keep)
    for (let next = queue.pop(); next; next = queue.pop()) {
      if (next.definition.kind !== 'value' || found.has(next)) continue
      found.add(next)
      queue.push(...readers(next, () => true))
    }
    return found
  }

  const isFramePin = (node: Node) => (pin: string) => node.out.get(pin)?.frame === true
  return {
    wired(node: Node) {
      const pins = leaving.get(node)
      return (pin: string) => pins?.has(pin) === true || pins?.has(`flow ${pin}`) === true
    },
    literal: literalOf,
    typeOf: giveType,
    dependents: (node: Node) => downstream(node, (pin) => !isFramePin(node)(pin)),
    inFramesOf(node: Node): ReadonlySet<Node> {
      const within = downstream(node, isFramePin(node))
      within.delete(node)
      return within
    },
    behind: (node: Node, pin: string) => leaving.get(node)?.get(`flow ${pin}`) ?? [],
    requestParameter: (node: Node, pin: string) => parameterOf(node, pin, new Set()),
  }

  function parameterOf(node: Node, pin: string, seen: Set<Node>): string | undefined {
    for (const wire of node.wires.get(pin) ?? []) {
      const { definition } = wire.node
      if (definition.kind === 'trigger' && (definition.on === 'http' || definition.on === 'page'))
        return wire.pin
      if (wire.node.out.get(wire.pin)?.event) return wire.pin
      if (definition.kind !== 'value' || seen.has(wire.node)) continue
      seen.add(wire.node)
      if (definition.fromRequest) {
        const field = wire.node.literals.get('field')
        return wire.pin === 'value' && typeof field === 'string' ? field : wire.pin
      }
      for (const upstream of wire.node.in.keys()) {
        const found = parameterOf(wire.node, upstream, seen)
        if (found === undefined) continue
        // An out-pin that the builder added reads one field of what was sent: that field is what does not fit.
        return Object.hasOwn(definition.out, wire.pin) ? found : wire.pin
      }
    }
    return undefined
  }
}

function giveType(wire: Wire, into: InPin): PinType {
  const out = wire.node.out.get(wire.pin)
  if (!out) return 'any'
  return out.type === 'flow' && out.carries && into.type !== 'flow' ? out.carries : out.type
}

function literalOf(node: Node, id: string, pin: InPin): unknown {
  const convert = converterFor(id, pin, 'any')
  const literal = node.literals.get(id)
  if (pin.several) {
    if (literal === undefined) return []
    return (Array.isArray(literal) ? literal : [literal]).map(convert).filter((value) => value !== undefined)
  }
  return finishPin(id, pin, literal === undefined ? undefined : convert(literal))
}
