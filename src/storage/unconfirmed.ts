import { QuoinError } from '../shared/errors.ts'

/** What was to be committed is on its way, and the storage has not said in time that it is done. */
export function unconfirmed(cause?: unknown): QuoinError {
  return new QuoinError(
    'UNAVAILABLE',
    'The database has not confirmed the change in time. The change may still be stored: look for it before you send it again. ' +
      'What was sent with an idempotency-key can be sent again with the same key.',
    { cause, retryAfter: 5 },
  )
}
