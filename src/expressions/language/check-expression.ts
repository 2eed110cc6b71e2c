import { nearestName } from '../../shared/names/nearest-name.ts'
import { typeOfCall, typeOfMethod } from './check-call.ts'
import type {
  Binary,
  Expression,
  Index,
  NameRead,
  ParsedExpression,
  Place,
  Spread,
  Template,
  Unary,
} from './expression.ts'
import {
  reportDates,
  reportLooseAlternative,
  reportNumberInQuotes,
  reportOtherCase,
} from './expression-lint.ts'
import { didYouMean } from './new-text.ts'
import { typeOfObject } from './object-types.ts'
import type { ParameterTypes, TypeChecker, TypeProblem, TypeSources } from './type-checker.ts'
import {
  anyType,
  commonType,
  conditionType,
  eitherType,
  isComparable,
  isNumber,
  mayBe,
  nothingType,
  numberType,
  textType,
  type ValueType,
  wholeType,
  wordsFor,
} from './value-types.ts'

/** What an expression gives, and what is wrong with it, as far as it can be known before a run. */
export function checkExpression(
  expression: ParsedExpression,
  sources: TypeSources,
): { readonly type: ValueType; readonly problems: readonly TypeProblem[] } {
  const problems: TypeProblem[] = []
  const checker: TypeChecker = {
    sources,
    type: (part, parameters) => typeOf(part, parameters, checker),
    report: (severity, message, { start, end }) => problems.push({ severity, message, start, end }),
  }
  const { root } = expression
  const type = checker.type(root, [])
  const { expected } = sources
  if (expected && !mayBe(type, expected))
    checker.report('error', `The value must be ${wordsFor(expected)}; this is ${wordsFor(type)}.`, root)
  return { type, problems }
}

function typeOf(part: Expression, parameters: ParameterTypes, checker: TypeChecker): ValueType {
  const { type } = checker
  switch (part.kind) {
    case 'literal':
      return typeOfLiteral(part.value)
    case 'name':
      return typeOfName(part, checker)
    case 'parameter':
      return parameters[part.slot] ?? anyType
    case 'member':
      return typeOfField(type(part.of, parameters), part.key, part, checker)
    case 'index':
      return typeOfIndex(part, parameters, checker)
    case 'list':
      return {
        kind: 'list',
        of: commonType(part.elements.map((one) => typeOfElement(one, parameters, checker))),
      }
    case 'object':
      return typeOfObject(part.entries, parameters, checker)
    case 'template':
      return typeOfTemplate(part, parameters, checker)
    case 'unary':
      return typeOfNegation(part, parameters, checker)
    case 'binary':
      return typeOfBinary(part, parameters, checker)
    case 'logical':
      reportLooseAlternative(part, checker.report)
      return eitherType(type(part.left, parameters), type(part.right, parameters))
    case 'choice':
      type(part.test, parameters)
      return eitherType(type(part.then, parameters), type(part.otherwise, parameters))
    case 'let': {
      const types = [...parameters]
      for (const { slot, value } of part.bindings) types[slot] = type(value, types)
      return type(part.body, types)
    }
    case 'call':
      return typeOfCall(part, parameters, checker)
    case 'method':
      return typeOfMethod(part, parameters, checker)
  }
}

function typeOfLiteral(value: string | number | boolean | null): ValueType {
  if (value === null) return nothingType
  if (typeof value === 'number') return Number.isInteger(value) ? wholeType : numberType
  return typeof value === 'string' ? textType : conditionType
}

function typeOfName(part: NameRead, { sources, report }: TypeChecker): ValueType {
  const type = sources.typeOf(part.name, part.inBlocks)
  if (type) return type
  const what = part.inBlocks ? 'block' : 'name'
  const isFunction = sources.declarations.functions.has(part.name)
  const advice = isFunction
    ? ` Call the function: ${part.name}(…).`
    : didYouMean(nearestName(part.name, sources.names))
  report('error', `There is no ${what} ${part.name}.${advice}`, part.at)
  return anyType
}

function typeOfElement(
  part: Expression | Spread,
  parameters: ParameterTypes,
  checker: TypeChecker,
): ValueType {
  if (part.kind !== 'spread') return checker.type(part, parameters)
  const type = checker.type(part.of, parameters)
  if (type.kind === 'list') return type.of
  if (type.kind !== 'any' && type.kind !== 'nothing')
    checker.report('error', `Only a list can be spread into a list; this is ${wordsFor(type)}.`, part.of)
  return anyType
}

function typeOfTemplate(part: Template, parameters: ParameterTypes, checker: TypeChecker): ValueType {
  for (const one of part.values) {
    const type = checker.type(one, parameters)
    if (type.kind === 'list' || type.kind === 'object')
      checker.report('error', `A text cannot contain ${wordsFor(type)}. Choose a part of it.`, one)
  }
  return textType
}

/** A field that is not known is a warning: it is nothing when the expression runs. */
function typeOfField(of: ValueType, key: string, place: Place, { report, sources }: TypeChecker): ValueType {
  if (of.kind === 'any' || of.kind === 'nothing') return of
  if (key === 'length' && (of.kind === 'list' || of.kind === 'text')) return wholeType
  if (of.kind === 'object') {
    const field = Object.hasOwn(of.fields, key) ? of.fields[key] : undefined
    if (field) return field
    const copied = of.without?.includes(key) ? undefined : of.copyOf?.fields
    if (copied && Object.hasOwn(copied, key)) return copied[key] ?? anyType
    if (of.stored) sources.unlisted?.(of, key, place)
    if (of.replyOf !== undefined)
      report(
        'warning',
        `The document of ${of.replyOf} names no field ${key} there.${didYouMean(nearestName(key, Object.keys(of.fields)))}`,
        place,
      )
    if (of.open) return anyType
    const meant = nearestName(key, Object.keys(of.fields))
    report('warning', `The object has no field ${key}.${didYouMean(meant)}`, place)
    return nothingType
  }
  const advice =
    of.kind === 'list' ? ' Choose an element, such as first(list), or write list.map(x => x.field).' : ''
  report('warning', `There is no field ${key} in ${wordsFor(of)}.${advice}`, place)
  return nothingType
}

function typeOfIndex(part: Index, parameters: ParameterTypes, checker: TypeChecker): ValueType {
  const [of, key] = [checker.type(part.of, parameters), checker.type(part.key, parameters)]
  const { key: written } = part
  if (written.kind === 'literal' && typeof written.value === 'string')
    return typeOfField(of, written.value, part, checker)
  if (!mayBe(key, textType) && !isNumber(key))
    checker.report(
      'error',
      `An index must be a number or the name of a field; this one is ${wordsFor(key)}.`,
      written,
    )
  if (!isNumber(key)) return anyType
  if (of.kind === 'list') return of.of
  return of.kind === 'text' ? textType : anyType
}

function typeOfNegation(part: Unary, parameters: ParameterTypes, checker: TypeChecker): ValueType {
  const of = checker.type(part.of, parameters)
  if (part.operator === '!') return conditionType
  checkNumber(of, part.of, '-', checker)
  return of.kind === 'whole' ? wholeType : numberType
}

function typeOfBinary(part: Binary, parameters: ParameterTypes, checker: TypeChecker): ValueType {
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
