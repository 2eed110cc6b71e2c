import {
  anyType,
  conditionType,
  listOf,
  numberType,
  objectType,
  textType,
  type ValueType,
} from '../../../expressions/language/value-types.ts'
import type { PinType } from '../../../shared/pin-type.ts'
import type { Wire } from '../blueprint-graph.ts'

const types: Readonly<Partial<Record<PinType, ValueType>>> = {
  value: textType,
  line: textType,
  number: numberType,
  condition: conditionType,
  date: textType,
  function: textType,
  object: objectType,
  document: objectType,
  user: objectType,
  file: objectType,
  array: listOf(anyType),
  documents: listOf(objectType),
}

/** The type of what a wire gives in an expression. A date is its text. */
export function typeOfPin({ node, pin }: Wire): ValueType {
  const out = node.out.get(pin)
  const type = out?.type === 'flow' ? (out.carries ?? 'any') : (out?.type ?? 'any')
  return types[type] ?? anyType
}

/** The pin that gives such values. */
export function pinOfType(type: ValueType): PinType {
  switch (type.kind) {
    case 'text':
      return 'value'
    case 'number':
    case 'whole':
      return 'number'
    case 'condition':
      return 'condition'
    case 'list':
      return 'array'
    case 'object':
      return 'object'
    default:
      return 'any'
  }
}
