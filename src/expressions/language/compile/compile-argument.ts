import type { Compiler, Evaluate } from '../evaluate.ts'
import type { Argument, Arrow, Call, MethodCall } from '../expression.ts'
import type { FunctionBody, Parameter, ParameterType } from '../function-declaration.ts'
import { callExplainer, resultCheck, spendOnLongText } from '../new-text.ts'
import { kindOf } from '../value-types.ts'
import { workOf } from './part-work.ts'

/** The arguments of a call that is known to have neither too few nor too many. `skips`: nothing is allowed as the first. */
export function compileArguments<F>(
  part: Call | MethodCall,
  parameters: readonly Parameter[],
  skips: boolean,
  compiler: Compiler<F>,
): readonly Evaluate<F>[] {
  return part.arguments.flatMap((one, at) => {
    const parameter = parameters[at] ?? parameters.at(-1)
    if (!parameter) return []
    return [compileArgument(one, parameter, part.name, skips && at === 0, compiler)]
  })
}

/** One argument, checked. `called`: the function's name, for messages. */
function compileArgument<F>(
  part: Argument,
  parameter: Parameter,
  called: string,
  skips: boolean,
  compiler: Compiler<F>,
): Evaluate<F> {
  const arrow = arrowType(parameter)
  if (part.kind === 'arrow') {
    if (arrow) return compileArrow(part, arrow.gives === 'number', called, compiler)
    return failing(`${called}: ${parameter.name} cannot be an arrow function.`, part, compiler)
  }
  if (arrow)
    return failing(`${called}: ${parameter.name} must be an arrow function such as x => x.`, part, compiler)
  const check = argumentCheck(parameter)
  const value = compiler.compile(part)
  const mayBeNothing = skips || parameter.takesNothing || parameter.optional
  return (frame, locals) => {
    const input = value(frame, locals)
    if (input === undefined || input === null) {
      if (mayBeNothing) return undefined
      throw compiler.error(`${called}: ${parameter.name} must not be nothing.`, part)
    }
    const problem = check?.(input)
    if (problem === undefined) {
      if (typeof input === 'string') spendOnLongText(input, frame, compiler)
      return input
    }
    const failed = compiler.error(`${called}: ${parameter.name} ${problem}.`, part)
    failed.ofOperand = problem
    throw failed
  }
}

function failing<F>(message: string, part: Argument, compiler: Compiler<F>): Evaluate<F> {
  return () => {
    throw compiler.error(message, part)
  }
}

function arrowType({ type }: Parameter) {
  return 'kind' in type && type.kind === 'arrow' ? type : undefined
}

/** A JavaScript function of up to three arguments: the element and its index, after what was reduced. */
function compileArrow<F>(
  part: Arrow,
  givesNumber: boolean,
  called: string,
  compiler: Compiler<F>,
): Evaluate<F> {
  const [first, second, third] = part.parameters.map(({ slot }) => slot)
  const body = countedBody(part, compiler)
  const give = (value: unknown) => {
    if (givesNumber && typeof value !== 'number' && value !== undefined && value !== null)
      throw compiler.error(
        `${called}: the arrow function must give a number; this is ${kindOf(value)}.`,
        part.body,
      )
    return value ?? undefined
  }
  if (first === undefined) return (frame, locals) => () => give(body(frame, locals))
  if (second === undefined)
    return (frame, locals) => (a: unknown) => {
      locals[first] = a
      return give(body(frame, locals))
    }
  return (frame, locals) => (a: unknown, b: unknown, c: unknown) => {
    locals[first] = a
    locals[second] = b
    if (third !== undefined) locals[third] = c
    return give(body(frame, locals))
  }
}

/** An element that a function looks at pays for a body of a few parts, such as `i => i.price * i.qty`. */
const FREE_BODY = 0.8

function countedBody<F>(part: Arrow, compiler: Compiler<F>): Evaluate<F> {
  const { host } = compiler
  const body = compiler.compile(part.body)
  const work = workOf(part.body, host)
  if (work < FREE_BODY) return body
  return (frame, locals) => {
    host.context(frame).spend(0, work)
    return body(frame, locals)
  }
}

/** What keeps a value from a parameter, in words that finish "<parameter> …"; undefined when it fits. It is not nothing. */
type ArgumentCheck = (value: unknown) => string | undefined

const TEXT = 1
const NUMBER = 2
const WHOLE = 4
const CONDITION = 8
const LIST = 16
const OBJECT = 32

const words: Readonly<Record<number, string>> = {
  [TEXT]: 'a text',
  [NUMBER]: 'a number',
  [WHOLE]: 'a whole number',
  [CONDITION]: 'a condition',
  [LIST]: 'a list',
  [OBJECT]: 'an object',
}

/** Undefined: takes any value. */
function argumentCheck({ type }: Parameter): ArgumentCheck | undefined {
  const types = isSeveral(type) ? type : [type]
  if (types.some(({ kind }) => kind === 'any' || kind === 'item' || kind === 'nothing')) return undefined
  const mask = types.reduce((sum, one) => sum | maskOf(one), 0)
  const elements = elementsCheck(types)
  return (value) => {
    if ((kindsOf(value) & mask) === 0)
      return `must be ${wordsOf(mask)}; this is ${kindOf(value)}${adviceFor(mask, value)}`
    return elements && Array.isArray(value) ? elements(value) : undefined
  }
}

function isSeveral(type: Parameter['type']): type is readonly ParameterType[] {
  return Array.isArray(type)
}

function maskOf(type: ParameterType): number {
  switch (type.kind) {
    case 'text':
      return TEXT
    case 'number':
      return NUMBER
    case 'whole':
      return WHOLE
    case 'condition':
      return CONDITION
    case 'list':
    case 'items':
      return LIST
    case 'object':
      return OBJECT
    default:
      return 0
  }
}

function kindsOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return TEXT
    case 'number':
      return Number.isInteger(value) ? NUMBER | WHOLE : NUMBER
    case 'boolean':
      return CONDITION
    default:
      return Array.isArray(value) ? LIST : OBJECT
  }
}

function wordsOf(mask: number): string {
  return Object.entries(words)
    .filter(([bit]) => (mask & Number(bit)) !== 0)
    .map(([, word]) => word)
    .join(' or ')
}

function adviceFor(mask: number, value: unknown): string {
  if (typeof value === 'string' && (mask & (NUMBER | WHOLE)) !== 0)
    return '. Write number(x) to make a number of it'
  return typeof value === 'number' && (mask & TEXT) !== 0 ? '. Write text(x) to make a text of it' : ''
}

/** Of a list of one kind of value: its elements, none of which may be nothing. */
function elementsCheck(
  types: readonly ParameterType[],
): ((list: readonly unknown[]) => string | undefined) | undefined {
  const list = types.find((one) => one.kind === 'list')
  if (list?.kind !== 'list' || list.of.kind === 'any') return undefined
  const mask = maskOf(list.of)
  if (mask === 0) return undefined
  return (values) => {
    const at = values.findIndex((one) => one === undefined || one === null || (kindsOf(one) & mask) === 0)
    return at < 0
      ? undefined
      : `must be a list of which each element is ${wordsOf(mask)}; element ${at} is ${kindOf(values[at])}`
  }
}

/** Nothing as the first argument gives nothing, unless the function says what it makes of it. */
export function compileCall<F>(part: Call, compiler: Compiler<F>): Evaluate<F> {
  const callable = compiler.host.function(part.name)
  const { parameters = [] } = callable?.declaration ?? {}
  const wrong = callable
    ? countProblem(part.name, part.arguments.length, parameters)
    : `There is no function ${part.name}.`
  if (!callable || wrong !== undefined)
    return () => {
      throw compiler.error(wrong ?? '', part)
    }
  const [first] = parameters
  const skips = first !== undefined && !first.takesNothing && !first.optional && !first.rest
  const values = compileArguments(part, parameters, skips, compiler)
  const call = callBody(callable.body, values, skips, compiler)
  const explain = callExplainer(part, parameters, compiler)
  const check = resultCheck(part, compiler)
  return (frame, locals) => {
    let result: unknown
    try {
      result = call(frame, locals)
    } catch (error) {
      throw explain(error)
    }
    return check(result, frame)
  }
}

/** A way for each number of arguments: lists of arguments would cost as much as a small function. */
function callBody<F>(
  body: FunctionBody,
  values: readonly Evaluate<F>[],
  skips: boolean,
  { host }: Compiler<F>,
): Evaluate<F> {
  const [first, second, third, fourth] = values
  if (!first) return (frame) => body(host.context(frame))
  if (!second)
    return (frame, locals) => {
      const a = first(frame, locals)
      return skips && a === undefined ? undefined : body(host.context(frame), a)
    }
  if (!third)
    return (frame, locals) => {
      const a = first(frame, locals)
      return skips && a === undefined ? undefined : body(host.context(frame), a, second(frame, locals))
    }
  if (!fourth)
    return (frame, locals) => {
      const a = first(frame, locals)
      if (skips && a === undefined) return undefined
      return body(host.context(frame), a, second(frame, locals), third(frame, locals))
    }
  if (values.length === 4)
    return (frame, locals) => {
      const a = first(frame, locals)
      if (skips && a === undefined) return undefined
      const b = second(frame, locals)
      return body(host.context(frame), a, b, third(frame, locals), fourth(frame, locals))
    }
  const others = values.slice(1)
  return (frame, locals) => {
    const a = first(frame, locals)
    if (skips && a === undefined) return undefined
    return body(host.context(frame), a, ...others.map((value) => value(frame, locals)))
  }
}

/** Too many or too few arguments, as a sentence. */
export function countProblem(
  name: string,
  input: number,
  parameters: readonly Parameter[],
): string | undefined {
  const missing = parameters.find((one, at) => at >= input && !one.optional && !one.rest)
  if (missing) return `${name}: the argument ${missing.name} is missing.`
  if (input <= parameters.length || parameters.at(-1)?.rest) return undefined
  const most = parameters.length
  const takes = most === 0 ? 'no arguments' : `at most ${most} argument${most === 1 ? '' : 's'}`
  return `${name} takes ${takes}; it has ${input}.`
}
