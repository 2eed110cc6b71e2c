import { callExplainer, resultCheck } from '../call-result.ts'
import type { Compiler, Evaluate } from '../evaluate.ts'
import type { Call } from '../expression.ts'
import type { FunctionBody, Parameter } from '../function-declaration.ts'
import { compileArguments } from './compile-argument.ts'

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
