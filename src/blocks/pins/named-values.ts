/**
 * Pins that a block's settings add by name, of the type `any`, and the objects that are put together from them. A dot in
 * a name goes into an object, as it does in the fields of documents.
 */
import { type FieldPath, parseFieldPath } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { ValueContext } from '../context.ts'
import type { InPins } from '../pin.ts'

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

type Mutable = Record<string, JsonValue>

/**
 * A copy of the object with the values that came in on the named pins; those that are empty change nothing. What is not on
 * the path to a value is shared with the original, and each object on a path is copied once, for all of the names.
 */
export function withNamedValues(
  object: JsonObject,
  names: readonly string[],
  context: Pick<ValueContext, 'more'>,
): JsonObject {
  let result: Mutable | undefined
  const copies = new Map<JsonValue | undefined, Mutable>()
  for (const name of names) {
    const value = namedValue(context, name)
    if (value === undefined) continue
    result ??= { ...object }
    setAt(result, parseFieldPath(name), value, copies)
  }
  return result ?? object
}

/** What is no object on the way is replaced by one. `copies`: the objects made here, which may be changed in place. */
function setAt(
  root: Mutable,
  path: FieldPath,
  value: JsonValue,
  copies: Map<JsonValue | undefined, Mutable>,
): void {
  let parent = root
  for (const key of path.slice(0, -1)) {
    const inner = Object.hasOwn(parent, key) ? parent[key] : undefined
    const known = copies.get(inner)
    const copy: Mutable = known ?? (isJsonObject(inner) ? { ...inner } : {})
    copies.set(copy, copy)
    parent[key] = copy
    parent = copy
  }
  parent[path[path.length - 1] ?? ''] = value
}
