import {
  type Argument,
  type Call,
  type Entry,
  type Expression,
  type MethodCall,
  partsOf,
  type Spread,
} from '../expression.ts'
import type { ExpressionHost } from '../function-declaration.ts'

type Calls = Pick<ExpressionHost<never>, 'function' | 'method'>

/** A part of a short expression takes 5 to 10 ns, one of a long expression, whose closures are in no cache, 20. */
const PART = 0.1
const PART_OF_MANY = 0.2
const MANY = 100
/** New lists, objects and texts, with the collection of garbage. */
const NEW_LIST = 2
const ELEMENT = 0.4
const NEW_OBJECT = 2
const ENTRY = 1
const CALL = 0.5
const POWER = 0.5
/** Of two numbers with many digits; whole ones take a tenth. */
const EXACT = 0.8
const VALUE_IN_TEXT = 2
const arithmeticWork: Readonly<Record<string, number>> = { '**': POWER, '+': EXACT, '-': EXACT, '*': EXACT }

/**
 * The work of one evaluation that is known before: of all parts, without arrow functions, and without what functions spend by
 * the size of what they are given.
 */
export function workOf(part: Expression, calls: Calls): number {
  const { parts, more } = counted(part, calls)
  return parts * (parts > MANY ? PART_OF_MANY : PART) + more
}

interface Count {
  readonly parts: number
  readonly more: number
}

function counted(part: Argument | Entry | Spread, calls: Calls): Count {
  // Each call of an arrow function counts its own work.
  if (part.kind === 'arrow') return { parts: 0, more: 0 }
  let [parts, more] = [1, ownWork(part, calls)]
  if (part.kind === 'choice') {
    const [test, then, otherwise] = [part.test, part.then, part.otherwise].map((one) => counted(one, calls))
    for (const one of [test, weight(then) > weight(otherwise) ? then : otherwise]) {
      parts += one?.parts ?? 0
      more += one?.more ?? 0
    }
    return { parts, more }
  }
  for (const one of partsOf(part)) {
    const inside = counted(one, calls)
    parts += inside.parts
    more += inside.more
  }
  return { parts, more }
}

function weight(count: Count | undefined): number {
  return count === undefined ? 0 : count.parts * PART + count.more
}

function ownWork(part: Expression | Entry | Spread, calls: Calls): number {
  switch (part.kind) {
    case 'list':
      return NEW_LIST + ELEMENT * part.elements.length
    case 'object':
      return NEW_OBJECT + ENTRY * part.entries.length
    case 'template':
      return VALUE_IN_TEXT * part.values.length
    case 'binary':
      return arithmeticWork[part.operator] ?? 0
    case 'call':
    case 'method':
      return CALL + calledWork(part, calls)
    default:
      return 0
  }
}

/** A method is of a text, a list or a number, which only the evaluation knows. */
function calledWork(part: Call | MethodCall, calls: Calls): number {
  if (part.kind === 'call') return calls.function(part.name)?.declaration.work ?? 0
  const works = (['text', 'list', 'number'] as const).map(
    (on) => calls.method(on, part.name)?.declaration.work ?? 0,
  )
  return Math.max(...works)
}

/** The longest text that an expression makes: about 1 MB. */
export const mostCharacters = 1_000_000

/** The longest list that an expression makes. */
export const mostElements = 10_000
