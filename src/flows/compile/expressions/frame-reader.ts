import type { Graph, Node, Wire } from '../blueprint-graph.ts'

/** Finds what `item` and `index` mean: the innermost block around that goes through a list. */
export interface FrameReader {
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
