/**
 * Pins that a block's settings add by name, of the type `any`, and the objects that are put together from them. A dot in
 * a name goes into an object, as it does in the fields of documents.
 */
import { type FieldPath, parseFieldPath } from '../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import type { ValueContext } from './context.ts'
import type { InPins } from './pin.ts'

/** One optional in-pin of the type `any` for each name. */
export function pinsNamed(names: readonly string[], helpFor: (name: string) => string): InPins {
  return Object.fromEntries(names.map((name) => [name, { type: 'any', help: helpFor(name) }]))
}

/** What came in on a pin of {@link pinsNamed}; undefined when it is not wired or empty. */
export function namedValue(context: Pick<ValueContext, 'more'>, name: string): JsonValue | undefined {
  const value = Object.hasOwn(context.more, name) ? context.more[name] : undefined
  if (value === undefined || isJson(value)) return value
  throw new TypeError(`The pin ${name} holds a ${typeof value}, which a pin of the type any never does.`)
}

/** The converters of `any` pins let nothing else through; what is inside a value was checked when it came in. */
function isJson(value: unknown): value is JsonValue {
  return value === null || ['string', 'number', 'boolean', 'object'].includes(typeof value)
}

/** A copy of the object with the values that came in on the named pins; those that are empty change nothing. */
export function withNamedValues(
  object: JsonObject,
  names: readonly string[],
  context: Pick<ValueContext, 'more'>,
): JsonObject {
  let result = object
  for (const name of names) {
    const value = namedValue(context, name)
    if (value !== undefined) result = withValueAt(result, parseFieldPath(name), value)
  }
  return result
}

/** A copy with one value set; what is not on the path is shared with the original. What is no object there is replaced. */
function withValueAt(object: JsonObject, path: FieldPath, value: JsonValue): JsonObject {
  const [key, ...rest] = path
  if (key === undefined) return object
  if (rest.length === 0) return { ...object, [key]: value }
  const inner = Object.hasOwn(object, key) ? object[key] : undefined
  return { ...object, [key]: withValueAt(isJsonObject(inner) ? inner : {}, rest, value) }
}
