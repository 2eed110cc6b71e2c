import { QuoinError } from '../shared/errors.ts'

/** What a write is told that waited for its turn in a session that was rolled back meanwhile. */
export function rolledBack(): QuoinError {
  return new QuoinError(
    'UNAVAILABLE',
    'The transaction was rolled back while this write waited for its turn.',
  )
}
