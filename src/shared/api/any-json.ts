import { Type } from 'typebox'
import type { JsonValue } from '../json.ts'

/** Any JSON value, with its type. */
export function anyJson(description?: string) {
  return Type.Unsafe<JsonValue>(description === undefined ? {} : { description })
}
