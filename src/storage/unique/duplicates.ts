import { QuoinError } from '../../shared/errors.ts'
import { fieldNames, type UniqueKey } from './unique-key.ts'

/** Documents that have the value of another one: what keeps a key from being kept. */
export interface Duplicates {
  /** How many documents have the value of another one. */
  readonly total: number
  /** The first of them. */
  readonly documents: readonly Duplicate[]
}

export interface Duplicate {
  readonly guid: string
  /** The document whose value it has. */
  readonly same_as: string
}

/** Of {@link Duplicates.documents}. */
export const MOST_DUPLICATES = 100

export function duplicatesError(
  storage: string,
  key: UniqueKey,
  { total, documents }: Duplicates,
): QuoinError {
  const fields = fieldNames(key).join(', ')
  const what = total === 1 ? '1 document' : `${total} documents`
  return new QuoinError(
    'CONFLICT',
    `The storage ${storage} holds ${what} with the same ${fields} as another document, so ${fields} cannot be made unique. Change or remove those that details lists.`,
    {
      fields: ['unique'],
      details: { total, documents: documents.map((duplicate) => ({ ...duplicate })) },
    },
  )
}

/** A write that another document refuses, because it has the same value of a unique key. Nothing was written. */
export class UniqueConflict extends QuoinError {
  /** Name of the key. */
  readonly key: string

  constructor(storage: string, key: UniqueKey) {
    const fields = fieldNames(key)
    super(
      'CONFLICT',
      `Another document of the storage ${storage} has the same ${fields.join(', ')}. Use another value.`,
      { fields },
    )
    this.name = 'UniqueConflict'
    this.key = key.name
  }
}
