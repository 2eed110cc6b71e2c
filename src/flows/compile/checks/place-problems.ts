import type { InPin } from '../../../blocks/pin.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import type { Problem } from '../../../shared/errors.ts'
import type { Graph, Node } from '../blueprint-graph.ts'

/** Values that depend on themselves, and frame pins that are read outside their frame. */
export function* placeProblems(graph: Graph): Steps<Problem[]> {
  const problems: Problem[] = []
  const framesOf = new Map<Node, ReadonlySet<Node>>()
  const open = new Set<Node>()

  /** The blocks whose frame pins this block's value depends on. */
  function frames(node: Node): ReadonlySet<Node> {
    const known = framesOf.get(node)
    if (known) return known
    open.add(node)
    const all = new Set<Node>()
    for (const [id, pin] of node.in) {
      if (pin.type === 'flow') continue
      for (const frame of framesOfPin(node, id, pin)) all.add(frame)
    }
    open.delete(node)
    framesOf.set(node, all)
    return all
  }

  function framesOfPin(node: Node, id: string, pin: InPin): Set<Node> {
    const needed = new Set<Node>()
    for (const wire of node.wires.get(id) ?? []) {
      const out = wire.node.out.get(wire.pin)
      // What a visitor does comes from outside: a form may show again what it was sent.
      if (out?.event) continue
      if (out?.frame) {
        needed.add(wire.node)
      } else if (wire.node.definition.kind === 'value') {
        if (open.has(wire.node)) {
          problems.push(cycleProblem(node, id))
          continue
        }
        for (const frame of frames(wire.node)) needed.add(frame)
      }
    }
    if (pin.perFrame) needed.delete(node)
    return needed
  }

  for (const node of graph.nodes) {
    yield
    if (node.definition.kind === 'value') {
      frames(node)
      continue
    }
    for (const [id, pin] of node.in) {
      if (pin.type === 'flow') continue
      const outside = framesOfPin(node, id, pin)
      const [owner] = outside
      if (owner) {
        const message = `The value exists only inside ${owner.block.type}: only blocks that lead to its result pin can read it.`
        problems.push({ block: node.block.guid, pin: id, message })
      }
    }
  }
  return problems
}

function cycleProblem({ block }: Node, pin: string): Problem {
  return { block: block.guid, pin, message: 'The value depends on itself: remove one wire of the cycle.' }
}

/** Blocks and expressions: each is a call within a call when the value is worked out, and 1,400 of them end the stack. */
const MOST_BEHIND = 500

/**
 * A value that is worked out through too many blocks, one behind the other. Before every other check, which follow values by calls.
 * Values that depend on themselves are the affair of another check.
 */
export function* deepValues(graph: Graph): Steps<Problem[]> {
  const depths = new Map<Node, number>()
  for (const start of graph.nodes) {
    yield
    const waiting = [start]
    const open = new Set<Node>()
    for (let node = waiting.at(-1); node; node = waiting.at(-1)) {
      const behind = depths.has(node) ? [] : valuesBehind(node)
      const unknown = open.has(node) ? [] : behind.filter((one) => !depths.has(one) && !open.has(one))
      open.add(node)
      if (unknown.length > 0) {
        waiting.push(...unknown)
        continue
      }
      waiting.pop()
      if (depths.has(node)) continue
      const depth = 1 + behind.reduce((most, one) => Math.max(most, depths.get(one) ?? 0), 0)
      if (depth > MOST_BEHIND) return [tooDeep(node)]
      depths.set(node, depth)
    }
  }
  return []
}

function valuesBehind(node: Node): Node[] {
  const found: Node[] = []
  for (const [id, pin] of node.in) {
    if (pin.type === 'flow') continue
    for (const wire of node.wires.get(id) ?? []) {
      const out = wire.node.out.get(wire.pin)
      if (wire.node.definition.kind === 'value' && !out?.event && !out?.frame) found.push(wire.node)
    }
  }
  return found
}

function tooDeep({ block }: Node): Problem {
  return {
    block: block.guid,
    message: `The value is worked out through more than ${MOST_BEHIND} blocks, one behind the other. Put them into one expression, or into a custom function.`,
  }
}
