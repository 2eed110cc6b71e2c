import type { GraphProblem, Node } from '../blueprint-graph.ts'

/** What is wrong with the expression on a pin. `start`: the zero-based column at fault; people count from 1. */
export function expressionProblem(owner: Node, pin: string, message: string, start?: number): GraphProblem {
  const { guid } = owner.block
  if (start === undefined) return { block: guid, pin, rule: 'expression', message }
  return {
    block: guid,
    pin,
    rule: 'expression',
    message: `${message} (column ${start + 1})`,
    column: start + 1,
  }
}
