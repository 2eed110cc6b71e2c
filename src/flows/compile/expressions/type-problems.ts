import { knownDeclarations } from '../../../expressions/functions/callable-functions.ts'
import { checkExpression } from '../../../expressions/language/check-expression.ts'
import { fieldChangeNames } from '../../../expressions/language/declared/field-changes.ts'
import {
  type Argument,
  type Call,
  type Entry,
  type Expression,
  namesOf,
  partsOf,
  type Spread,
} from '../../../expressions/language/expression.ts'
import type { Declarations, TypeSources } from '../../../expressions/language/type-checker.ts'
import {
  anyType,
  type ObjectType,
  objectType,
  textType,
  type ValueType,
  wholeType,
} from '../../../expressions/language/value-types.ts'
import { readWhere } from '../../../expressions/language/where/read-where.ts'
import {
  type WhereCondition,
  type WhereLeaf,
  whereFunctions,
} from '../../../expressions/language/where/where-condition.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import { canConvert, type PinType } from '../../../shared/pin-type.ts'
import type { Graph, GraphProblem, Node, PinExpression, Wire } from '../blueprint-graph.ts'
import { bounded, type DeployNote } from '../notes/deploy-note.ts'
import { pinOfType, typeOfPin } from './document-types.ts'
import { expressionProblem } from './expression-problem.ts'
import { readKey } from './pin-expression.ts'
import {
  alwaysSent,
  isAddress,
  missingOperands,
  misspelledParameters,
  sentRead,
} from './run-name-problems.ts'

export interface TypeFindings {
  /** What can never work. */
  readonly problems: readonly GraphProblem[]
  /** What is probably a mistake. */
  readonly notes: readonly DeployNote[]
  /** What each expression gives, by its value block. */
  readonly types: ReadonlyMap<Node, ValueType>
}

/** Checks each expression with the types of what it names, and of the pin that it is for. */
export function* typeProblems(graph: Graph): Steps<TypeFindings> {
  const problems: GraphProblem[] = []
  const notes: DeployNote[] = []
  const input = new Map<Node, ValueType>()
  if (graph.expressions.length === 0) return { problems, notes, types: input }
  const declared = declarations()
  for (const node of graph.expressions) {
    yield
    const { expression } = node
    if (!expression) continue
    const { owner, pin, parsed, where } = expression
    if (where) {
      for (const { message, start } of readWhere(parsed, { maybe: true }).problems)
        problems.push(expressionProblem(owner, pin, message, start))
      notes.push(...misplacedMaybe(expression), ...absentParameters(expression))
    }
    const checked = checkTypes(expression, declared)
    input.set(node, checked.type)
    problems.push(...checked.problems)
    notes.push(...checked.notes, ...misspelledParameters(expression), ...missingOperands(expression))
    for (const { name, at } of misplacedChanges(parsed.root, owner.in.get(pin)?.language === 'set'))
      problems.push(
        expressionProblem(owner, pin, `${name} stands only as the value of a field in a pin set.`, at.start),
      )
  }
  return { problems, notes: bounded(notes, 'expressions'), types: input }
}

/** Refused by a deploy only: a block that is active stays so. */
function misplacedMaybe({ owner, pin, parsed }: PinExpression): DeployNote[] {
  if (owner.in.get(pin)?.maybe !== false || readWhere(parsed, { maybe: true }).problems.length > 0) return []
  return readWhere(parsed, { maybe: false }).problems.map(({ message, start }) => {
    const { rule: _rule, ...problem } = expressionProblem(owner, pin, message, start)
    return { ...problem, level: 'warn', refused: true }
  })
}

/** `doc.status != params.status` finds no document, and not all of them, where the client leaves the parameter out. */
function absentParameters({ owner, pin, parsed, reachedBy }: PinExpression): DeployNote[] {
  if ([...reachedBy].some((trigger) => !isAddress(trigger))) return []
  const always = [...reachedBy].map(alwaysSent)
  return leavesOf(readWhere(parsed, { maybe: true }).condition).flatMap((leaf): DeployNote[] => {
    if (!leaf.negated || !('value' in leaf) || leaf.value.maybe) return []
    const { part } = leaf.value
    const sent = sentRead(part)
    if (sent === undefined || always.every((known) => known.has(sent.key))) return []
    const { key, text: read } = sent
    const cure = owner.in.get(pin)?.maybe === false ? `${read} ?? ''` : `maybe(${read})`
    const message = `Where a client leaves ${key} out, this finds no document, and not all of them. Write ${cure}, or make the parameter required.`
    const { rule: _rule, ...problem } = expressionProblem(owner, pin, message, part.start)
    return [{ ...problem, level: 'warn' }]
  })
}

function leavesOf(condition: WhereCondition): readonly WhereLeaf[] {
  return 'parts' in condition ? condition.parts.flatMap(leavesOf) : [condition]
}

interface CheckedTypes extends Pick<TypeFindings, 'problems' | 'notes'> {
  /** Of what it gives. */
  readonly type: ValueType
}

interface PinDeclarations {
  readonly usual: Declarations
  readonly where: Declarations
}

export function declarations(): PinDeclarations {
  const usual = knownDeclarations()
  const functions = new Map(usual.functions)
  for (const one of whereFunctions) functions.set(one.name, one)
  return { usual, where: { ...usual, functions } }
}

/** Types that the cluster decides and that may change without a deploy. */
export interface PresentTypes {
  /** Of the values of the environment. */
  readonly env?: ValueType
  /** Of stored documents: what a wire gives, when it is known. */
  readonly ofWire?: (wire: Wire) => ValueType | undefined
  /** Of the document that a condition at `where` is about. */
  readonly ofDoc?: ValueType | undefined
  /** Of the body that the triggers take. */
  readonly ofBody?: ObjectType | undefined
  readonly ofUser?: ObjectType
  readonly ofRequest?: ObjectType
  /** Hears of fields that the fields of a storage do not list. */
  readonly unlisted?: TypeSources['unlisted']
}

/** What the types of its names say of one expression. */
export function checkTypes(
  expression: PinExpression,
  declared: PinDeclarations,
  present: PresentTypes = {},
): CheckedTypes {
  const { owner, pin, parsed, where } = expression
  const problems: GraphProblem[] = []
  const notes: DeployNote[] = []
  const types = namedTypes(expression, present)
  const checked = checkExpression(parsed, {
    typeOf: (name, inBlocks) => types.get(readKey(name, inBlocks)),
    names: [...types.keys()],
    declarations: where ? declared.where : declared.usual,
    ...(present.unlisted && { unlisted: present.unlisted }),
  })
  for (const { severity, message, start } of checked.problems) {
    const { rule: _rule, ...problem } = expressionProblem(owner, pin, message, start)
    if (severity === 'error') problems.push({ ...problem, rule: 'expression' })
    else notes.push({ ...problem, level: 'warn', ...(severity === 'refused' && { refused: true }) })
  }
  const requested = where ? 'any' : (owner.in.get(pin)?.type ?? 'any')
  if (!canConvert(pinOfType(checked.type), requested))
    problems.push(expressionProblem(owner, pin, refusal(checked.type, requested)))
  return { problems, notes, type: checked.type }
}

const words: Readonly<Partial<Record<PinType, string>>> = {
  value: 'a text',
  line: 'a text of one line',
  number: 'a number',
  condition: 'true or false',
  date: 'a date',
  array: 'a list',
  object: 'an object',
  document: 'a document',
  documents: 'a list of documents',
}

function refusal(type: ValueType, requested: PinType): string {
  return `The pin takes ${words[requested] ?? `a ${requested}`}, and the expression gives ${words[pinOfType(type)] ?? 'another kind'}.`
}

/** By {@link readKey} of the names alone. What is not known of a run is of any type. */
function namedTypes(
  expression: PinExpression,
  { env = objectType, ofWire, ofDoc = objectType, ofBody, ofUser, ofRequest }: PresentTypes,
): ReadonlyMap<string, ValueType> {
  const types = new Map<string, ValueType>()
  for (const { name, inBlocks, path } of namesOf(expression.parsed)) {
    const key = readKey(name, inBlocks)
    const wire = expression.wires.get(readKey(name, inBlocks, path[0]))
    const frame = expression.wires.get(key)
    if (expression.where && !inBlocks && name === 'doc') types.set(key, ofDoc)
    else if (wire && path[0] !== undefined)
      types.set(key, withField(types.get(key), path[0], ofWire?.(wire) ?? typeOfPin(wire)))
    else if (!inBlocks && name === 'env') types.set(key, env)
    else if (!inBlocks && name === 'body' && ofBody) types.set(key, ofBody)
    else if (!inBlocks && name === 'user' && ofUser) types.set(key, ofUser)
    else if (!inBlocks && name === 'request' && ofRequest) types.set(key, ofRequest)
    else if (frame) types.set(key, name === 'index' ? wholeType : (ofWire?.(frame) ?? anyType))
    else types.set(key, runType(name, path[0], types.get(key), expression))
  }
  return types
}

/** What is sent has the types of the trigger's schema; other parameters of an address are texts. */
function runType(
  name: string,
  field: string | undefined,
  known: ValueType | undefined,
  { reachedBy }: PinExpression,
): ValueType {
  if (name === 'user' || name === 'headers' || name === 'request') return objectType
  if (field === undefined) return known ?? (name === 'body' ? anyType : objectType)
  const types = [...reachedBy].map((trigger) => sentType(trigger, name, field))
  const [first = anyType] = types
  return withField(known, field, types.every((type) => type === first) ? first : anyType)
}

function sentType(trigger: Node, name: string, field: string): ValueType {
  if (trigger.out.has(field)) return typeOfPin({ node: trigger, pin: field })
  return name === 'params' && isAddress(trigger) ? textType : anyType
}

function withField(known: ValueType | undefined, field: string, type: ValueType): ValueType {
  const fields = known?.kind === 'object' ? known.fields : {}
  return { kind: 'object', open: true, fields: { ...fields, [field]: type } }
}

/**
 * Calls of `increment` and its like where they mean nothing: they stand only as the value of a field in a pin `set`, or as
 * one of its choices.
 */
function misplacedChanges(root: Expression, isSet: boolean): readonly Call[] {
  const placed = new Set<Call>()
  if (isSet) for (const value of fieldValues(root)) notePlaced(value, placed)
  const misplaced: Call[] = []
  const queue: (Argument | Entry | Spread)[] = [root]
  for (let part = queue.pop(); part; part = queue.pop()) {
    if (part.kind === 'call' && fieldChangeNames.has(part.name) && !placed.has(part)) misplaced.push(part)
    queue.push(...partsOf(part))
  }
  return misplaced
}

function fieldValues(root: Expression): readonly Expression[] {
  if (root.kind === 'let') return fieldValues(root.body)
  if (root.kind === 'choice') return [...fieldValues(root.then), ...fieldValues(root.otherwise)]
  if (root.kind !== 'object') return []
  return root.entries.flatMap((entry) => {
    if (entry.kind === 'entry') return [entry.value]
    // `...(body.qty > 0 ? { stock: increment(body.qty) } : {})`
    return fieldValues(entry.of)
  })
}

function notePlaced(value: Expression, placed: Set<Call>): void {
  if (value.kind === 'call') placed.add(value)
  else if (value.kind === 'choice') {
    notePlaced(value.then, placed)
    notePlaced(value.otherwise, placed)
  }
}
