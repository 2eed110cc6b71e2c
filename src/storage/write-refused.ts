import { QuoinError } from '../shared/errors.ts'

/**
 * A process that only reads was to write. Another process on the same database writes: not for clients, but for who hands
 * the work to that one.
 */
export class WriteRefused extends QuoinError {
  constructor() {
    super('UNAVAILABLE', 'This process only reads. Ask the one that writes.')
    this.name = 'WriteRefused'
  }
}
