import { QuoinError } from '../shared/errors.ts'

/**
 * The server behind a store of files could not be reached, or failed, before a record was made: the same work may be
 * done once more.
 */
export class FileStoreUnavailable extends QuoinError {
  constructor(message: string, cause: unknown) {
    super('UNAVAILABLE', message, { cause })
    this.name = 'FileStoreUnavailable'
  }
}

export function isFileStoreUnavailable(error: unknown): boolean {
  return error instanceof FileStoreUnavailable
}
