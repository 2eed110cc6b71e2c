import { argumentCheck } from '../check-argument.ts'
import type { Compiler, Evaluate } from '../evaluate.ts'
import type { Argument, Arrow, Call, MethodCall } from '../expression.ts'
import type { Parameter } from '../function-declaration.ts'
import { spendOnLongText } from '../new-text.ts'
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
