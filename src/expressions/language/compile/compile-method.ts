import { callExplainer, resultCheck } from '../call-result.ts'
import type { Compiler, Evaluate, Locals } from '../evaluate.ts'
import type { MethodCall } from '../expression.ts'
import type { FunctionBody, MethodDeclaration } from '../function-body.ts'
import { spendOnLongText } from '../new-text.ts'
import { kindOf } from '../value-kind.ts'
import { compileArguments } from './compile-argument.ts'
import { countProblem } from './compile-call.ts'

/** A method of one kind of value. */
type Method<F> = (self: unknown, frame: F, locals: Locals) => unknown

/** Which method it is depends on the value, so that each is compiled. A method of nothing gives nothing. */
export function compileMethod<F>(part: MethodCall, compiler: Compiler<F>): Evaluate<F> {
  const of = compiler.compile(part.of)
  const text = compileOn('text', part, compiler)
  const list = compileOn('list', part, compiler)
  const number = compileOn('number', part, compiler)
  return (frame, locals) => {
    const self = of(frame, locals)
    if (self === undefined || self === null) return undefined
    const method =
      typeof self === 'string'
        ? text
        : typeof self === 'number'
          ? number
          : Array.isArray(self)
            ? list
            : undefined
    if (method) {
      if (typeof self === 'string') spendOnLongText(self, frame, compiler)
      return method(self, frame, locals)
    }
    const kind = kindOf(self)
    throw compiler.error(`${kind.charAt(0).toUpperCase()}${kind.slice(1)} has no method ${part.name}.`, part)
  }
}

function compileOn<F>(
  on: MethodDeclaration['on'],
  part: MethodCall,
  compiler: Compiler<F>,
): Method<F> | undefined {
  const callable = compiler.host.method(on, part.name)
  if (!callable) return undefined
  const { parameters } = callable.declaration
  const wrong = countProblem(part.name, part.arguments.length, parameters)
  if (wrong !== undefined)
    return () => {
      throw compiler.error(wrong, part)
    }
  const call = callBody(callable.body, compileArguments(part, parameters, false, compiler), compiler)
  const explain = callExplainer(part, parameters, compiler)
  const check = resultCheck(part, compiler)
  return (self, frame, locals) => {
    let result: unknown
    try {
      result = call(self, frame, locals)
    } catch (error) {
      throw explain(error)
    }
    return check(result, frame)
  }
}

function callBody<F>(body: FunctionBody, values: readonly Evaluate<F>[], { host }: Compiler<F>): Method<F> {
  const [first, second, third] = values
  if (!first) return (self, frame) => body(host.context(frame), self)
  if (!second) return (self, frame, locals) => body(host.context(frame), self, first(frame, locals))
  if (!third)
    return (self, frame, locals) =>
      body(host.context(frame), self, first(frame, locals), second(frame, locals))
  return (self, frame, locals) =>
    body(host.context(frame), self, ...values.map((value) => value(frame, locals)))
}
