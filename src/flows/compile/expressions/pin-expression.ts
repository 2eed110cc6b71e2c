import type { Listens } from '../../../blocks/block.ts'
import { callableFunctions } from '../../../expressions/functions/callable-functions.ts'
import { type Expression, type NameUse, namesOf } from '../../../expressions/language/expression.ts'
import type { Graph, Node, PinExpression, Wire } from '../blueprint-graph.ts'

/** How a place that reads an out-pin is found again: `goods.document`, or `item` alone. */
export function readKey(name: string, inBlocks: boolean, pin?: string): string {
  return `${inBlocks ? 'blocks.' : ''}${name}${pin === undefined ? '' : `.${pin}`}`
}

/** The wire of a part that is nothing but a name, or the name of a block and its pin. */
export function referencedWire(part: Expression, { wires }: Pick<PinExpression, 'wires'>): Wire | undefined {
  const key = referencedKey(part)
  return key === undefined ? undefined : wires.get(key)
}

/** The {@link readKey} of such a part. */
export function referencedKey(part: Expression): string | undefined {
  if (part.kind === 'name' && !part.inBlocks) return readKey(part.name, false)
  if (part.kind !== 'member' || part.of.kind !== 'name') return undefined
  return readKey(part.of.name, part.of.inBlocks, part.key)
}

/** Names whose values come from the client. In a custom function, `params` come from its caller. */
const sentNames: ReadonlySet<string> = new Set(['params', 'query', 'body', 'headers'])

/** The parameter that a place reads, if what it reads was sent by the client, or was given by the caller of a function. */
export function sentName({ name, inBlocks, path }: NameUse): string | undefined {
  return !inBlocks && sentNames.has(name) ? (path[0] ?? name) : undefined
}

/** The first parameter that an expression reads of what starts such triggers. */
export function sentBy(expression: PinExpression, from: ReadonlySet<Listens>): string | undefined {
  const { parsed, runNames: names, reachedBy } = expression
  if (names.size === 0 || ![...reachedBy].some((trigger) => startedBy(trigger, from))) return undefined
  const fits = (use: NameUse) => from.has('http') || use.name === 'params'
  return namesOf(parsed)
    .map((use) => (fits(use) ? sentName(use) : undefined))
    .find((one) => one !== undefined)
}

/** The field that an expression reads of what a wire gives: `name` of `form.values.name`. */
export function fieldOf({ parsed, wires }: PinExpression, wire: Wire): string | undefined {
  return namesOf(parsed).find(
    ({ name, inBlocks, path }) => wires.get(readKey(name, inBlocks, path[0])) === wire && path.length > 1,
  )?.path[1]
}

/** The names of the address's parameters that an expression reads. */
export function addressFields({ parsed }: PinExpression): readonly string[] {
  return namesOf(parsed).flatMap(({ name, inBlocks, path: [field] }) =>
    !inBlocks && (name === 'params' || name === 'query') && field !== undefined ? [field] : [],
  )
}

function startedBy({ definition }: Node, from: ReadonlySet<Listens>): boolean {
  return definition.kind === 'trigger' && from.has(definition.on)
}

let known: ReturnType<typeof callableFunctions> | undefined

/** The functions and methods of all expressions, joined at the first use. */
export function callables(): ReturnType<typeof callableFunctions> {
  known ??= callableFunctions()
  return known
}

/** Finds what `item` and `index` mean: the innermost block around that goes through a list. */
interface FrameReader {
  /** The wire from the frame's pin, or what keeps it from being found. */
  read(owner: Node, pin: string, name: string): Wire | string
}

/** A pin that is read for its value, with what it is read from. */
interface Reading {
  readonly owner: Node
  readonly pin: string
  readonly wires: ReadonlyMap<string, Wire>
}

interface Reader {
  readonly node: Node
  readonly pin: string
}

/** `pending`: the expressions, which are no wires of the graph yet. */
export function frameReader({ nodes }: Graph, pending: readonly Reading[]): FrameReader {
  let known: ReadonlyMap<Node, readonly Reader[]> | undefined
  return {
    read(owner, pin, name) {
      known ??= readersOf(nodes, pending)
      const found = [...framesAround(owner, pin, known)].filter((node) => node.out.has(name))
      const [first] = found
      if (!first && name === 'doc')
        return 'doc exists only in a condition on a stored document, such as the pin if.'
      if (!first)
        return `${name} exists only in what is done for each element of a list, and this pin is no part of that.`
      if (found.length > 1)
        return `${name} may be of several blocks here: write the name of the block before it, such as each.${name}.`
      return { node: first, pin: name }
    },
  }
}

/** The nearest frames on each way from a pin to a block that goes through a list. */
function framesAround(
  owner: Node,
  pin: string,
  readers: ReadonlyMap<Node, readonly Reader[]>,
): ReadonlySet<Node> {
  if (owner.in.get(pin)?.perFrame) return new Set([owner])
  const frames = new Set<Node>()
  const seen = new Set<Node>([owner])
  const queue = [owner]
  const goOn = (node: Node) => {
    if (seen.has(node)) return
    seen.add(node)
    queue.push(node)
  }
  for (let node = queue.pop(); node; node = queue.pop()) {
    if (node.definition.kind === 'value') {
      for (const reader of readers.get(node) ?? []) {
        if (reader.node.in.get(reader.pin)?.perFrame) frames.add(reader.node)
        else goOn(reader.node)
      }
      continue
    }
    for (const wire of flowWiresInto(node)) {
      if (wire.node.definition.kind !== 'flow') continue
      if (wire.pin === 'each') frames.add(wire.node)
      else goOn(wire.node)
    }
  }
  return frames
}

function readersOf(
  nodes: readonly Node[],
  pending: readonly Reading[],
): ReadonlyMap<Node, readonly Reader[]> {
  const readers = new Map<Node, Reader[]>()
  const add = (source: Node, reader: Reader) => {
    const known = readers.get(source)
    if (known) known.push(reader)
    else readers.set(source, [reader])
  }
  for (const node of nodes)
    for (const [pin, wires] of node.wires)
      if (node.in.get(pin)?.type !== 'flow') for (const wire of wires) add(wire.node, { node, pin })
  for (const { owner, pin, wires } of pending)
    for (const wire of wires.values()) add(wire.node, { node: owner, pin })
  return readers
}

function flowWiresInto(node: Node): readonly Wire[] {
  return [...node.wires].flatMap(([id, wires]) => (node.in.get(id)?.type === 'flow' ? wires : []))
}
