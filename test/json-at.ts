import { isJsonObject, type JsonObject, type JsonValue } from '../src/shared/json.ts'

/** What is at a path of parsed JSON: `jsonAt(body, '_meta', 'guid')`. undefined where the path leads nowhere. */
export function jsonAt(
  value: JsonValue | undefined,
  ...path: readonly (string | number)[]
): JsonValue | undefined {
  let at = value
  for (const step of path) {
    if (typeof step === 'number') at = Array.isArray(at) ? at[step] : undefined
    else at = isJsonObject(at) ? at[step] : undefined
  }
  return at
}

/** The text there. Throws, showing the value, when there is none. */
export function textAt(value: JsonValue | undefined, ...path: readonly (string | number)[]): string {
  const found = jsonAt(value, ...path)
  if (typeof found !== 'string') throw new TypeError(`No text at ${path.join('.')}: ${JSON.stringify(value)}`)
  return found
}

/** A value that must be an object. Throws, showing it, when it is none. */
export function recordIn(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new TypeError(`No object: ${JSON.stringify(value)}`)
  return value
}

/** A value that must be a list of objects. Throws, showing what is none. */
export function recordsIn(value: JsonValue | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) throw new TypeError(`No list: ${JSON.stringify(value)}`)
  return value.map(recordIn)
}
