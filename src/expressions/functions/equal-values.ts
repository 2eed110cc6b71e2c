import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { isJsonObject } from '../../shared/json.ts'
import { ArgumentError } from '../language/function-declaration.ts'

/** Values share parts, so that small ones may be endless when they are walked: after so many comparisons they are refused. */
const MOST_COMPARISONS = 200_000

/**
 * Whether a value is equal to `wanted`, as `==` of the language means it: the same type and deeply equal; a field that is null
 * is as one that is missing. All calls together make a bounded number of comparisons.
 */
export function equalTo(parameter: string, wanted: JsonValue): (value: JsonValue) => boolean {
  let left = MOST_COMPARISONS

  function areEqual(a: JsonValue, b: JsonValue): boolean {
    if (a === b) return true
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    if (--left < 0) throw new ArgumentError(parameter, 'holds values that are too large to compare')
    if (isList(a))
      return isList(b) && a.length === b.length && a.every((item, i) => areEqual(item, b[i] ?? null))
    return isJsonObject(b) && areFieldsEqual(a, b)
  }

  function areFieldsEqual(a: JsonObject, b: JsonObject): boolean {
    const names = new Set([...Object.keys(a), ...Object.keys(b)])
    return [...names].every((name) => areEqual(own(a, name), own(b, name)))
  }

  return (value) => areEqual(value, wanted)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function own(object: JsonObject, key: string): JsonValue {
  return Object.hasOwn(object, key) ? (object[key] ?? null) : null
}
