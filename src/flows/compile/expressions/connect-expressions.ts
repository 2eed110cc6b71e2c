import type { ValueBlock } from '../../../blocks/block.ts'
import type { InPin } from '../../../blocks/pin.ts'
import { compileExpression } from '../../../expressions/language/compile/compile-expression.ts'
import { calledFunctions } from '../../../expressions/language/declared/functions.ts'
import { type NameUse, namesOf, type ParsedExpression } from '../../../expressions/language/expression.ts'
import type { FunctionContext } from '../../../expressions/language/function-declaration.ts'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import type { SavedInPin } from '../../../shared/blueprint.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import { elementsOf } from '../../../shared/expression-work.ts'
import { nearestName } from '../../../shared/names/nearest-name.ts'
import { canConvert } from '../../../shared/pin-type.ts'
import type { Graph, GraphProblem, Node, PinExpression, Wire } from '../blueprint-graph.ts'
import { expressionProblem } from './expression-problem.ts'
import { callables, frameReader, readKey, referencedWire } from './pin-expression.ts'
import { frameNames, isFrameName, isRunName, type RunName, runNames } from './run-names.ts'
import { whereQuery } from './where-query.ts'

type Inputs = Readonly<Record<string, unknown>>

/**
 * Evaluates an expression outside a run: constants are folded, and the need for indexes and the form of replies are found
 * with samples. What only a run knows is nothing.
 */
export function constantReader({
  where,
  parsed,
}: Pick<PinExpression, 'where' | 'parsed'>): (inputs: Inputs) => { value: unknown } {
  const outsideRuns = boundedContext()
  let evaluate: ((inputs: Inputs) => unknown) | undefined
  return (inputs) => {
    const compile = where ? whereQuery<Inputs> : compileExpression<Inputs>
    evaluate ??= compile(parsed, {
      ...callables(),
      name: (name, inBlocks) => (input) => input[readKey(name, inBlocks)],
      field: (name, inBlocks, key) => (input) => input[readKey(name, inBlocks, key)],
      context: () => outsideRuns.context,
    })
    outsideRuns.begin()
    return { value: evaluate(inputs) }
  }
}

/** As much as a sample may cost: 40 ms. */
const MOST_ELEMENTS = 20_000

function boundedContext(): { readonly context: FunctionContext; begin(): void } {
  let left = 0
  return {
    begin() {
      left = MOST_ELEMENTS
    },
    context: {
      now: () => 0,
      random: (bytes) => new Uint8Array(bytes),
      timeZone: 'UTC',
      locale: 'en',
      spend(elements, work) {
        left -= elementsOf(elements, work)
        if (left < 0) throw new RangeError('A sample has too many elements.')
      },
    },
  }
}

/**
 * A flow that reads no more of the run may have its replies kept: what a request's address decides, and values of the
 * environment, after a change of which no reply of before is sent again.
 */
const cacheable: ReadonlySet<RunName> = new Set(['params', 'query', 'env'])

/**
 * The value block that stands for an expression in the graph. In a run it is no block: `expression-getter.ts` compiles the
 * expression itself. It has the guid of the pin's block, which problems and failures name.
 */
function expressionBlock(expression: PinExpression): Node {
  const pin: InPin = { type: 'any', help: '' }
  return {
    block: expression.owner.block,
    definition: definitionOf(expression),
    settings: {},
    in: new Map([...expression.wires.keys()].map((key) => [key, pin])),
    added: new Set(),
    out: new Map([['value', { type: expression.where ? 'query' : 'any', help: '' }]]),
    wires: new Map([...expression.wires].map(([key, wire]): [string, readonly Wire[]] => [key, [wire]])),
    literals: new Map(),
    sound: true,
    expression,
  }
}

function definitionOf(expression: PinExpression): ValueBlock {
  const { varies, calls } = calledFunctions(expression.parsed.root)
  const names = [...expression.runNames]
  const asksCaller = names.some((name) => !cacheable.has(name))
  const changes = varies.size > 0
  return {
    kind: 'value',
    identifier: 'expression',
    title: 'Expression',
    summary: '',
    in: {},
    out: {},
    settings: {},
    // A function may look at the cluster's time zone, which is not known while constants are folded.
    ...((names.length > 0 || calls) && { readsRun: true }),
    ...(!asksCaller && !changes && { readsAddress: true }),
    ...(!asksCaller && varies.has('clock') && varies.size === 1 && { readsClock: true }),
    value: constantReader(expression),
  }
}

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

/** Finds the out-pin that a name in an expression means, or says why there is none. */
export interface BlockFinder {
  /** `refs`: the guid of each name, as it was saved with the expression. It counts more than the name. */
  wireOf(use: NameUse, refs: Readonly<Record<string, string>>): Wire | string
}

function blockFinder({ nodes }: Graph, names: ReadonlyMap<string, string>): BlockFinder {
  const byName = new Map(nodes.map((node) => [names.get(node.block.guid) ?? '', node]))
  const byGuid = new Map(nodes.map((node) => [node.block.guid, node]))
  return {
    wireOf({ name, inBlocks, path: [pin] }, refs) {
      const ref = Object.hasOwn(refs, name) ? refs[name] : undefined
      const node = (ref === undefined ? undefined : byGuid.get(ref)) ?? byName.get(name)
      if (!node) return unknownBlock(name, inBlocks, [...byName.keys()])
      return pinOf(node, name, pin)
    },
  }
}

function unknownBlock(name: string, inBlocks: boolean, names: readonly string[]): string {
  const near = nearestName(name, inBlocks ? names : [...names, ...runNames, ...frameNames])
  return `There is no block named ${name}.${near === undefined ? '' : ` Did you mean ${near}?`}`
}

function pinOf(node: Node, name: string, pin: string | undefined): Wire | string {
  const values = [...node.out].filter(([, out]) => out.type !== 'flow' || out.carries)
  const choice = values.length === 0 ? 'it gives no value' : `it gives ${values.map(([id]) => id).join(', ')}`
  if (pin === undefined) return `${name} is a block: name one of its values (${choice}).`
  const out = values.find(([id]) => id === pin)?.[1]
  if (!out) {
    const near = nearestName(
      pin,
      values.map(([id]) => id),
    )
    return `The block ${name} gives no ${pin}: ${choice}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  }
  const type = out.type === 'flow' ? (out.carries ?? out.type) : out.type
  if (canConvert(type, 'any')) return { node, pin }
  return `${name}.${pin} is a ${type} and no value: wire it to a pin of that type.`
}
