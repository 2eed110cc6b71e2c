import type { RunRequest } from '../../../blocks/run-request.ts'
import { compileExpression } from '../../../expressions/language/compile/compile-expression.ts'
import { calledFunctions } from '../../../expressions/language/declared/functions.ts'
import type { Expression, NameUse } from '../../../expressions/language/expression.ts'
import { ExpressionError } from '../../../expressions/language/expression-error.ts'
import type { ExpressionHost } from '../../../expressions/language/function-declaration.ts'
import { StoredJson } from '../../../storage/stored-json.ts'
import { BlockFailure } from '../block-failure.ts'
import type { Node, PinExpression, Wire } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import type { Frame } from '../frame.ts'
import type { Probe } from '../probe.ts'
import { inputMeasure } from '../value-size.ts'
import { callables, readKey, referencedKey, sentName } from './pin-expression.ts'
import { isRunName, type RunName } from './run-names.ts'
import { whereQuery } from './where-query.ts'

type Read = (frame: Frame) => unknown

/** How what a name of the run means is read. In a custom function, `params` are its parameters. */
function runReader(name: RunName): Read {
  return readers[name]
}

/** As {@link runReader} for one field of it, without making an object of all. */
function runFieldReader(name: RunName, key: string): Read {
  if (name === 'params') return (frame) => parameter(frame, key)
  const read = readers[name]
  return (frame) => own(read(frame), key)
}

const readers: Readonly<Record<RunName, Read>> = {
  params: (frame) => {
    const { parameters, run } = frame
    if (parameters)
      return Object.fromEntries(Object.entries(parameters).map(([id, one]) => [id, plainValue(one)]))
    const request = run.request ?? run.former
    return request && { ...firstOfEach(request.query), ...request.path, ...typedValues(frame) }
  },
  query: (frame) => {
    const request = frame.run.request ?? frame.run.former
    return request && (frame.sent ? { ...request.query, ...typedValues(frame) } : request.query)
  },
  body: ({ sent, run }) => (sent ? sent.input.body : (run.request ?? run.former)?.body),
  headers: ({ run }) => run.request?.headers,
  user: ({ run }) => run.user,
  request: ({ run }) => run.request && described(run.request),
  env: ({ run }) => run.env,
}

/** Fields of the address by the types of the trigger's schema, with their defaults. */
function typedValues(frame: Frame): Readonly<Record<string, unknown>> {
  const fields = [...(frame.sent?.fields ?? [])].map((field) => [field, parameter(frame, field)] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

function described({ method, url, ip }: RunRequest): Readonly<Record<string, string>> {
  const end = url.indexOf('?')
  return { method, url, path: end < 0 ? url : url.slice(0, end), ip }
}

function parameter({ parameters, sent, run }: Frame, key: string): unknown {
  if (parameters) return plainValue(own(parameters, key))
  const request = run.request ?? run.former
  if (!request) return undefined
  if (sent?.fields.has(key)) {
    const value = own(sent.input, key)
    // A day stays the text that was sent: as a Date it would be an instant.
    if (!(value instanceof Date)) return plainValue(value)
  }
  if (Object.hasOwn(request.path, key)) return request.path[key]
  return first(own(request.query, key))
}

/** A name that is repeated in the query means its first value; `query` has all of them. */
function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

function firstOfEach(query: RunRequest['query']): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, first(value)]))
}

function own(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null || !Object.hasOwn(of, key)) return undefined
  return Reflect.get(of, key)
}

type Getter = (frame: Frame) => unknown

/**
 * The expression as a function of the frame. Names are read when the evaluation reaches them, each through the getter of its
 * wire (`getterOf`), so that a block behind a condition that is not met is not evaluated. An evaluation counts as a block.
 */
export function expressionGetter(
  node: Node,
  expression: PinExpression,
  facts: Facts,
  getterOf: (wire: Wire) => Getter,
): Getter {
  const evaluate = evaluatorOf(expression, getterOf, facts.probe)
  const measure = inputMeasure(node)
  const usesClock = calledFunctions(expression.parsed.root).varies.has('clock')
  const get: Getter = (frame) => {
    const { run } = frame
    run.steps.checkpoint()
    if (usesClock) run.functions.startEvaluation()
    try {
      const value = evaluate(frame)
      if (measure && typeof value === 'object') run.steps.chargeSize(measure({ value }))
      return value
    } catch (error) {
      throw error instanceof ExpressionError ? failureOf(error, frame, node, expression, facts) : error
    }
  }
  return facts.probe?.expression(expression, get) ?? get
}

function evaluatorOf(
  expression: PinExpression,
  getterOf: (wire: Wire) => Getter,
  probe: Probe | undefined,
): Getter {
  const { parsed, owner, pin, where } = expression
  const recorded = (name: string, read: Getter | undefined) => (read && probe?.name(name, read)) ?? read
  const host: ExpressionHost<Frame> = {
    ...callables(),
    name(name, inBlocks) {
      const key = readKey(name, inBlocks)
      const read = reader(expression, key, getterOf) ?? (isRunName(name) ? runReader(name) : undefined)
      return recorded(key, read)
    },
    field(name, inBlocks, field) {
      const key = readKey(name, inBlocks, field)
      const ofRun = !inBlocks && isRunName(name) ? runFieldReader(name, field) : undefined
      return recorded(key, reader(expression, key, getterOf) ?? ofRun)
    },
    context: ({ run }) => run.functions,
  }
  if (where) return whereQuery<Frame>(parsed, host)
  const choice = choiceGetter(parsed.root, {
    compile: (root) => compileExpression<Frame>({ ...parsed, root }, host),
    reference(part) {
      const key = referencedKey(part)
      const wire = key === undefined ? undefined : expression.wires.get(key)
      return key === undefined ? undefined : recorded(key, wire && getterOf(wire))
    },
  })
  if (!choice) return compileExpression<Frame>(parsed, host)
  return owner.in.get(pin)?.raw
    ? (frame) => choice(frame) ?? undefined
    : (frame) => plainValue(choice(frame)) ?? undefined
}

function reader(
  expression: PinExpression,
  key: string,
  getterOf: (wire: Wire) => Getter,
): Getter | undefined {
  const wire = expression.wires.get(key)
  if (!wire) return undefined
  const get = getterOf(wire)
  return (frame) => plainValue(get(frame))
}

/** For the client, which knows the parameter and nothing of the expression. */
function sentProblem({ names, ofOperand }: ExpressionError, frame: Frame): string {
  const isMissing = ({ name, inBlocks, path: [field] }: NameUse) =>
    !inBlocks && isRunName(name) && field !== undefined && isNothing(runFieldReader(name, field)(frame))
  return names.some(isMissing) ? 'is missing' : (ofOperand ?? 'does not fit')
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}

/**
 * Who is to blame for an operand that is made of nothing but what was sent: the request, or in a custom function the caller.
 */
function failureOf(
  error: ExpressionError,
  frame: Frame,
  node: Node,
  { owner, pin }: PinExpression,
  facts: Facts,
): BlockFailure {
  const inFunction = frame.parameters !== undefined
  const source = inFunction ? facts.functionParameter : facts.requestParameter
  const sent = error.names.map(
    (use) => sentName(use) ?? source(node, readKey(use.name, use.inBlocks, use.path[0])),
  )
  const isSent = sent.length > 0 && sent.every((one) => one !== undefined)
  const { guid: block, type } = owner.block
  const message = `${pin}: ${error.message} (column ${error.start + 1} of the expression)`
  const problem = isSent ? sentProblem(error, frame) : undefined
  const blame = isSent && (inFunction ? { argument: sent[0] } : { parameter: sent[0] })
  return new BlockFailure({ block, type, pin, ...blame, problem }, new Error(message))
}

/** What a pin gave, as an expression takes it: JSON. A date is its text, an instant. */
export function plainValue(value: unknown): unknown {
  if (typeof value !== 'object') return value
  if (value instanceof StoredJson) return value.value
  return value instanceof Date ? value.toISOString() : value
}

interface Parts {
  /** What a bare reference to a block gives, as it is; undefined for any other part. */
  reference(part: Expression): Getter | undefined
  compile(part: Expression): Getter
}

/**
 * An expression that chooses between blocks (`a.document ?? b.document`, `a.document ? 201 : 200`) looks only at whether
 * there is a value: a stored document passes as its text, which a reply sends without parsing it. Undefined for
 * an expression that chooses nothing.
 */
export function choiceGetter(part: Expression, parts: Parts): Getter | undefined {
  if (part.kind === 'choice') {
    const test = parts.reference(part.test) ?? parts.compile(part.test)
    const then = chosen(part.then, parts)
    const otherwise = chosen(part.otherwise, parts)
    return (frame) => (isTrue(test(frame)) ? then(frame) : otherwise(frame))
  }
  if (part.kind !== 'logical' || part.operator !== '??') return undefined
  const left = chosen(part.left, parts)
  const right = chosen(part.right, parts)
  return (frame) => {
    const value = left(frame)
    return hasNoValue(value) ? right(frame) : value
  }
}

function chosen(part: Expression, parts: Parts): Getter {
  return choiceGetter(part, parts) ?? parts.reference(part) ?? parts.compile(part)
}

function hasNoValue(value: unknown): boolean {
  return value === undefined || value === null || (value instanceof StoredJson && value.text === 'null')
}

function isTrue(value: unknown): boolean {
  if (!(value instanceof StoredJson)) return Boolean(value)
  return value.text.startsWith('{') || value.text.startsWith('[') || Boolean(value.value)
}
