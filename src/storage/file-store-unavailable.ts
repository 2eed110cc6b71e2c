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

/** The same error, in words where it says that there is no room or that too much is open. */
export function diskError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EMFILE' || code === 'ENFILE')
    return new FileStoreUnavailable(
      'The node has too many files and connections open; the file was not opened. Try again.',
      error,
    )
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  return new QuoinError('STORAGE_FULL', 'The disk is full. The file was not stored; free some space first.', {
    cause: error,
  })
}
