import type { BlockContent } from '../../../shared/blueprint.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { ENVIRONMENT_NAME } from '../../../shared/names/stored-names.ts'
import { namesOf } from '../expression.ts'
import { parseExpression } from '../parse-expression.ts'
import {
  anyType,
  commonType,
  conditionType,
  listOf,
  numberType,
  textType,
  type ValueType,
  wholeType,
} from '../value-types.ts'

/** The names of values of the environment that expressions of blocks read, `NAME` of `env.NAME`, sorted. */
export function environmentNames(blocks: readonly Pick<BlockContent, 'in_pins'>[]): readonly string[] {
  const names = new Set<string>()
  for (const { in_pins: pins } of blocks)
    for (const { expression: text } of pins) if (text?.includes('env')) collect(text, names)
  return [...names].sort()
}

const isName = new RegExp(ENVIRONMENT_NAME)

function collect(text: string, names: Set<string>): void {
  const { expression } = parseExpression(text)
  if (!expression) return
  for (const { name, inBlocks, path } of namesOf(expression)) {
    const [key] = path
    if (name === 'env' && !inBlocks && key !== undefined && isName.test(key)) names.add(key)
  }
}

/** The type that a value has now. Nothing may be anything later. */
export function typeOfValue(value: JsonValue): ValueType {
  if (value === null) return anyType
  if (typeof value === 'string') return textType
  if (typeof value === 'number') return Number.isInteger(value) ? wholeType : numberType
  if (typeof value === 'boolean') return conditionType
  if (Array.isArray(value)) return listOf(commonType(value.map(typeOfValue)))
  const fields = Object.entries(value).map(([key, one]) => [key, typeOfValue(one)] as const)
  return { kind: 'object', open: false, fields: Object.fromEntries(fields) }
}
