import { isSameDay } from '../../../shared/dates/dates.ts'
import { areSameTexts } from '../../../shared/texts/composed-text.ts'
import type { Compiler, Evaluate } from '../evaluate.ts'
import type { Binary, Equality, Order } from '../expression.ts'
import {
  comparisonWork,
  equalityWork,
  isSameValue,
  longText,
  TooLargeToCompare,
  textWork,
} from '../same-value.ts'
import { kindOf } from '../value-types.ts'

export function compileEquality<F>(part: Binary, operator: Equality, compiler: Compiler<F>): Evaluate<F> {
  const [left, right] = [compiler.compile(part.left), compiler.compile(part.right)]
  const requested = operator === '=='
  return (frame, locals) => {
    const a = left(frame, locals)
    const b = right(frame, locals)
    if (typeof a === 'string' && typeof b === 'string' && a.length >= longText)
      compiler.host.context(frame).spend(0, equalityWork(a, b))
    if (typeof a === 'string' && typeof b === 'string') return areSameTexts(a, b) === requested
    if (typeof a === 'string' || typeof a === 'number') return (a === b) === requested
    if (typeof a !== 'object' || typeof b !== 'object') return isSameValue(a, b, ignored) === requested
    const context = compiler.host.context(frame)
    try {
      return isSameValue(a, b, (values) => context.spend(values, values * comparisonWork)) === requested
    } catch (error) {
      if (!(error instanceof TooLargeToCompare)) throw error
      throw compiler.error('The two values are too large to compare.', part)
    }
  }
}

/** Values without elements and fields cost nothing. */
const ignored = () => undefined

type Comparable = string | number | boolean

const orders: Readonly<Record<Order, (a: Comparable, b: Comparable) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

/** False when one side is nothing. */
export function compileOrder<F>(part: Binary, operator: Order, compiler: Compiler<F>): Evaluate<F> {
  const [left, right] = [compiler.compile(part.left), compiler.compile(part.right)]
  const isInOrder = orders[operator]
  // Of a day and an instant of it: neither is before the other.
  const hasEnds = operator === '<=' || operator === '>='
  return (frame, locals) => {
    const a = left(frame, locals)
    const b = right(frame, locals)
    if (typeof a === 'number' && typeof b === 'number') return isInOrder(a, b)
    if (typeof a === 'string' && typeof b === 'string') {
      const characters = Math.min(a.length, b.length)
      if (characters >= longText) compiler.host.context(frame).spend(0, textWork(characters))
      return isSameDay(a, b) ? hasEnds : isInOrder(a, b)
    }
    if (typeof a === 'boolean' && typeof b === 'boolean') return isInOrder(a, b)
    const problem = disorder(part, a, b, compiler)
    if (problem) throw problem
    return false
  }
}

function disorder<F>(part: Binary, a: unknown, b: unknown, compiler: Compiler<F>): Error | undefined {
  const isNothing = (value: unknown) => value === undefined || value === null
  const said = `The operator ${part.operator} compares two values of one type`
  for (const [value, operand] of [[a, part.left] as const, [b, part.right] as const]) {
    if (typeof value === 'object' && value !== null)
      return compiler.error(`${said}, and ${kindOf(value)} has no order.`, operand)
  }
  if (isNothing(a) || isNothing(b)) return undefined
  const [operand, side, other] = typeof a === 'string' ? [part.left, a, b] : [part.right, b, a]
  const advice =
    typeof side === 'string' && typeof other === 'number'
      ? ' Write number(x) to make a number of the text.'
      : ''
  return compiler.error(`${said}; this is ${kindOf(side)} and the other ${kindOf(other)}.${advice}`, operand)
}
