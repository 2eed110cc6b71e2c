import { QuoinError } from '../../shared/errors.ts'

/** What may be known of it, without the headers and the signed text that the client's own errors carry into a log. */
export function bucketError(error: unknown, bucket: string): QuoinError {
  const name = error instanceof Error ? error.name : 'Error'
  const message = error instanceof Error ? error.message : String(error)
  const full = name === 'QuotaExceeded' || name === 'InsufficientStorage'
  return new QuoinError(
    full ? 'STORAGE_FULL' : 'UNAVAILABLE',
    full
      ? 'The asset storage is full. The file was not stored; free some space first.'
      : `The bucket ${bucket} of the assets cannot be used now (${name}).`,
    { cause: new Error(`${name}: ${message}`) },
  )
}
