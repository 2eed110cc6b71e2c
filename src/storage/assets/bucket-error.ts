import { QuoinError } from '../../shared/errors.ts'
import { Unreached } from '../unreached.ts'

/** What may be known of it, without the headers and the signed text that the client's own errors carry into a log. */
export function bucketError(error: unknown, bucket: string): QuoinError {
  const name = error instanceof Error ? error.name : 'Error'
  const message = error instanceof Error ? error.message : String(error)
  const full = name === 'QuotaExceeded' || name === 'InsufficientStorage'
  const cause = new Error(`${name}: ${message}`)
  if (!full) return new Unreached(`The bucket ${bucket} of the assets cannot be used now (${name}).`, cause)
  return new QuoinError(
    'STORAGE_FULL',
    'The asset storage is full. The file was not stored; free some space first.',
    { cause },
  )
}
