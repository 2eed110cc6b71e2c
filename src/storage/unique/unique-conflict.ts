import { QuoinError } from '../../shared/errors.ts'
import { fieldNames, type UniqueKey } from './unique-key.ts'

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
