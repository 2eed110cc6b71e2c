import { nearestName } from '../../shared/names/nearest-name.ts'
import { countProblem } from './compile/compile-argument.ts'
import type { Arrow, Call, Expression, MethodCall, Place } from './expression.ts'
import { reportNeverContained, reportPattern } from './expression-lint.ts'
import type { FunctionDeclaration, ObjectResult, Parameter, ParameterType } from './function-declaration.ts'
import { didYouMean } from './new-text.ts'
import { typeOfMadeObject } from './object-types.ts'
import type { ParameterTypes, TypeChecker } from './type-checker.ts'
import {
  anyType,
  isNumber,
  listOf,
  mayBe,
  nothingType,
  numberType,
  type ValueType,
  wholeType,
  wordsFor,
} from './value-types.ts'

/** Functions that people know from JavaScript, by what they are called here. */
const fromJavaScript: ReadonlyMap<string, string> = new Map([
  ['Boolean', 'condition'],
  ['String', 'text'],
  ['parseFloat', 'number'],
  ['parseInt', 'number'],
])

export function typeOfCall(part: Call, outer: ParameterTypes, checker: TypeChecker): ValueType {
  const { functions } = checker.sources.declarations
  const declaration = functions.get(part.name)
  if (!declaration) {
    const known = fromJavaScript.get(part.name) ?? nearestName(part.name, [...functions.keys()])
    const meant = didYouMean(known)
    checker.report('error', `There is no function ${part.name}.${meant}`, part.at)
  }
  return typeOfResult(part, declaration, undefined, outer, checker)
}

export function typeOfMethod(part: MethodCall, outer: ParameterTypes, checker: TypeChecker): ValueType {
  const { methods } = checker.sources.declarations
  const of = checker.type(part.of, outer)
  const on = of.kind === 'text' || of.kind === 'list' ? of.kind : isNumber(of) ? 'number' : undefined
  const tables = on ? [methods[on]] : of.kind === 'any' ? Object.values(methods) : []
  const found = tables.flatMap((table) => table.get(part.name) ?? [])
  const [declaration] = found
  if (!declaration && of.kind !== 'nothing') {
    const meant = didYouMean(
      nearestName(
        part.name,
        tables.flatMap((table) => [...table.keys()]),
      ),
    )
    const what = of.kind === 'any' ? 'There is no method' : `There is no method for ${wordsFor(of)}:`
    checker.report('error', `${what} ${part.name}.${meant}`, part.at)
  }
  // Which of several it is, only the run knows.
  const result = typeOfResult(part, found.length > 1 ? undefined : declaration, of, outer, checker)
  return of.kind === 'nothing' ? nothingType : result
}

/** `self`: the value of a method. Without a declaration only the arguments are looked at. */
function typeOfResult(
  part: Call | MethodCall,
  declaration: FunctionDeclaration | undefined,
  self: ValueType | undefined,
  outer: ParameterTypes,
  checker: TypeChecker,
): ValueType {
  const parameters = declaration?.parameters ?? []
  const wrong = declaration && countProblem(part.name, part.arguments.length, parameters)
  if (wrong) checker.report('error', wrong, part)
  let list = self
  let arrow: ValueType | undefined
  const types: ValueType[] = []
  part.arguments.forEach((one, at) => {
    const parameter = parameters[at] ?? (parameters.at(-1)?.rest ? parameters.at(-1) : undefined)
    if (one.kind === 'arrow') {
      arrow = typeOfArrow(one, parameter, elementOf(list), outer, part.name, checker)
      return
    }
    const type = checker.type(one, outer)
    types.push(type)
    if (parameter && typesOf(parameter).some(({ kind }) => kind === 'items')) list = type
    if (parameter) checkArgument(one, type, parameter, part.name, checker)
  })
  if (part.name === 'contains') {
    const [of, item] = self ? [self, types[0]] : types
    reportNeverContained(part, of, item, checker.report)
  }
  if (!declaration) return anyType
  const { gives } = declaration
  if (gives === 'picked' || gives === 'omitted' || gives === 'merged')
    return typeOfMadeObject(gives, types, part.arguments)
  return resultOf(gives, list, arrow)
}

function typesOf({ type }: Parameter): readonly ParameterType[] {
  return 'kind' in type ? [type] : type
}

function elementOf(list: ValueType | undefined): ValueType {
  return list?.kind === 'list' ? list.of : anyType
}

function checkArgument(
  part: Expression,
  type: ValueType,
  parameter: Parameter,
  called: string,
  checker: TypeChecker,
): void {
  const requested = typesOf(parameter)
  if (requested.some(({ kind }) => kind === 'arrow')) {
    checker.report('error', `${called}: ${parameter.name} must be an arrow function such as x => x.`, part)
    return
  }
  const values = requested.map(valueType)
  if (values.some((one) => mayBe(type, one))) {
    for (const { text, place } of textsIn(part)) {
      const problem = checker.sources.declarations.literalProblem?.(called, parameter.name, text)
      if (problem !== undefined) checker.report('refused', `${called}: ${parameter.name} ${problem}.`, place)
      else if (called === 'format' && parameter.name === 'pattern') reportPattern(text, place, checker.report)
    }
    return
  }
  const takes = values.map(wordsFor).join(' or ')
  const advice =
    type.kind === 'text' && values.some(isNumber) ? ' Write number(x) to make a number of it.' : ''
  checker.report(
    'error',
    `${called}: ${parameter.name} must be ${takes}; this is ${wordsFor(type)}.${advice}`,
    part,
  )
}

/** Texts that are written out: the argument itself, or the names of its fields. */
function textsIn(part: Expression): readonly { readonly text: string; readonly place: Place }[] {
  if (part.kind === 'literal')
    return typeof part.value === 'string' ? [{ text: part.value, place: part }] : []
  if (part.kind !== 'object') return []
  return part.entries.flatMap((one) => (one.kind === 'entry' ? [{ text: one.key, place: one }] : []))
}

/** What a parameter that is no arrow function takes, as a type of values. */
function valueType(type: ParameterType): ValueType {
  if (type.kind === 'items') return listOf(anyType)
  return type.kind === 'item' || type.kind === 'arrow' ? anyType : type
}

/** The type of what an arrow function gives. */
function typeOfArrow(
  part: Arrow,
  parameter: Parameter | undefined,
  element: ValueType,
  outer: ParameterTypes,
  called: string,
  checker: TypeChecker,
): ValueType {
  const arrow = parameter && typesOf(parameter).find((one) => one.kind === 'arrow')
  if (parameter && arrow?.kind !== 'arrow')
    checker.report('error', `${called}: ${parameter.name} cannot be an arrow function.`, part)
  const known =
    arrow?.kind !== 'arrow'
      ? []
      : arrow.takes === 'item'
        ? [element, wholeType]
        : [anyType, element, wholeType]
  const types = [...outer]
  part.parameters.forEach(({ slot }, at) => {
    types[slot] = known[at] ?? anyType
  })
  const gives = checker.type(part.body, types)
  if (arrow?.kind === 'arrow' && arrow.gives === 'number' && !mayBe(gives, numberType))
    checker.report(
      'error',
      `${called}: the arrow function must give a number; this is ${wordsFor(gives)}.`,
      part.body,
    )
  return gives
}

function resultOf(
  gives: Exclude<FunctionDeclaration['gives'], ObjectResult>,
  list: ValueType | undefined,
  arrow: ValueType | undefined,
): ValueType {
  switch (gives) {
    case 'item':
      return elementOf(list)
    case 'items':
      return list?.kind === 'list' ? list : listOf(anyType)
    case 'arrow':
      return arrow ?? anyType
    case 'arrows':
      return listOf(arrow ?? anyType)
    default:
      return gives
  }
}
