import type { RowColumn } from '../../../blocks/block.ts'
import type { ValueContext } from '../../../blocks/context.ts'
import type { InPin } from '../../../blocks/pin.ts'
import { converterFor, finishPin } from '../../../blocks/pins/convert-pin.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import { isLargerThan } from '../../../shared/json.ts'
import { StoredJson } from '../../../storage/stored-json.ts'
import type { Graph, Node, Wire } from '../blueprint-graph.ts'
import type { Wiring } from '../graph-wiring.ts'
import type { Probe } from '../probe.ts'
import { inputMeasure } from '../value-size.ts'

/** What a block gives, by out-pin, that depends on nothing but constants. */
export type Constants = ReadonlyMap<Node, Readonly<Record<string, unknown>>>

/** All that the compiler knows about a graph. */
export type Facts = Wiring & {
  readonly constants: Constants
  /** Undefined but for a flow that is compiled once more. */
  readonly probe?: Probe | undefined
}

/**
 * Evaluates, once, the value blocks that depend on nothing but constants: most storages, queries and sorts of a flow. A
 * block that throws is left to be evaluated in each run, where its failure has a place and an `error` pin.
 */
export function* foldConstants(graph: Graph, wiring: Wiring): Steps<Constants> {
  const constants = new Map<Node, Readonly<Record<string, unknown>>>()
  const facts: Facts = { ...wiring, constants }
  const tried = new Set<Node>()
  for (const node of graph.nodes) {
    fold(node)
    yield
  }
  return constants

  function fold(node: Node): boolean {
    if (constants.has(node)) return true
    const { definition } = node
    if (definition.kind !== 'value' || definition.readsRun || definition.fromRequest || tried.has(node))
      return false
    tried.add(node)
    if ([...node.in.values()].some((pin) => pin.perFrame)) return false
    const sources = [...node.wires.values()].flat()
    const isFixed = ({ node: source, pin }: Wire) => {
      const out = source.out.get(pin)
      return !out?.frame && !out?.event && fold(source)
    }
    if (!sources.every(isFixed)) return false
    try {
      const inputs: Record<string, unknown> = {}
      const more: Record<string, unknown> = {}
      for (const [id, pin] of node.in) {
        const value = constantPin(node, id, pin, facts)
        if (value !== undefined) (node.added.has(id) ? more : inputs)[id] = value
      }
      const context: ValueContext = {
        settings: node.settings,
        more,
        block: node.block.guid,
        request: undefined,
        wired: facts.wired(node),
        now: () => 0,
      }
      const input = definition.value(inputs, context)
      inputMeasure(node)?.(input)
      constants.set(node, input)
      return true
    } catch {
      return false
    }
  }
}

/** The value of a pin whose wires all come from constants. Throws PinError if it does not fit. */
export function constantPin(node: Node, id: string, pin: InPin, facts: Facts): unknown {
  const wires = node.wires.get(id)
  if (!wires) return facts.literal(node, id, pin)
  const values = wires.map((wire) =>
    converterFor(id, pin, facts.typeOf(wire, pin))(facts.constants.get(wire.node)?.[wire.pin]),
  )
  return pin.several ? values.filter((value) => value !== undefined) : finishPin(id, pin, values[0])
}

/** The storage that a block works on, if its name is a constant. */
export function constantStorage(node: Node, facts: Pick<Facts, 'constants'>): string | undefined {
  for (const [id, { type }] of node.in) {
    if (type !== 'storage') continue
    const [wire] = node.wires.get(id) ?? []
    const name = wire ? facts.constants.get(wire.node)?.[wire.pin] : node.literals.get(id)
    return typeof name === 'string' ? name : undefined
  }
  return undefined
}

/** `ValueContext.groupedBy` of a block. */
export function groupedBy(
  node: Node,
  facts: Pick<Facts, 'constants'>,
): NonNullable<ValueContext['groupedBy']> {
  return (pin, column) => {
    const [wire, other] = node.wires.get(pin) ?? []
    if (!wire || other) return undefined
    const { expression } = wire.node
    const root = expression?.parsed.root
    const name = column ?? (root?.kind === 'member' ? root.key : undefined)
    const [rows, ...more] = expression ? expression.wires.values() : [wire]
    if (rows?.pin !== 'rows' || more.length > 0 || rows.node.wires.has('group')) return undefined
    const storage = constantStorage(rows.node, facts)
    const found = columnsOf(rows.node).find((one) => one.name === name)
    return storage !== undefined && found?.type === 'field' ? `${storage}.${found.field}` : undefined
  }
}

function columnsOf({ definition, literals }: Node): readonly RowColumn[] {
  try {
    return (definition.kind === 'flow' && definition.columns?.(Object.fromEntries(literals))) || []
  } catch {
    // The block has a problem of its own.
    return []
  }
}

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
