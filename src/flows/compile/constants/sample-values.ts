import type { ValueContext } from '../../../blocks/context.ts'
import type { InPin } from '../../../blocks/pin.ts'
import { converterFor, finishPin } from '../../../blocks/pins/convert-pin.ts'
import type { JsonValue } from '../../../shared/json.ts'
import type { PinType } from '../../../shared/pin-type.ts'
import type { Node, Wire } from '../blueprint-graph.ts'
import { sampledWhere } from '../expressions/where-query.ts'
import { inputMeasure } from '../value-size.ts'
import type { Facts } from './fold-constants.ts'

const samples: Readonly<Partial<Record<PinType, JsonValue | Date>>> = {
  value: 'x',
  line: 'x',
  number: 1,
  condition: true,
  object: {},
  array: ['x'],
  date: new Date(0),
  any: 'x',
}

/** Gives a sample in place of a value that is known only in a run. */
export type SampleOf = (type: PinType, wire: Wire) => unknown

/** Gives a sample of what an expression or a frame gives, in place of evaluating it; undefined where it has none. */
export type TypedSampleOf = (wire: Wire) => unknown

/**
 * A sample in place of a text that is known only in a run. It differs from every other text, and each text that contains
 * it is unknown too. No builder types it.
 */
export const UNKNOWN = '\uf8fe'

/** As {@link UNKNOWN}, for a value of any type. */
export function unknownValue(type: PinType): unknown {
  if (type === 'value' || type === 'line' || type === 'any') return UNKNOWN
  return type === 'array' ? [UNKNOWN] : samples[type]
}

export interface Sampler {
  (node: Node, id: string, pin: InPin): unknown
  /** What the wire gives, before it is converted for a pin. */
  ofWire(wire: Wire): unknown
}

/** What a value block makes of the values that `read` gives for its pins. Throws where they do not fit. */
function outputOf(
  node: Node,
  facts: Facts,
  read: (node: Node, id: string, pin: InPin) => unknown,
): Readonly<Record<string, unknown>> {
  const { definition } = node
  if (definition.kind !== 'value') return {}
  const inputs: Record<string, unknown> = {}
  const more: Record<string, unknown> = {}
  for (const [id, pin] of node.in) {
    if (!pin.perFrame) (node.added.has(id) ? more : inputs)[id] = read(node, id, pin)
  }
  const context: ValueContext = {
    settings: node.settings,
    more,
    request: undefined,
    wired: facts.wired(node),
    now: () => 0,
  }
  const output = definition.value(inputs, context)
  inputMeasure(node)?.(output)
  return output
}

/**
 * Evaluates pins with constants where there are some and samples elsewhere; undefined where even that fails. `spare` is
 * taken where a sample does not fit its pin.
 */
export function sampler(
  facts: Facts,
  sampleOf: SampleOf = (type) => samples[type],
  spare: (type: PinType) => unknown = (type) => samples[type],
  typedSampleOf: TypedSampleOf = () => undefined,
): Sampler {
  const known = new Map<Node, Readonly<Record<string, unknown>>>()
  const open = new Set<Node>()

  function give(wire: Wire): unknown {
    if (wire.node.out.get(wire.pin)?.event) return sampleOf(wire.node.out.get(wire.pin)?.type ?? 'any', wire)
    const constant = facts.constants.get(wire.node)
    if (constant) return constant[wire.pin]
    const typed = typedSampleOf(wire)
    if (typed !== undefined) return typed
    const { definition } = wire.node
    const type = wire.node.out.get(wire.pin)?.type ?? 'any'
    if (definition.kind !== 'value' || open.has(wire.node)) return sampleOf(type, wire)
    const { expression } = wire.node
    if (expression?.where) return sampledWhere(expression.parsed, sampleOf('any', wire))
    const done = known.get(wire.node) ?? evaluate(wire.node)
    known.set(wire.node, done)
    return done[wire.pin] ?? sampleOf(type, wire)
  }

  function evaluate(node: Node): Readonly<Record<string, unknown>> {
    open.add(node)
    try {
      return outputOf(node, facts, read)
    } catch {
      return {}
    } finally {
      open.delete(node)
    }
  }

  function read(node: Node, id: string, pin: InPin): unknown {
    const wires = node.wires.get(id)
    if (!wires) return facts.literal(node, id, pin)
    const values = wires.map((wire) => {
      const input = give(wire)
      try {
        return converterFor(id, pin, facts.typeOf(wire, pin))(input)
      } catch {
        return spare(pin.type)
      }
    })
    return pin.several ? values.filter((value) => value !== undefined) : finishPin(id, pin, values[0])
  }

  const sample = (node: Node, id: string, pin: InPin) => {
    try {
      return read(node, id, pin)
    } catch {
      return undefined
    }
  }
  return Object.assign(sample, { ofWire: give })
}
