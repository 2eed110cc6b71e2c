import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import type { Query, Scalar } from '../../shared/query.ts'
import { UnknownKey } from '../../storage/unique/active-unique-key.ts'
import { OutdatedPin, PinError } from '../block.ts'
import { numberInText } from '../pins/scalar-values.ts'

/** What holds when all do; undefined (no filter) for none, and a single one as it is. */
export function allOf(queries: readonly Query[]): Query | undefined {
  return queries.length > 1 ? { kind: 'and', queries } : queries[0]
}

/** What holds when at least one does; undefined (no filter) for none, and a single one as it is. */
export function anyOf(queries: readonly Query[]): Query | undefined {
  return queries.length > 1 ? { kind: 'or', queries } : queries[0]
}

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

// The pin `by` of blocks that find a document by its unique fields.

/** Throws PinError for what is no list of names. */
export function keyFields(by: readonly JsonValue[]): readonly string[] {
  return by.map((name) => {
    if (typeof name === 'string') return name
    throw new PinError('by', 'must be the name of a unique field, or a list of names')
  })
}

/** What the write gives. Throws OutdatedPin where the storage has no such key: a field that was unique no longer is. */
export function orUnknownKey<T>(write: () => MaybePromise<T>): MaybePromise<T> {
  return recover<T, T>(write, (error) => {
    throw error instanceof UnknownKey ? new OutdatedPin('by', error.reason) : error
  })
}

/** A document without a value of the key is refused as one without a required field is: 400 for the client that sent it. */
export function withoutKeyValue(by: readonly string[]): QuoinError {
  const message = `${by.join(' and ')} must have a value: the document is found by it.`
  return new QuoinError('INVALID_BODY', message, { fields: by })
}

/**
 * Which document a block is about: the pin `guid`, or else the guid of the document on the pin `document`. Throws
 * PinError when neither names one.
 */
export function documentGuid(inputs: {
  readonly guid: string | undefined
  readonly document: JsonObject | undefined
}): string {
  if (inputs.guid) return inputs.guid
  if (!inputs.document) throw new PinError('guid', 'is empty')
  const meta = inputs.document._meta
  const guid = isJsonObject(meta) ? meta.guid : undefined
  if (typeof guid !== 'string' || guid === '')
    throw new PinError('document', 'has no _meta.guid, so it is not a stored document')
  return guid
}
