/**
 * Values are pulled: a block without flow pins is evaluated once, when another block needs a value of it, and its values
 * stay in its slots. Two things empty the slots again: a flow block that the value depends on runs (again), and the next
 * frame of a block with `perFrame` pins begins.
 *
 * All of this is worked out here, once per deploy. At run time only slots are read.
 */

import { PinError, type ValueBlock } from '../../blocks/block.ts'
import type { ValueContext } from '../../blocks/context.ts'
import type { InPin } from '../../blocks/pin.ts'
import { converterFor, finisherFor, identity } from '../../blocks/pins/convert-pin.ts'
import { isNamedType } from '../../shared/pin-type.ts'
import { UnparsedText } from '../../storage/stored-json.ts'
import { SerializationConflict } from '../../storage/unit-of-work.ts'
import { BlockFailure, RunStopped } from './block-failure.ts'
import type { Node, Wire } from './blueprint-graph.ts'
import { constantText, type Facts, groupedBy } from './constants/fold-constants.ts'
import { expressionGetter } from './expressions/expression-getter.ts'
import { type Frame, type SlotPin, UNSET } from './frame.ts'
import type { BlockCounts } from './graph-wiring.ts'
import { namedGetter } from './named-getter.ts'
import { inputMeasure, wiresMeasure } from './value-size.ts'

type Getter = (frame: Frame) => unknown

export interface Inputs {
  /** The declared pins' values, converted. */
  readonly gather: (frame: Frame) => Record<string, unknown>
  /** The values of the pins that the settings added; those that hold nothing are absent. */
  readonly more: (frame: Frame) => Record<string, unknown>
}

/** Numbers the slots of one flow and compiles what is pulled in it. */
export interface ValueCompiler {
  inputsOf(node: Node): Inputs
  /** As `storeOf`, for the event pins of a value block; everything that was evaluated is forgotten first. */
  storeEventOf(node: Node): (frame: Frame, input: Readonly<Record<string, unknown>>) => void
  /** Writes what a block gave to the slots that are read, and empties those that depend on it. */
  storeOf(node: Node): (frame: Frame, input: Readonly<Record<string, unknown>>) => void
  slots(): unknown[]
  /** Of each slot. */
  slotPins(): SlotPin[]
  /** Known when the flow is compiled; undefined for what no block reads. */
  readonly slotOf: (wire: Wire) => number | undefined
}

const nothing: Readonly<Record<string, unknown>> = Object.freeze({})

export function valueCompiler(facts: Facts, counts: BlockCounts): ValueCompiler {
  return new FlowValues(facts, counts)
}

type Store = (frame: Frame, input: Readonly<Record<string, unknown>>) => void

/** Owns the numbers of the slots of one flow. What its methods give closes over numbers, not over it. */
class FlowValues implements ValueCompiler {
  readonly #facts: Facts
  readonly #counts: BlockCounts
  readonly #numbers = new Map<Node, Map<string, number>>()
  readonly #initial: unknown[] = []
  readonly #evaluators = new Map<Node, (frame: Frame) => void>()

  constructor(facts: Facts, counts: BlockCounts) {
    this.#facts = facts
    this.#counts = counts
  }

  slots(): unknown[] {
    return this.#initial.slice()
  }

  slotPins(): SlotPin[] {
    const pins: SlotPin[] = []
    for (const [{ block, definition }, numbers] of this.#numbers)
      for (const [pin, slot] of numbers)
        pins[slot] = { block: block.guid, type: block.type, kind: definition.kind, pin }
    return pins
  }

  readonly slotOf = ({ node, pin }: Wire): number | undefined => this.#numbers.get(node)?.get(pin)

  #slotOf(node: Node, pin: string): number {
    const pins = this.#numbers.get(node) ?? new Map<string, number>()
    this.#numbers.set(node, pins)
    const known = pins.get(pin)
    if (known !== undefined) return known
    const slot = this.#initial.length
    this.#initial.push(node.definition.kind === 'value' ? UNSET : undefined)
    pins.set(pin, slot)
    return slot
  }

  #getterOf(wire: Wire): Getter {
    if (wire.node.out.get(wire.pin)?.event) {
      const slot = this.#slotOf(wire.node, wire.pin)
      return (frame) => (frame.slots[slot] === UNSET ? undefined : frame.slots[slot])
    }
    const folded = this.#facts.constants.get(wire.node)
    if (folded) {
      const value = folded[wire.pin]
      return () => value
    }
    const { expression } = wire.node
    if (expression) return expressionGetter(wire.node, expression, this.#facts, (one) => this.#getterOf(one))
    const slot = this.#slotOf(wire.node, wire.pin)
    if (wire.node.definition.kind !== 'value' || wire.node.out.get(wire.pin)?.frame) {
      return (frame) => (frame.slots[slot] === UNSET ? undefined : frame.slots[slot])
    }
    const { definition } = wire.node
    const evaluate = this.#evaluatorOf(
      wire.node,
      this.#facts.probe?.value(wire.node, definition) ?? definition,
    )
    return (frame) => {
      if (frame.slots[slot] === UNSET) evaluate(frame)
      return frame.slots[slot]
    }
  }

  #evaluatorOf(node: Node, definition: ValueBlock): (frame: Frame) => void {
    const known = this.#evaluators.get(node)
    if (known) return known
    let evaluate: ((frame: Frame) => void) | undefined
    // Registered before its inputs are compiled, because a block's perFrame pin may lead back to its own frame pins.
    this.#evaluators.set(node, (frame) => evaluate?.(frame))
    evaluate = this.#evaluation(node, definition)
    return evaluate
  }

  #evaluation(node: Node, definition: ValueBlock): (frame: Frame) => void {
    const { gather, more } = this.inputsOf(node)
    const facts = this.#facts
    const wired = facts.wired(node)
    const grouped = groupedBy(node, facts)
    const store = this.storeOf(node)
    const executed = this.#counts.of(definition)
    const measure = inputMeasure(node)
    const readsVariables = definition.readsVariables === true
    return (frame) => {
      frame.run.steps.checkpoint()
      executed.count += 1
      let input: Readonly<Record<string, unknown>>
      try {
        const context: ValueContext = {
          settings: node.settings,
          more: more(frame),
          block: node.block.guid,
          variables: readsVariables ? frame.run.variables : undefined,
          request: frame.run.request,
          user: frame.run.user,
          wired,
          groupedBy: grouped,
          now: frame.run.environment.clock,
        }
        input = definition.value(gather(frame), context)
        if (measure) frame.run.steps.chargeSize(measure(input))
      } catch (error) {
        throw failureOf(node, error, facts)
      }
      store(frame, input)
    }
  }

  #pinGetter(node: Node, id: string, pin: InPin): Getter | { constant: unknown } {
    const facts = this.#facts
    if (isNamedType(pin.type)) return namedGetter(node, id, pin.type, facts.literal(node, id, pin))
    const text = constantText(node, id, pin, facts)
    if (text) return { constant: text }
    const wires = node.wires.get(id)
    if (!wires) return { constant: facts.literal(node, id, pin) }
    const converters = wires.map((wire) => converterFor(id, pin, facts.typeOf(wire, pin)))
    const getters = wires.map((wire) => this.#getterOf(wire))
    if (pin.several) return severalOf(getters, converters, wiresMeasure(node, id, pin))
    const [get] = getters
    const [convert] = converters
    if (!get || !convert) return { constant: undefined }
    const plain = pin.required === undefined && pin.default === undefined
    if (plain) return convert === identity ? get : (frame) => convert(get(frame))
    const finish = finisherFor(id, pin)
    return (frame) => finish(convert(get(frame)))
  }

  inputsOf(node: Node): Inputs {
    const declared: [string, Getter][] = []
    const added: [string, Getter][] = []
    const constants: Record<string, unknown> = {}
    const addedConstants: Record<string, unknown> = {}
    for (const [id, pin] of node.in) {
      if (pin.type === 'flow') continue
      const extra = node.added.has(id)
      const getter = pin.perFrame ? this.#perFrame(node, id, pin) : this.#pinGetter(node, id, pin)
      if (typeof getter === 'function') (extra ? added : declared).push([id, getter])
      else if (!extra) constants[id] = getter.constant
      else if (getter.constant !== undefined) addedConstants[id] = getter.constant
    }
    const gather = gatherer(declared, constants)
    const more = sparseGatherer(added, addedConstants)
    const { probe } = this.#facts
    if (!probe) return { gather, more }
    const catches = this.#facts.wired(node)('error')
    const probed = (one: Inputs['gather']) => probe.gather(node, one, catches)
    return { gather: probed(gather), more: added.length > 0 ? probed(more) : more }
  }

  /** A perFrame pin: each call opens a frame on the same slots, so what depends on the frame's pins is emptied first. */
  #perFrame(node: Node, id: string, pin: InPin): Getter | { constant: unknown } {
    if (!node.wires.has(id) && !node.literals.has(id)) return { constant: undefined }
    const getter = this.#pinGetter(node, id, pin)
    const pull = typeof getter === 'function' ? getter : () => getter.constant
    const framePins = [...node.out]
      .filter(([, out]) => out.frame)
      .map(([pinId]) => [pinId, this.#slotOf(node, pinId)] as const)
    const dependent = [...this.#facts.inFramesOf(node)]
    let resets: number[] | undefined
    return (frame) => {
      resets ??= this.#slotsOf(dependent)
      const emptied = resets
      return (values: Readonly<Record<string, unknown>>) => {
        // A frame counts as a block: maps in maps would otherwise hold the process for 10,000 items a tick.
        frame.run.steps.checkpoint()
        for (const slot of emptied) frame.slots[slot] = UNSET
        for (const [pinId, slot] of framePins) frame.slots[slot] = values[pinId]
        return pull(frame)
      }
    }
  }

  #slotsOf(nodes: readonly Node[]): number[] {
    return nodes.flatMap((node) => this.#evaluatedPins(node).map(([, slot]) => slot))
  }

  #evaluatedPins(node: Node): readonly (readonly [string, number])[] {
    return [...(this.#numbers.get(node) ?? [])].filter(([pin]) => isEvaluated(node, pin))
  }

  storeOf(node: Node): Store {
    const dependent = node.definition.kind === 'value' ? [] : [...this.#facts.dependents(node)]
    // Numbered on first use: slots are handed out while the rest of the flow is still being compiled.
    let written: readonly (readonly [string, number])[] | undefined
    let resets: number[] | undefined
    return (frame, input) => {
      written ??= this.#evaluatedPins(node)
      resets ??= this.#slotsOf(dependent)
      for (const [pin, slot] of written) frame.slots[slot] = input[pin]
      for (const slot of resets) frame.slots[slot] = UNSET
    }
  }

  storeEventOf(node: Node): Store {
    return (frame, input) => {
      this.#initial.forEach((value, slot) => {
        if (value === UNSET) frame.slots[slot] = UNSET
      })
      for (const [pin, slot] of this.#numbers.get(node) ?? [])
        if (node.out.get(pin)?.event) frame.slots[slot] = input[pin]
    }
  }
}

/** What all wires of a pin give, in a list: those that hold nothing are absent. */
function severalOf(
  getters: readonly Getter[],
  converters: readonly ((value: unknown) => unknown)[],
  measure: ((values: readonly unknown[]) => void) | undefined,
): Getter {
  return (frame) => {
    const values: unknown[] = []
    for (let i = 0; i < getters.length; i++) {
      const value = converters[i]?.(getters[i]?.(frame))
      if (value !== undefined) values.push(value)
    }
    measure?.(values)
    return values
  }
}

/** Whether the block's own code gives the pin's value; frame pins and event pins get it from elsewhere. */
function isEvaluated(node: Node, pin: string): boolean {
  const out = node.out.get(pin)
  return !out?.frame && !out?.event
}

/** Has every pin from the start, empty ones too: filling a copy then changes no shape. */
function gatherer(
  getters: readonly [string, Getter][],
  constants: Record<string, unknown>,
): (frame: Frame) => Record<string, unknown> {
  if (getters.length === 0) return sparseGatherer(getters, constants)
  const blank: Record<string, unknown> = { ...constants }
  for (const [id] of getters) blank[id] = undefined
  const pins = getters.map(([id, get]) => ({ id, get }))
  return (frame) => {
    const values = { ...blank }
    for (const pin of pins) values[pin.id] = pin.get(frame)
    return values
  }
}

function sparseGatherer(
  getters: readonly [string, Getter][],
  constants: Record<string, unknown>,
): (frame: Frame) => Record<string, unknown> {
  if (getters.length === 0) {
    const all = Object.keys(constants).length === 0 ? nothing : Object.freeze(constants)
    return () => all
  }
  return (frame) => {
    const values: Record<string, unknown> = { ...constants }
    for (const [id, get] of getters) {
      const value = get(frame)
      if (value !== undefined) values[id] = value
    }
    return values
  }
}

/** What a block threw, with the place where it happened. Failures of blocks that it pulled pass unchanged. */
export function failureOf(node: Node, error: unknown, facts: Facts): Error {
  // The whole run begins once more: no `error` pin hears of it.
  if (error instanceof SerializationConflict) return error
  if (error instanceof BlockFailure || error instanceof RunStopped || error instanceof UnparsedText)
    return error
  const at = { block: node.block.guid, type: node.block.type }
  if (!(error instanceof PinError)) return new BlockFailure(at, error)
  const { pin } = error
  const parameter = facts.requestParameter(node, pin)
  return new BlockFailure({ ...at, pin, parameter, argument: facts.functionParameter(node, pin) }, error)
}
