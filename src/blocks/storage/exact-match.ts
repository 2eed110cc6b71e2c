import type { JsonValue } from '../../shared/json.ts'
import type { Query, Scalar } from '../../shared/query.ts'
import { PinError } from '../block.ts'
import { numberInText } from '../pins/scalar-text.ts'

/**
 * The scalars in a value or a list of them, without nulls. Throws PinError for objects and lists in lists. How many there
 * may be is for the storage to say.
 */
export function scalarsOf(pin: string, value: JsonValue | undefined): readonly Scalar[] {
  if (value === undefined || value === null) return []
  const items: readonly JsonValue[] = Array.isArray(value) ? value : [value]
  return items.flatMap((item) => {
    if (item === null) return []
    if (typeof item === 'object')
      throw new PinError(pin, 'must be text, a number, true or false, or a list of these')
    return [item]
  })
}

/**
 * Documents whose field is one of the values; at least one value.
 *
 * Queries compare types strictly, but what comes with a request is text: `?done=true&priority=5`. So text that spells a
 * number, true or false also matches that number or boolean. It is not replaced by it: a house number or a code may be
 * stored as text. Numbers and booleans match only themselves.
 */
export function matchesAny(field: string, values: readonly Scalar[]): Query {
  const all = new Set<Scalar>()
  for (const value of values) {
    all.add(value)
    const spelled = typeof value === 'string' ? spelledBy(value) : undefined
    if (spelled !== undefined) all.add(spelled)
  }
  const [first, ...rest] = all
  return first !== undefined && rest.length === 0
    ? { kind: 'term', field, value: first }
    : { kind: 'terms', field, values: [...all] }
}

/** Documents whose field is missing, null or the empty text. */
export function matchesEmpty(field: string): Query {
  return {
    kind: 'or',
    queries: [
      { kind: 'not', query: { kind: 'exists', field } },
      { kind: 'term', field, value: '' },
    ],
  }
}

function spelledBy(text: string): number | boolean | undefined {
  if (text === 'true') return true
  if (text === 'false') return false
  return numberInText(text)
}
