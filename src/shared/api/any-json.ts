import { Type } from 'typebox'
import type { JsonValue } from '../json.ts'

/** Any JSON value, with its type. */
export function anyJson(description?: string) {
  return Type.Unsafe<JsonValue>(description === undefined ? {} : { description })
}

/** JSON of a known type that is sent as it is stored: no reply is checked against the type. */
export function typedJson<T>(description: string) {
  return Type.Unsafe<T>({ description })
}
