import type { JsonValue } from '../../../shared/json.ts'
import {
  anyType,
  conditionType,
  listOf,
  numberType,
  textType,
  type ValueType,
  wholeType,
} from '../value-type.ts'
import { commonType } from '../value-types.ts'

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
