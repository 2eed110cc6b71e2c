import { QuoinError } from '../shared/errors.ts'

/**
 * Thrown by a read-only process that should write. Clients never see it: the calling code passes the work to the process
 * that writes to the same database.
 */
export class WriteRefused extends QuoinError {
  constructor() {
    super('UNAVAILABLE', 'This process only reads. Ask the one that writes.')
    this.name = 'WriteRefused'
  }
}
