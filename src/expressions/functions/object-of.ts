import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { ArgumentError } from '../language/function-declaration.ts'

/** A plain object with these as its own keys. `__proto__` is refused, as it is in every body and document. */
export function objectOf(parameter: string, entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  const own = [...entries]
  if (own.some(([key]) => key === '__proto__'))
    throw new ArgumentError(parameter, 'gives a key named __proto__')
  return Object.fromEntries(own)
}
