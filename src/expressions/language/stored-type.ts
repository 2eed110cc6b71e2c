import type { FieldTypeEntry } from '../../shared/fields/field-type.ts'
import {
  anyType,
  conditionType,
  listOf,
  numberType,
  objectType,
  textType,
  type ValueType,
} from './value-type.ts'

/**
 * What expressions take a field of documents for. A date is text, or a number that is Unix seconds; a choice is text or a number.
 */
export const typeOfStored: Readonly<Record<FieldTypeEntry['value'], ValueType>> = {
  text: textType,
  number: numberType,
  condition: conditionType,
  object: objectType,
  list: listOf(anyType),
  any: anyType,
}
