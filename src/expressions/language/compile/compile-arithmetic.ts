import { addNumbers, multiplyNumbers } from '../../../shared/numbers/decimal.ts'
import type { Compiler, Evaluate } from '../evaluate.ts'
import type { Arithmetic, Binary, Unary } from '../expression.ts'
import type { ExpressionError } from '../expression-error.ts'
import { checkNewText } from '../new-text.ts'
import { kindOf } from '../value-types.ts'

/** Sums and products are exact for the decimals that are written, so that prices add up. */
const calculations: Readonly<Record<Exclude<Arithmetic, '+'>, (a: number, b: number) => number>> = {
  '-': (a, b) => addNumbers(a, -b),
  '*': multiplyNumbers,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '**': (a, b) => a ** b,
}

export function compileArithmetic<F>(part: Binary, operator: Arithmetic, compiler: Compiler<F>): Evaluate<F> {
  return operator === '+'
    ? compileSum(part, compiler)
    : compileNumbers(part, calculations[operator], compiler)
}

function compileSum<F>(part: Binary, compiler: Compiler<F>): Evaluate<F> {
  const [left, right] = [compiler.compile(part.left), compiler.compile(part.right)]
  return (frame, locals) => {
    const a = left(frame, locals)
    const b = right(frame, locals)
    if (typeof a === 'number' && typeof b === 'number') {
      const sum = addNumbers(a, b)
      if (Number.isFinite(sum)) return sum
    } else if (typeof a === 'string' && typeof b === 'string') {
      const text = a + b
      return text.length < 1_000 ? text : checkNewText(text, part, frame, compiler)
    }
    throw refusal(part, a, b, compiler)
  }
}

function compileNumbers<F>(
  part: Binary,
  calculate: (a: number, b: number) => number,
  compiler: Compiler<F>,
): Evaluate<F> {
  const [left, right] = [compiler.compile(part.left), compiler.compile(part.right)]
  return (frame, locals) => {
    const a = left(frame, locals)
    const b = right(frame, locals)
    if (typeof a === 'number' && typeof b === 'number') {
      const result = calculate(a, b)
      if (Number.isFinite(result)) return result
    }
    throw refusal(part, a, b, compiler)
  }
}

/** Blames the operand that does not fit; of two that do not fit together, the one on the right. */
function refusal<F>(part: Binary, a: unknown, b: unknown, compiler: Compiler<F>): Error {
  const { operator, left, right } = part
  const takes = operator === '+' ? 'two numbers or two texts' : 'two numbers'
  const said = `The operator ${operator} takes ${takes}; `
  const fits = (value: unknown) =>
    typeof value === 'number' || (operator === '+' && typeof value === 'string')
  if (!fits(a)) return needsNumber(compiler.error(`${said}its left side is ${kindOf(a)}.${advice(a)}`, left))
  if (!fits(b))
    return needsNumber(compiler.error(`${said}its right side is ${kindOf(b)}.${advice(b)}`, right))
  if (typeof a === typeof b) {
    const zero = (operator === '/' || operator === '%') && b === 0
    if (zero) return compiler.error('A number cannot be divided by 0.', right)
    return compiler.error(`The result of ${operator} is not a finite number.`, part)
  }
  const [text, side] = typeof a === 'string' ? [left, 'left'] : [right, 'right']
  const other = side === 'left' ? 'right' : 'left'
  return needsNumber(
    compiler.error(
      `${said}its ${side} side is a text and its ${other} side a number. Write number(x) or text(x).`,
      text,
    ),
  )
}

function needsNumber(error: ExpressionError): ExpressionError {
  error.ofOperand = 'must be a number'
  return error
}

function advice(value: unknown): string {
  if (typeof value === 'string') return ' Write number(x) to make a number of it.'
  return value === undefined || value === null ? ' Write x ?? 0 for a value that may be missing.' : ''
}

export function compileNegation<F>(part: Unary, compiler: Compiler<F>): Evaluate<F> {
  const of = compiler.compile(part.of)
  if (part.operator === '!') return (frame, locals) => !of(frame, locals)
  return (frame, locals) => {
    const value = of(frame, locals)
    if (typeof value === 'number') return -value
    throw needsNumber(
      compiler.error(`The operator - takes a number; this is ${kindOf(value)}.${advice(value)}`, part.of),
    )
  }
}
