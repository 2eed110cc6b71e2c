import { QuoinError } from '../../shared/errors.ts'

/** The storage keeps no unique key over these fields, or of this name. */
export class UnknownKey extends QuoinError {
  /** In words that finish "<pin> …". */
  readonly reason: string

  constructor(storage: string, by: readonly string[]) {
    const reason = `names no unique field of the storage ${storage}: ${by.join(', ')}`
    super('INTERNAL', `The search for a document by its unique fields ${reason}.`)
    this.name = 'UnknownKey'
    this.reason = reason
  }
}
