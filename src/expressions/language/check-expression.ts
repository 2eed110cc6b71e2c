import { nearestName } from '../../shared/names/nearest-name.ts'
import { typeOfField, typeOfIndex } from './check-access.ts'
import { typeOfCall, typeOfMethod } from './check-call.ts'
import { typeOfBinary, typeOfNegation } from './check-operators.ts'
import { didYouMean } from './did-you-mean.ts'
import type { Expression, NameRead, ParsedExpression, Spread, Template } from './expression.ts'
import { reportLooseAlternative } from './meaning-traps.ts'
import { typeOfObject } from './object-types.ts'
import type { ParameterTypes, TypeChecker, TypeProblem, TypeSources } from './type-checker.ts'
import {
  anyType,
  conditionType,
  nothingType,
  numberType,
  textType,
  type ValueType,
  wholeType,
} from './value-type.ts'
import { commonType, eitherType, mayBe, wordsFor } from './value-types.ts'

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
