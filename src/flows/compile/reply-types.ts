import {
  type Argument,
  type Entry,
  type Expression,
  type NameUse,
  namesOf,
  partsOf,
  type Spread,
} from '../../expressions/language/expression.ts'
import {
  anyType,
  listOf,
  numberType,
  type ObjectType,
  objectType,
  textType,
  type ValueType,
  wholeType,
} from '../../expressions/language/value-types.ts'
import type { FieldsOf } from '../../shared/field-rule.ts'
import type { Node, PinExpression, Wire } from './blueprint-graph.ts'
import type { Facts } from './constants/fold-constants.ts'
import { type SampleOf, type Sampler, sampler } from './constants/sample-values.ts'
import { storedTypes, typeOfPin } from './expressions/document-types.ts'
import { readKey, referencedWire } from './expressions/pin-expression.ts'
import { checkTypes, declarations } from './expressions/type-problems.ts'
import { reachableBlocks } from './graph-wiring.ts'
import { TypedSamples } from './typed-samples.ts'

/** Of a type that others are made from: those that hold each other twice would grow without end. */
const MOST_PARTS = 2_000

interface ReplySources {
  readonly trigger: Node
  readonly reached: readonly Node[]
  readonly facts: Facts
  readonly fieldsOf: FieldsOf
}

/** The types of what the blocks of a flow get. */
export class ReplyTypes {
  readonly #sources: ReplySources
  readonly #runs: ReadonlySet<Node>
  readonly #samples = new TypedSamples()
  readonly #declared = declarations()
  readonly #typeIn: (storage: string) => ObjectType
  readonly #storageOf: (node: Node) => string | undefined
  /** With samples in place of evaluating expressions, and without. */
  readonly #typed: Sampler
  readonly #plain: Sampler
  readonly #known = new Map<Node, ValueType>()
  readonly #bodies = new Map<string, ObjectType>()
  readonly #open = new Set<Node>()

  constructor(sources: ReplySources) {
    const { trigger, reached, facts, fieldsOf } = sources
    this.#sources = sources
    this.#runs = new Set([trigger, ...reached])
    this.#typeIn = storedTypes(fieldsOf)
    this.#storageOf = storageReader(facts)
    // A reply that several triggers share may name blocks that only run behind another one: those give nothing.
    const sampleOf: SampleOf = (_type, wire) =>
      this.#isSilent(wire) ? undefined : this.#samples.of(this.#typeOfWire(wire) ?? typeOfPin(wire))
    const typed = (wire: Wire) => {
      const type = this.#isSilent(wire) ? undefined : this.#typeOfWire(wire)
      return type && this.#samples.of(type)
    }
    this.#typed = sampler(facts, sampleOf, undefined, typed)
    this.#plain = sampler(facts, sampleOf)
  }

  #isSilent({ node }: Wire): boolean {
    return node.definition.kind !== 'value' && !this.#runs.has(node)
  }

  #sampleAt(node: Node, id: string): unknown {
    const pin = node.in.get(id)
    return pin && this.#typed(node, id, pin)
  }

  /** A status or headers that each run replies with: of a reply that triggers share, they may say by which block the run came. */
  plainAt(node: Node, id: string): unknown {
    const pin = node.in.get(id)
    const [wire] = node.wires.get(id) ?? []
    const expression = wire?.node.expression
    const isFixed =
      !expression || namesOf(expression.parsed).every((use) => this.#isSettled(use, expression, node))
    return pin && isFixed ? this.#plain(node, id, pin) : undefined
  }

  /** Whether it is known before a run whether a name gives something: each run to the reply comes by its block, or none does. */
  #isSettled({ name, inBlocks, path }: NameUse, expression: PinExpression, reply: Node): boolean {
    const wire = expression.wires.get(readKey(name, inBlocks, path[0]))
    if (!wire || path.length > 1) return false
    return this.#isSilent(wire) || this.#runsBefore(wire, reply)
  }

  #runsBefore(wire: Wire, reply: Node): boolean {
    if (wire.node.definition.kind === 'value' || this.#isSilent(wire)) return false
    const behind = new Set([wire.node, ...reachableBlocks(wire.node, this.#sources.facts)])
    const sources = (reply.wires.get('flow') ?? []).filter((one) => !this.#isSilent(one))
    return sources.every((one) => behind.has(one.node))
  }

  /** One for each way in which an expression chooses what it gives. */
  typesAt(node: Node, id: string): readonly ValueType[] {
    const [wire, ...others] = node.wires.get(id) ?? []
    const expression = wire?.node.expression
    if (!expression || others.length > 0) return [this.#typeAt(node, id)]
    const isThere = (part: Expression) => {
      const read = referencedWire(part, expression)
      return (
        read !== undefined && this.#runsBefore(read, node) && read.node.out.get(read.pin)?.type === 'document'
      )
    }
    const ways = waysOf(expression.parsed.root, isThere).slice(0, MOST_WAYS)
    if (ways[0] === expression.parsed.root) return [this.#typeAt(node, id)]
    const input = ways.filter((root) => {
      const read = referencedWire(root, expression)
      return !read || !this.#isSilent(read)
    })
    return input.map((root) => this.#checked({ ...expression, parsed: { ...expression.parsed, root } }))
  }

  #typeAt(node: Node, id: string): ValueType {
    const [wire, ...others] = node.wires.get(id) ?? []
    const type = wire && others.length === 0 ? this.#typeOfWire(wire) : undefined
    return boundedType(type ?? this.#samples.typeOf(this.#sampleAt(node, id)))
  }

  /** Undefined for what a block makes of its pins, and for what only a run knows. */
  #typeOfWire(wire: Wire): ValueType | undefined {
    const { node, pin } = wire
    if (node.expression) return node.expression.where ? undefined : this.#typeOfExpression(node)
    const out = node.out.get(pin)
    if (this.#isSilent(wire)) return typeOfPin(wire)
    if (pin === 'rows') return listOf(this.#rowAt(node))
    if (out?.type === 'document') return this.#documentAt(node)
    if (out?.type === 'documents') return listOf(this.#documentAt(node))
    if (pin === 'body' && node.definition.kind === 'trigger') return this.#bodyOf(node)
    const list = out?.takenFrom ?? (out?.frame && pin === 'item' ? 'array' : undefined)
    if (list !== undefined) return this.#elementAt(node, list)
    return this.#typeOfFrames(node, pin)
  }

  /** A list of what each frame gives. */
  #typeOfFrames(node: Node, pin: string): ValueType | undefined {
    if (node.definition.kind !== 'value' || node.out.get(pin)?.type !== 'array') return undefined
    const [frame] = [...node.in].filter(([, { perFrame }]) => perFrame)
    return frame && !this.#open.has(node)
      ? this.#guarded(node, () => listOf(this.#typeAt(node, frame[0])))
      : undefined
  }

  #rowAt(node: Node): ObjectType {
    const { definition, literals, wires } = node
    if (definition.kind !== 'flow' || !definition.columns || wires.has('group') || wires.has('values'))
      return objectType
    try {
      const fields = definition.columns(Object.fromEntries(literals)).map(({ name, type, field = '' }) => {
        const ofField = this.#documentAt(node).fields[field] ?? anyType
        const types = { field: ofField, number: numberType, whole: wholeType, any: anyType }
        return [name, types[type]] as const
      })
      return { kind: 'object', open: false, fields: Object.fromEntries(fields) }
    } catch {
      return objectType
    }
  }

  #elementAt(node: Node, list: string): ValueType | undefined {
    if (!node.wires.has(list)) return this.#documentAt(node)
    const type = this.#typeAt(node, list)
    return type.kind === 'list' ? type.of : undefined
  }

  #typeOfExpression(node: Node): ValueType {
    const { expression } = node
    const done = this.#known.get(node)
    if (done || !expression || this.#open.has(node)) return done ?? anyType
    const type = this.#guarded(node, () => this.#checked(expression))
    this.#known.set(node, type)
    return type
  }

  #checked(expression: PinExpression): ValueType {
    const ofWire = (wire: Wire) => this.#typeOfWire(wire) ?? this.#ofMade(wire)
    const present = {
      ofWire,
      ofBody: this.#bodyOf(this.#sources.trigger),
      ofUser: userType,
      ofRequest: requestType,
    }
    return boundedType(checkTypes(expression, this.#declared, present).type)
  }

  /** Of what a block makes of values: its sample has their types. */
  #ofMade(wire: Wire): ValueType | undefined {
    const { node, pin } = wire
    const out = node.out.get(pin)
    if (node.definition.kind !== 'value' || !out || this.#open.has(node)) return undefined
    if (!['any', 'object', 'array'].includes(out.type)) return undefined
    return this.#guarded(node, () => boundedType(this.#samples.typeOf(this.#typed.ofWire(wire))))
  }

  #guarded<T>(node: Node, work: () => T): T {
    this.#open.add(node)
    try {
      return work()
    } finally {
      this.#open.delete(node)
    }
  }

  #documentAt(node: Node): ObjectType {
    const storage = this.#storageOf(node)
    if (storage === undefined) return objectType
    const expand = expandIn(node)
    const type = this.#typeIn(storage)
    return expand.length === 0 ? type : { ...type, stored: { storage, path: '', expand } }
  }

  /** What a trigger takes whose fields are those of a storage. */
  #bodyOf({ definition, settings }: Node): ObjectType | undefined {
    const storage = definition.kind === 'trigger' ? settings.schema_storage : undefined
    if (typeof storage !== 'string') return undefined
    // A body has neither `_meta` nor what a block expands.
    const { _meta: _, _expand: __, ...fields } = this.#typeIn(storage).fields
    const body = this.#bodies.get(storage) ?? { kind: 'object', open: true, fields }
    this.#bodies.set(storage, body)
    return body
  }
}

/** Of expressions that choose among many values. */
const MOST_WAYS = 16

/** The parts of an expression whose value it gives: `a ?? b` and `c ? a : b` give one of two, unless it is known that `a` is there. */
function waysOf(root: Expression, isThere: (part: Expression) => boolean): readonly Expression[] {
  if (root.kind === 'choice') return [...waysOf(root.then, isThere), ...waysOf(root.otherwise, isThere)]
  if (root.kind !== 'logical' || root.operator === '&&') return [root]
  const left = waysOf(root.left, isThere)
  return left.some(isThere) ? left : [...left, ...waysOf(root.right, isThere)]
}

function ofTexts(names: readonly string[]): ObjectType {
  return { kind: 'object', open: true, fields: Object.fromEntries(names.map((name) => [name, textType])) }
}

const userType = ofTexts(['username', 'email', 'firstname', 'lastname', 'language'])
const requestType = ofTexts(['method', 'url', 'path', 'ip'])

function boundedType(type: ValueType): ValueType {
  return hasMoreParts(type, MOST_PARTS) ? anyType : type
}

export function hasMoreParts(type: ValueType, most: number): boolean {
  let left = most
  const count = (one: ValueType): boolean => {
    if (--left < 0) return false
    if (one.kind === 'list') return count(one.of)
    if (one.kind !== 'object' || one.stored) return true
    return Object.values(one.fields).every(count)
  }
  return !count(type)
}

/** The storage that a block works on, if it is known before a run. */
function storageReader(facts: Facts): (node: Node) => string | undefined {
  const sample = sampler(facts)
  return (node) => {
    for (const [id, pin] of node.in) {
      if (pin.type !== 'storage') continue
      const name = sample(node, id, pin)
      return typeof name === 'string' ? name : undefined
    }
    return undefined
  }
}

/** The texts that the pin `expand` of a block holds, or its expression: the references among them may be followed. */
function expandIn(node: Node): readonly string[] {
  const literal = node.literals.get('expand')
  if (Array.isArray(literal)) return literal.map(String)
  return (node.wires.get('expand') ?? []).flatMap(({ node: { expression } }) =>
    expression ? textsIn(expression.parsed.root) : [],
  )
}

function textsIn(part: Argument | Entry | Spread): readonly string[] {
  if (part.kind === 'literal') return typeof part.value === 'string' ? [part.value] : []
  return partsOf(part).flatMap(textsIn)
}
