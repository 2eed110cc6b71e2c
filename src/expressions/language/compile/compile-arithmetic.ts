import { noteUnsent } from '../../../shared/field-rule.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { addNumbers, multiplyNumbers } from '../../../shared/numbers/decimal.ts'
import type { Compiler, Evaluate, Locals } from '../evaluate.ts'
import type {
  Arithmetic,
  Binary,
  ListLiteral,
  ObjectLiteral,
  Spread,
  Template,
  Unary,
} from '../expression.ts'
import type { ExpressionError } from '../expression-error.ts'
import { checkNewText } from '../new-text.ts'
import { kindOf } from '../value-types.ts'
import { mostElements } from './part-work.ts'

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

const A_NUMBER = 'must be a number'

/** Blames the operand that does not fit; of two that do not fit together, the one on the right. */
function refusal<F>(part: Binary, a: unknown, b: unknown, compiler: Compiler<F>): Error {
  const { operator, left, right } = part
  const takes = operator === '+' ? 'two numbers or two texts' : 'two numbers'
  const said = `The operator ${operator} takes ${takes}; `
  const fits = (value: unknown) =>
    typeof value === 'number' || (operator === '+' && typeof value === 'string')
  if (!fits(a))
    return needs(A_NUMBER, compiler.error(`${said}its left side is ${kindOf(a)}.${advice(a)}`, left))
  if (!fits(b))
    return needs(A_NUMBER, compiler.error(`${said}its right side is ${kindOf(b)}.${advice(b)}`, right))
  if (typeof a === typeof b) {
    const zero = (operator === '/' || operator === '%') && b === 0
    if (zero) return needs('must not be 0', compiler.error('A number cannot be divided by 0.', right))
    return compiler.error(`The result of ${operator} is not a finite number.`, part)
  }
  const [text, side] = typeof a === 'string' ? [left, 'left'] : [right, 'right']
  const other = side === 'left' ? 'right' : 'left'
  return needs(
    A_NUMBER,
    compiler.error(
      `${said}its ${side} side is a text and its ${other} side a number. Write number(x) or text(x).`,
      text,
    ),
  )
}

function needs(problem: string, error: ExpressionError): ExpressionError {
  error.ofOperand = problem
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
    throw needs(
      A_NUMBER,
      compiler.error(`The operator - takes a number; this is ${kindOf(value)}.${advice(value)}`, part.of),
    )
  }
}

export function compileList<F>(part: ListLiteral, compiler: Compiler<F>): Evaluate<F> {
  const parts = part.elements.map((one) =>
    one.kind === 'spread' ? spreadInList(one, part, compiler) : oneElement(compiler.compile(one)),
  )
  return (frame, locals) => {
    const list: unknown[] = []
    for (const add of parts) add(list, frame, locals)
    return list
  }
}

type AddElements<F> = (list: unknown[], frame: F, locals: Locals) => void

function oneElement<F>(evaluate: Evaluate<F>): AddElements<F> {
  return (list, frame, locals) => {
    list.push(evaluate(frame, locals) ?? null)
  }
}

function spreadInList<F>(part: Spread, whole: ListLiteral, compiler: Compiler<F>): AddElements<F> {
  const of = compiler.compile(part.of)
  return (list, frame, locals) => {
    const value = of(frame, locals) ?? []
    if (!Array.isArray(value))
      throw needs(
        'must be a list',
        compiler.error(`Only a list can be spread into a list; this is ${kindOf(value)}.`, part.of),
      )
    if (list.length + value.length > mostElements)
      throw compiler.error(`The list has more than ${mostElements.toLocaleString('en')} elements.`, whole)
    compiler.host.context(frame).spend(value.length)
    for (const one of value) list.push(one ?? null)
  }
}

/** Work of one field that is copied: objects of many fields are tables, which take 0.5 µs for each. */
const FIELD = 1
const FIELD_OF_MANY = 6
const MANY_FIELDS = 50

type Fields = Record<string, unknown>

export function compileObject<F>(part: ObjectLiteral, compiler: Compiler<F>): Evaluate<F> {
  const parts = part.entries.map((one) => {
    if (one.kind === 'spread') return spreadInObject(one, compiler)
    const [key, value] = [one.key, compiler.compile(one.value)]
    return (fields: Fields, frame: F, locals: Locals) => {
      const input = value(frame, locals)
      fields[key] = input ?? null
      if (input === undefined) noteUnsent(fields, key)
    }
  })
  return (frame, locals) => {
    const fields: Fields = {}
    for (const add of parts) add(fields, frame, locals)
    return fields
  }
}

function spreadInObject<F>(part: Spread, compiler: Compiler<F>) {
  const of = compiler.compile(part.of)
  return (fields: Fields, frame: F, locals: Locals) => {
    const value = of(frame, locals) ?? {}
    if (!isJsonObject(value))
      throw needs(
        'must be an object',
        compiler.error(`Only an object can be spread into an object; this is ${kindOf(value)}.`, part.of),
      )
    const keys = Object.keys(value)
    compiler.host
      .context(frame)
      .spend(keys.length, keys.length * (keys.length > MANY_FIELDS ? FIELD_OF_MANY : FIELD))
    for (const key of keys) if (key !== '__proto__') fields[key] = value[key] ?? null
  }
}

/** Nothing leaves no trace in a text. */
export function compileTemplate<F>(part: Template, compiler: Compiler<F>): Evaluate<F> {
  const [first = '', ...texts] = part.texts
  const values = part.values.map((one, at) => ({
    part: one,
    value: compiler.compile(one),
    after: texts[at] ?? '',
  }))
  return (frame, locals) => {
    let text = first
    for (const one of values) {
      const value = one.value(frame, locals)
      if (typeof value === 'string') text += value
      else if (typeof value === 'number' || typeof value === 'boolean') text += String(value)
      else if (value !== undefined && value !== null)
        throw compiler.error(
          `A text cannot contain ${kindOf(value)}. Choose one of its ${Array.isArray(value) ? 'elements or join it' : 'fields'}.`,
          one.part,
        )
      text += one.after
      if (text.length >= 1_000) checkNewText(text, part, frame, compiler)
    }
    return text
  }
}
