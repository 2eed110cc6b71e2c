import type { Listens } from '../../../blocks/block.ts'
import { namesOf, partsOf } from '../../../expressions/language/expression.ts'
import { didYouMean } from '../../../expressions/language/new-text.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import { nearestName } from '../../../shared/names/nearest-name.ts'
import { requestFields } from '../../../shared/request-field.ts'
import type { Graph, GraphProblem, Node, PinExpression } from '../blueprint-graph.ts'
import type { Wiring } from '../graph-wiring.ts'
import type { DeployNote } from '../notes/deploy-note.ts'
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

/** `"Hello " + params.name` fails where the client leaves the parameter out, which nothing forbids and nothing tests. */
export function missingOperands({ owner, pin, parsed, reachedBy }: PinExpression): DeployNote[] {
  if (reachedBy.size === 0 || [...reachedBy].some((trigger) => !isAddress(trigger))) return []
  const always = [...reachedBy].map(alwaysSent)
  const { operands, tested } = operandsOf(parsed.root)
  return operands.flatMap(({ key, text, start }): DeployNote[] => {
    if (tested.has(text) || always.every((known) => known.has(key))) return []
    const message = `A client may leave ${key} out; then the request is refused. Write (${text} ?? …) with a default, or make the parameter required.`
    const { rule: _rule, ...problem } = expressionProblem(owner, pin, message, start)
    return [{ ...problem, level: 'warn' }]
  })
}

/** Parameters that are calculated with, and those that a condition looks at. One walk: an expression may have thousands of parts. */
function operandsOf(root: Part) {
  const operands: (SentRead & { readonly start: number })[] = []
  const tested = new Set<string>()
  const open: (readonly [Part, boolean])[] = [[root, false]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [part, isTest] = next
    const sides: readonly Part[] =
      part.kind === 'binary' && arithmetic.has(part.operator) ? [part.left, part.right] : []
    for (const side of sides) {
      const read = sentRead(side)
      if (read) operands.push({ ...read, start: side.start })
    }
    const read = isTest ? sentRead(part) : undefined
    if (read) tested.add(read.text)
    const test = part.kind === 'choice' ? part.test : part.kind === 'logical' ? part.left : undefined
    for (const one of partsOf(part)) if (!sides.includes(one)) open.push([one, isTest || one === test])
    for (const side of sides) if (!sentRead(side)) open.push([side, isTest])
  }
  return { operands: operands.sort((a, b) => a.start - b.start), tested }
}

type Part = Parameters<typeof partsOf>[0]

const arithmetic: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '**'])

interface SentRead {
  readonly key: string
  readonly text: string
}

/** A parameter of an address and nothing below it. */
export function sentRead(part: Part): SentRead | undefined {
  if (part.kind !== 'member' || part.of.kind !== 'name' || part.of.inBlocks) return undefined
  const { name } = part.of
  return name === 'params' || name === 'query' ? { key: part.key, text: `${name}.${part.key}` } : undefined
}

export function isAddress({ definition }: Node): boolean {
  return definition.kind === 'trigger' && definition.on !== 'function'
}

/** Parameters of the path, and those that the schema asks for or has a default of. */
export function alwaysSent({ literals, settings }: Node): ReadonlySet<string> {
  const uri = literals.get('uri') ?? literals.get('url')
  const inPath = typeof uri === 'string' ? [...uri.matchAll(placeholder)] : []
  const sure = requestFields(settings.schema).filter((field) => field.required || field.default !== undefined)
  return new Set([
    ...inPath.flatMap(([, braced, colon]) => braced ?? colon ?? []),
    ...sure.map(({ name }) => name),
  ])
}

const placeholder = /\{(\w+)(?:\.\.\.)?\}|:(\w+)/g

/**
 * Parameters that are nearly, but not quite, named by the address or the schema of a trigger. Others may come all the same: what a
 * schema does not name is passed on.
 */
export function misspelledParameters({ owner, pin, parsed, reachedBy }: PinExpression): DeployNote[] {
  const known = new Set([...reachedBy].flatMap(parametersOf))
  if (known.size === 0) return []
  return namesOf(parsed).flatMap(({ name, inBlocks, path: [key], start }): DeployNote[] => {
    if (inBlocks || name !== 'params' || key === undefined || known.has(key)) return []
    const meant = nearestName(key, [...known])
    if (meant === undefined) return []
    const message = `The trigger names no parameter ${key}.${didYouMean(meant)}`
    const { rule: _rule, ...problem } = expressionProblem(owner, pin, message, start)
    return [{ ...problem, level: 'warn' }]
  })
}

function parametersOf({ definition, literals, out }: Node): readonly string[] {
  const uri = literals.get('uri') ?? literals.get('url')
  const inAddress = typeof uri === 'string' ? [...uri.matchAll(placeholder)] : []
  const named = [...out.keys()].filter((pin) => !Object.hasOwn(definition.out, pin))
  return [...named, ...inAddress.flatMap(([, braced, colon]) => braced ?? colon ?? [])]
}
