/** What an expression says is not what its builder meant, most likely: it can run, and its result would be silently wrong. */
import type { Argument, Binary, Call, Expression, MethodCall } from './expression.ts'
import type { TypeChecker } from './type-checker.ts'
import type { ValueType } from './value-type.ts'
import { isComparable, isNumber, wordsFor } from './value-types.ts'

type Report = TypeChecker['report']
type Logical = Extract<Expression, { readonly kind: 'logical' }>

const NUMBER = /^-?\d+(\.\d+)?$/
/** The beginning of a day or a time, which is a text. */
const YEAR = /^(19|20)\d\d$/

/** `query.page < "10"`: texts are compared character by character. */
export function reportNumberInQuotes(part: Binary, left: ValueType, right: ValueType, report: Report): void {
  for (const [side, type] of [[part.left, right] as const, [part.right, left] as const]) {
    const text = textOf(side)
    if (text === undefined || !NUMBER.test(text) || YEAR.test(text)) continue
    if (type.kind !== 'text' && type.kind !== 'any') continue
    const cure =
      type.kind === 'text' ? `Write number(x) and ${text} without quotes.` : `Write ${text} without quotes.`
    report(
      'warning',
      `"${text}" is a text, and texts are in the order of their characters: "10" is before "9". ${cure}`,
      side,
    )
    return
  }
}

/** `lower(x) == "Open"`. Of a document in a `where` it leaves case out on both sides. */
export function reportOtherCase(part: Binary, report: Report): void {
  for (const [call, other] of [[part.left, part.right] as const, [part.right, part.left] as const]) {
    const text = textOf(other)
    if (text === undefined || (call.kind !== 'call' && call.kind !== 'method')) continue
    const given = call.kind === 'call' ? call.arguments[0] : call.of
    if (given === undefined || readsDocument(given)) continue
    const isLower = call.name === 'lower' || call.name === 'toLowerCase'
    if (!isLower && call.name !== 'upper' && call.name !== 'toUpperCase') continue
    const cased = isLower ? text.toLowerCase() : text.toUpperCase()
    if (cased !== text)
      report(
        'warning',
        `${call.name} never gives ${JSON.stringify(text)}. Write ${JSON.stringify(cased)}.`,
        other,
      )
  }
}

/** `status == "a" || "b"`, and `status == ("a" || "b")`. */
export function reportLooseAlternative({ operator, left, right }: Logical, report: Report): void {
  if (operator !== '||') return
  const cure = 'Compare each value, or write contains([a, b], x).'
  if (isLiteral(right) && isAnswer(left))
    report('warning', `This value is not compared with anything, and is true. ${cure}`, right)
  else if (isLiteral(left)) report('warning', `The first of these values is always taken. ${cure}`, left)
}

/** `contains(tags, 5)` where the tags are texts. */
export function reportNeverContained(
  part: Call | MethodCall,
  list: ValueType | undefined,
  item: ValueType | undefined,
  report: Report,
) {
  if (list?.kind !== 'list' || item === undefined || isComparable(list.of, item)) return
  const cure = isNumber(item) && list.of.kind === 'text' ? ' Write text(x) to make a text of it.' : ''
  report(
    'warning',
    `The list never contains this: its elements are ${wordsFor(list.of)}, and this is ${wordsFor(item)}.${cure}`,
    part,
  )
}

function textOf(part: Expression): string | undefined {
  return part.kind === 'literal' && typeof part.value === 'string' ? part.value : undefined
}

function isLiteral(part: Expression): boolean {
  return (
    part.kind === 'literal' &&
    (typeof part.value === 'string' || typeof part.value === 'number') &&
    Boolean(part.value)
  )
}

/** Whether it says yes or no, so that a value beside it is no default. */
function isAnswer(part: Expression): boolean {
  if (part.kind === 'logical') return isAnswer(part.left)
  if (part.kind === 'binary') return ['==', '!=', '<', '<=', '>', '>='].includes(part.operator)
  return (part.kind === 'call' || part.kind === 'method') && part.name === 'contains'
}

function readsDocument(part: Argument): boolean {
  let of: Argument = part
  while (of.kind === 'member' || of.kind === 'index') of = of.of
  return of.kind === 'name' && of.name === 'doc' && !of.inBlocks
}
