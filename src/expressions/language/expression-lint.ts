/** What an expression says is not what its builder meant, most likely: it can run, and its result would be silently wrong. */
import type { Argument, Binary, Call, Expression, MethodCall, Place } from './expression.ts'
import type { TypeChecker } from './type-checker.ts'
import { isComparable, isNumber, type ValueType, wordsFor } from './value-types.ts'

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
    const input = call.kind === 'call' ? call.arguments[0] : call.of
    if (input === undefined || readsDocument(input)) continue
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

const DAY = /^\d{4}-\d{2}-\d{2}$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T/
/** What all dates of a year or a month begin with. */
const START = /^\d{4}(-\d{2})?$/

/** `doc.at == "2026-03-01"` of an instant, and `doc.due < "1.3.2026"`. */
export function reportDates(part: Binary, left: ValueType, right: ValueType, report: Report): void {
  const [a, b] = [momentOf(part.left, left), momentOf(part.right, right)]
  const isEquality = part.operator === '==' || part.operator === '!='
  if (isEquality && [a, b].includes('day') && [a, b].includes('instant')) {
    report(
      'warning',
      'A day never equals an instant, which has a time. Write x >= day && x <= day: it is the whole day.',
      part,
    )
    return
  }
  for (const [side, other] of [[part.left, b] as const, [part.right, a] as const]) {
    const text = textOf(side)
    if (
      text === undefined ||
      text === '' ||
      other === undefined ||
      textOf(side === part.left ? part.right : part.left)
    )
      continue
    if (DAY.test(text) || INSTANT.test(text) || (!isEquality && START.test(text))) continue
    const shown = JSON.stringify(text)
    report(
      'warning',
      `Dates are texts such as "2026-03-01" and "2026-03-01T09:00:00Z"; ${shown} is none of them.`,
      side,
    )
  }
}

function momentOf(part: Expression, type: ValueType): 'day' | 'instant' | 'either' | undefined {
  if (part.kind === 'call') return part.name === 'now' ? 'instant' : part.name === 'today' ? 'day' : undefined
  const text = textOf(part)
  if (text !== undefined) return DAY.test(text) ? 'day' : INSTANT.test(text) ? 'instant' : undefined
  return 'date' in type ? type.date : undefined
}

/** `hh:mm` of an afternoon, `HH:MM` and `dd.mm.yyyy`. */
export function reportPattern(pattern: string, place: Place, report: Report): void {
  const plain = pattern.replace(/'[^']*'/g, ' ')
  const hours = /h+|K+/.exec(plain)?.[0]
  if (hours && !plain.includes('a'))
    report(
      'warning',
      `${hours} counts to 12, and nothing says whether it is afternoon. Write HH, or add a.`,
      place,
    )
  if (/[HhKk][^A-Za-z]?MM?([^M]|$)/.test(plain)) report('warning', 'MM is the month. Minutes are mm.', place)
  if (/m/.test(plain) && !/[HhKks]/.test(plain)) report('warning', 'mm are minutes. The month is MM.', place)
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
