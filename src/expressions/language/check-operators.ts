import type { Binary, Expression, Unary } from './expression.ts'
import { reportDates, reportNumberInQuotes, reportOtherCase } from './meaning-traps.ts'
import type { ParameterTypes, TypeChecker } from './type-checker.ts'
import { anyType, conditionType, numberType, textType, type ValueType, wholeType } from './value-type.ts'
import { isComparable, isNumber, wordsFor } from './value-types.ts'

export function typeOfNegation(part: Unary, parameters: ParameterTypes, checker: TypeChecker): ValueType {
  const of = checker.type(part.of, parameters)
  if (part.operator === '!') return conditionType
  checkNumber(of, part.of, '-', checker)
  return of.kind === 'whole' ? wholeType : numberType
}

export function typeOfBinary(part: Binary, parameters: ParameterTypes, checker: TypeChecker): ValueType {
  const [left, right] = [checker.type(part.left, parameters), checker.type(part.right, parameters)]
  switch (part.operator) {
    case '==':
    case '!=':
      checkEquality(part, left, right, checker)
      reportOtherCase(part, checker.report)
      reportDates(part, left, right, checker.report)
      return conditionType
    case '<':
    case '<=':
    case '>':
    case '>=':
      checkOrder(part, left, right, checker)
      reportNumberInQuotes(part, left, right, checker.report)
      reportDates(part, left, right, checker.report)
      return conditionType
    case '+':
      return typeOfSum(part, left, right, checker)
    default: {
      checkNumber(left, part.left, part.operator, checker)
      checkNumber(right, part.right, part.operator, checker)
      const bothWhole = left.kind === 'whole' && right.kind === 'whole'
      return bothWhole && ['-', '*', '%'].includes(part.operator) ? wholeType : numberType
    }
  }
}

function typeOfSum(part: Binary, left: ValueType, right: ValueType, checker: TypeChecker): ValueType {
  const mixed = textWithNumber(part, left, right)
  if (mixed) {
    const said = `The operator + takes two numbers or two texts; this is a text and the other a number.`
    checker.report('error', `${said} Write number(x) or text(x).`, mixed)
    return anyType
  }
  for (const [type, operand] of [[left, part.left] as const, [right, part.right] as const]) {
    if (type.kind === 'any' || type.kind === 'text' || isNumber(type)) continue
    checker.report(
      'error',
      `The operator + takes two numbers or two texts; this is ${wordsFor(type)}.`,
      operand,
    )
  }
  if (left.kind === 'text' || right.kind === 'text') return textType
  if (left.kind === 'whole' && right.kind === 'whole') return wholeType
  return isNumber(left) || isNumber(right) ? numberType : anyType
}

function checkNumber(type: ValueType, operand: Expression, operator: string, { report }: TypeChecker) {
  if (type.kind === 'any' || isNumber(type)) return
  const advice = type.kind === 'text' ? ' Write number(x) to make a number of it.' : ''
  report('error', `The operator ${operator} takes numbers; this is ${wordsFor(type)}.${advice}`, operand)
}

/** The text of a text and a number. */
function textWithNumber(part: Binary, left: ValueType, right: ValueType): Expression | undefined {
  if (left.kind === 'text' && isNumber(right)) return part.left
  return right.kind === 'text' && isNumber(left) ? part.right : undefined
}

function checkEquality(part: Binary, left: ValueType, right: ValueType, { report }: TypeChecker) {
  const text = textWithNumber(part, left, right)
  if (text)
    report('error', 'A text never equals a number. Write number(x) to make a number of the text.', text)
  else if (!isComparable(left, right)) {
    const always = part.operator === '==' ? 'never holds' : 'always holds'
    report('warning', `This comparison ${always}: ${wordsFor(left)} with ${wordsFor(right)}.`, part)
  }
}

function checkOrder(part: Binary, left: ValueType, right: ValueType, { report }: TypeChecker) {
  const said = `The operator ${part.operator} compares two values of one type`
  for (const [type, operand] of [[left, part.left] as const, [right, part.right] as const]) {
    if (type.kind === 'nothing')
      report('warning', 'This comparison never holds: one side is nothing.', operand)
    if (type.kind === 'list' || type.kind === 'object')
      return report('error', `${said}, and ${wordsFor(type)} has no order.`, operand)
  }
  const text = textWithNumber(part, left, right)
  if (text) report('error', `${said}. Write number(x) to make a number of the text.`, text)
  else if (!isComparable(left, right))
    report('error', `${said}; these are ${wordsFor(left)} and ${wordsFor(right)}.`, part)
}
