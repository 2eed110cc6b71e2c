import type { Listens } from '../../../blocks/block.ts'
import { namesOf } from '../../../expressions/language/expression-names.ts'
import type { Steps } from '../../../shared/in-turns.ts'
import type { Graph, GraphProblem, Node, PinExpression } from '../blueprint-graph.ts'
import type { Wiring } from '../graph-wiring.ts'
import { expressionProblem } from './expression-problem.ts'
import { isRunName, type RunName } from './run-names.ts'

/** What there is in a run besides `user` and `env`, by what started it. */
const known: Readonly<Record<Listens, readonly RunName[]>> = {
  http: ['params', 'query', 'body', 'headers', 'request'],
  page: ['params', 'query', 'body', 'headers', 'request'],
  function: ['params'],
  storage: [],
  schedule: [],
  failure: [],
}

const flows: Readonly<Record<Listens, string>> = {
  http: 'an endpoint',
  page: 'a page',
  function: 'a custom function, which gets what it needs as its parameters (params)',
  storage: 'a storage event, which has no request: read it from its trigger',
  schedule: 'a schedule, which has no request',
  failure: 'a failure, which has no request: read it from its trigger',
}

/**
 * Names of the run that are not there in a flow that reaches the expression. Notes on each expression what starts the flows
 * that reach it: what `params` means depends on it.
 */
export function* runNameProblems(graph: Graph, { behind }: Pick<Wiring, 'behind'>): Steps<GraphProblem[]> {
  if (graph.expressions.length === 0) return []
  for (const trigger of graph.nodes) {
    if (trigger.definition.kind !== 'trigger') continue
    yield
    for (const expression of yield* expressionsBehind(trigger, behind)) expression.reachedBy.add(trigger)
  }
  const problems: GraphProblem[] = []
  for (const { expression } of graph.expressions) {
    yield
    if (expression) problems.push(...problemsOf(expression))
  }
  return problems
}

function problemsOf(expression: PinExpression): GraphProblem[] {
  const { owner, pin, parsed, reachedBy } = expression
  return namesOf(parsed).flatMap(({ name, inBlocks, start }) => {
    if (inBlocks || !isRunName(name) || name === 'user' || name === 'env') return []
    const without = [...reachedBy]
      .flatMap(({ definition }) => (definition.kind === 'trigger' ? [definition.on] : []))
      .find((on) => !known[on].includes(name))
    if (without === undefined) return []
    return [expressionProblem(owner, pin, `There is no ${name} in the flow of ${flows[without]}.`, start)]
  })
}

/** The expressions that a trigger's flow evaluates, those of its own pins too. */
function* expressionsBehind(trigger: Node, behind: Wiring['behind']): Steps<readonly PinExpression[]> {
  const seen = new Set<Node>([trigger])
  const queue = [trigger]
  const found: PinExpression[] = []
  const visit = (node: Node) => {
    if (seen.has(node)) return
    seen.add(node)
    queue.push(node)
  }
  for (let node = queue.pop(); node; node = queue.pop()) {
    yield
    if (node.expression) found.push(node.expression)
    for (const [pin, out] of node.out)
      if (out.type === 'flow' && node.definition.kind !== 'value') behind(node, pin).forEach(visit)
    for (const [pin, wires] of node.wires)
      if (node.in.get(pin)?.type !== 'flow')
        for (const wire of wires) if (wire.node.definition.kind === 'value') visit(wire.node)
  }
  return found
}
