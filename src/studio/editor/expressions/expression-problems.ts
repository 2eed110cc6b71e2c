/** What is wrong with a text while it is typed, before the server has seen it. */
import { checkExpression } from '../../../expressions/language/check-expression.ts'
import { declaredFunctions, declaredMethods } from '../../../expressions/language/declared/functions.ts'
import { literalProblem } from '../../../expressions/language/literals/literal-problem.ts'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import type { Declarations, TypeProblem } from '../../../expressions/language/type-checker.ts'
import { anyType, type ValueType } from '../../../expressions/language/value-types.ts'
import { whereFunctions } from '../../../expressions/language/where/where-condition.ts'
import type { PinType } from '../../../shared/pin-type.ts'
import type { ExpressionScope } from './expression-scope.ts'
import { documentName, isScopeName, scopeNames } from './parsed-pin.ts'

/** The first problem of the text; nothing is wrong with an empty one, which takes the expression away. */
export function expressionProblem(text: string, scope: ExpressionScope): TypeProblem | undefined {
  if (text.trim() === '') return undefined
  const { expression, problem } = parseExpression(text)
  if (!expression) return { ...problem, severity: 'error' }
  const { only } = scope
  const isSupplied = (name: string) =>
    only
      ? only.some((one) => one.name === name)
      : isScopeName(name) && (name !== documentName.name || scope.hasDoc === true)
  const blocks = new Map(scope.blocks.map(({ name, pins }) => [name, blockType(pins)]))
  const { problems } = checkExpression(expression, {
    declarations: declarations(scope.language === 'where'),
    names: [...blocks.keys(), ...(only ?? scopeNames).map(({ name }) => name)],
    typeOf: (name, inBlocks) => (!inBlocks && isSupplied(name) ? anyType : blocks.get(name)),
  })
  return problems.find(({ severity }) => severity !== 'warning') ?? problems[0]
}

/** Fields of what a pin gives are checked by the server, which knows storages. */
function blockType(pins: ExpressionScope['blocks'][number]['pins']): ValueType {
  return {
    kind: 'object',
    open: false,
    fields: Object.fromEntries(pins.map(({ id, type }) => [id, pinTypes[type] ?? anyType])),
  }
}

const pinTypes: Partial<Record<PinType, ValueType>> = {
  number: { kind: 'number' },
  condition: { kind: 'condition' },
  array: { kind: 'list', of: anyType },
  documents: { kind: 'list', of: anyType },
}

let table: Declarations | undefined

function declarations(isWhere: boolean): Declarations {
  table ??= {
    functions: declaredFunctions(),
    methods: declaredMethods(),
    literalProblem,
  }
  if (!isWhere) return table
  const functions = new Map(table.functions)
  for (const one of whereFunctions) functions.set(one.name, one)
  return { ...table, functions }
}
