/** The pin `by` of blocks that find a document by its unique fields. */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonValue } from '../../shared/json.ts'
import { type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import { UnknownKey } from '../../storage/unique/unknown-key.ts'
import { OutdatedPin, PinError } from '../block.ts'

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
