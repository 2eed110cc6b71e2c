/** The pin `by` of blocks that find a document by its unique fields. */
import type { JsonValue } from '../../shared/json.ts'
import { type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import { UnknownKey } from '../../storage/unique/unknown-key.ts'
import { PinError } from '../block.ts'

/** Throws PinError for what is no list of names. */
export function keyFields(by: readonly JsonValue[]): readonly string[] {
  return by.map((name) => {
    if (typeof name === 'string') return name
    throw new PinError('by', 'must be the name of a unique field, or a list of names')
  })
}

/** What the write gives. Throws PinError where the storage has no such key. */
export function orUnknownKey<T>(write: () => MaybePromise<T>): MaybePromise<T> {
  return recover<T, T>(write, (error) => {
    throw error instanceof UnknownKey ? new PinError('by', error.reason) : error
  })
}
