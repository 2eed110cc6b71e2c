import type { Steps } from '../../shared/cooperative.ts'
import type { Node } from './blueprint-graph.ts'
import { addressFields } from './expressions/pin-expression.ts'
import type { Wiring } from './graph-wiring.ts'

/** The names of request parameters that the blocks behind a trigger ask for: what the API documentation can promise. */
export function* requestFields(trigger: Node, wiring: Wiring): Steps<readonly string[]> {
  const fields = new Set<string>()
  const seen = new Set<Node>([trigger])
  const queue = [trigger]
  const visit = (node: Node) => {
    if (seen.has(node)) return
    seen.add(node)
    queue.push(node)
  }
  for (let node = queue.pop(); node; node = queue.pop()) {
    yield
    if (node.expression) for (const field of addressFields(node.expression)) fields.add(field)
    const field = node.literals.get('field')
    if (node.definition.kind === 'value' && node.definition.fromRequest && typeof field === 'string')
      fields.add(field)
    for (const [pin, out] of node.out) if (out.type === 'flow') wiring.behind(node, pin).forEach(visit)
    for (const [pin, wires] of node.wires) {
      if (node.in.get(pin)?.type === 'flow') continue
      for (const wire of wires) if (wire.node.definition.kind === 'value') visit(wire.node)
    }
  }
  return [...fields].sort()
}
