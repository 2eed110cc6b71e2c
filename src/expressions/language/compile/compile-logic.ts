import type { Compiler, Evaluate } from '../evaluate.ts'
import type { Choice, Logical } from '../expression.ts'

export function compileLogical<F>(part: Logical, compiler: Compiler<F>): Evaluate<F> {
  const [left, right] = [compiler.compile(part.left), compiler.compile(part.right)]
  switch (part.operator) {
    case '&&':
      return (frame, locals) => left(frame, locals) && right(frame, locals)
    case '||':
      return (frame, locals) => left(frame, locals) || right(frame, locals)
    case '??':
      return (frame, locals) => left(frame, locals) ?? right(frame, locals)
  }
}

export function compileChoice<F>(part: Choice, compiler: Compiler<F>): Evaluate<F> {
  const test = compiler.compile(part.test)
  const then = compiler.compile(part.then)
  const otherwise = compiler.compile(part.otherwise)
  return (frame, locals) => (test(frame, locals) ? then(frame, locals) : otherwise(frame, locals))
}
