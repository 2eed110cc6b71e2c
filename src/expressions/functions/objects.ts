import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { objectFunctions } from '../language/declared/objects.ts'
import { ArgumentError } from '../language/function-declaration.ts'
import type { BodiesOf } from './body-of.ts'
import { spendOn, spendOnNew } from './bounded.ts'

/** Making an object of a thousand fields takes as long as going through some thousands of elements. */
const PER_FIELD = 5
const WORK_PER_FIELD = 6

export const objectBodies: BodiesOf<typeof objectFunctions> = {
  keys: (context, object) => {
    const keys = Object.keys(object)
    spendOnNew(context, 'object', keys.length)
    context.spend(0, WORK_PER_FIELD * keys.length)
    return keys
  },
  values: (context, object) => {
    const values = Object.values(object)
    spendOnNew(context, 'object', values.length)
    context.spend(0, WORK_PER_FIELD * values.length)
    return values
  },
  entries: (context, object) => {
    const keys = Object.keys(object)
    spendOnNew(context, 'object', keys.length)
    context.spend(0, WORK_PER_FIELD * keys.length)
    return keys.map((key) => ({ key, value: object[key] ?? null }))
  },
  fromEntries: (context, list) => {
    spendOn(context, 'list', list)
    context.spend(0, WORK_PER_FIELD * list.length)
    return objectOf(
      'list',
      list.map((entry) => {
        if (!isJsonObject(entry) || typeof entry.key !== 'string')
          throw new ArgumentError('list', 'must hold objects with key (a text) and value')
        return [entry.key, entry.value ?? null]
      }),
    )
  },
  pick: (context, object, names) => {
    spendOn(context, 'names', names)
    context.spend(0, WORK_PER_FIELD * names.length)
    const own = names.filter((name) => typeof name === 'string' && Object.hasOwn(object, name))
    return objectOf(
      'names',
      own.map((name) => [String(name), object[String(name)] ?? null]),
    )
  },
  omit: (context, object, names) => {
    spendOn(context, 'names', names)
    const left = new Set(names)
    const entries = Object.entries(object)
    context.spend(PER_FIELD * entries.length, WORK_PER_FIELD * entries.length)
    return objectOf(
      'object',
      entries.filter(([key]) => !left.has(key)),
    )
  },
  merge: (context, ...objects) => {
    const entries = objects.flatMap((object) => Object.entries(object))
    context.spend(PER_FIELD * entries.length, WORK_PER_FIELD * entries.length)
    return objectOf('objects', entries)
  },
  has: (_, object, name) => Object.hasOwn(object, name) && (object[name] ?? null) !== null,
}

/** A plain object with these as its own keys. `__proto__` is refused, as it is in every body and document. */
export function objectOf(parameter: string, entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  const own = [...entries]
  if (own.some(([key]) => key === '__proto__'))
    throw new ArgumentError(parameter, 'gives a key named __proto__')
  return Object.fromEntries(own)
}
