import type { ParsedExpression } from '../../../expressions/language/expression.ts'
import { type NameUse, namesOf } from '../../../expressions/language/expression-names.ts'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import type { SavedInPin } from '../../../shared/blueprint.ts'
import type { Steps } from '../../../shared/in-turns.ts'
import { canConvert } from '../../../shared/pin-type.ts'
import type { Graph, GraphProblem, Node, PinExpression, Wire } from '../blueprint-graph.ts'
import { blockFinder } from './block-finder.ts'
import { expressionBlock } from './expression-block.ts'
import { expressionProblem } from './expression-problem.ts'
import { frameReader } from './frame-reader.ts'
import { readKey, referencedWire } from './pin-expression.ts'
import { isFrameName, isRunName, type RunName } from './run-names.ts'

/** An expression whose names of blocks are found; those of frames come later. */
interface Pending {
  readonly owner: Node
  readonly pin: string
  readonly where: boolean
  readonly parsed: ParsedExpression
  readonly refs: Readonly<Record<string, string>>
  readonly wires: Map<string, Wire>
  readonly runNames: Set<RunName>
  readonly reachedBy: Set<Node>
  readonly inFrame: NameUse[]
}

/**
 * Gives each expression a value block of its own, with wires from what it names and to its pin. From here on a reference in
 * an expression is a wire for everything that looks at the graph. An expression that is nothing but a reference is a wire
 * and no block. `names`: of each block, by its guid.
 */
export function* connectExpressions(graph: Graph, names: ReadonlyMap<string, string>): Steps<Graph> {
  const problems: GraphProblem[] = []
  const pending: Pending[] = []
  for (const owner of graph.nodes) yield* parsePins(owner, pending, problems)
  if (pending.length === 0 && problems.length === 0) return graph
  const faulty = new Set<Pending>()
  const refuse = (one: Pending, message: string, use: NameUse) => {
    faulty.add(one)
    problems.push(expressionProblem(one.owner, one.pin, message, use.start))
  }
  const blocks = blockFinder(graph, names)
  for (const one of pending) {
    yield
    for (const use of namesOf(one.parsed)) {
      if (one.where && !use.inBlocks && use.name === 'doc') continue
      if (!use.inBlocks && isFrameName(use.name)) one.inFrame.push(use)
      else if (!use.inBlocks && isRunName(use.name)) one.runNames.add(use.name)
      else {
        const wire = blocks.wireOf(use, one.refs)
        if (typeof wire === 'string') refuse(one, wire, use)
        else one.wires.set(readKey(use.name, use.inBlocks, wire.pin), wire)
      }
    }
  }
  const frames = frameReader(graph, pending)
  const expressions: Node[] = []
  for (const one of pending) {
    yield
    for (const use of one.inFrame) {
      const wire = frames.read(one.owner, one.pin, use.name)
      if (typeof wire === 'string') refuse(one, wire, use)
      else one.wires.set(readKey(use.name, false), wire)
    }
    if (faulty.has(one)) continue
    const alone = onlyReference(one)
    const node = alone ? undefined : expressionBlock(one)
    if (node) expressions.push(node)
    const wire = alone ?? (node && { node, pin: 'value' })
    if (wire) one.owner.wires.set(one.pin, [wire])
  }
  return { ...graph, expressions, problems: [...graph.problems, ...problems] }
}

/** One pin a step: 10,000 characters take up to 2 ms. */
function* parsePins(owner: Node, pending: Pending[], problems: GraphProblem[]): Steps<void> {
  for (const saved of owner.block.in_pins) {
    const pin = owner.in.get(saved.id)
    if (saved.expression === undefined || !pin || holdsMore(saved)) continue
    yield
    const where = pin.language === 'where'
    if (!canConvert('any', pin.type) && !where) {
      problems.push(expressionProblem(owner, saved.id, `A ${pin.type} pin takes no expression.`))
      continue
    }
    const { expression, problem } = parseExpression(saved.expression)
    if (!expression) {
      problems.push(expressionProblem(owner, saved.id, problem.message, problem.start))
      continue
    }
    pending.push({
      owner,
      pin: saved.id,
      where,
      parsed: expression,
      refs: saved.refs ?? {},
      wires: new Map(),
      runNames: new Set(),
      reachedBy: new Set(),
      inFrame: [],
    })
  }
}

/** Said elsewhere: a pin holds one of the three. */
function holdsMore({ from, value }: SavedInPin): boolean {
  return (from?.length ?? 0) > 0 || value !== undefined
}

/** The wire that an expression stands for when it is nothing but the name of a block and its pin. */
function onlyReference(expression: PinExpression): Wire | undefined {
  const { where, parsed } = expression
  if (where) return undefined
  return referencedWire(parsed.root, expression)
}
