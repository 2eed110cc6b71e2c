/**
 * A unit of work: what a session reads and writes up to its first commit, as if no other unit ran meanwhile. A session is one when
 * its origin says so; all others read what is committed at that moment, which is cheaper, and enough for flows that do not
 * decide by what they have read what they write.
 *
 * What comes after the first commit is none: the work could not be done once more, because a block has touched the world outside
 * or the reply is sent, and a job that fails there would touch the world twice.
 *
 * What was read may be changed by others before the unit writes. An engine then throws {@link SerializationConflict}, nothing of the
 * unit is stored, and its work can be done once more from the start (`src/flows/run/run-units.ts`).
 */
import { QuoinError } from '../shared/errors.ts'

/** One unit, over all its tries. */
export interface UnitOfWork {
  /** From 1. From {@link ALONE_FROM} on no other unit is under way, as far as the engine can. */
  readonly attempt: number
  /** Units of all nodes with the same text come one after the other. An engine of one node does nothing for it: the node itself does. */
  readonly turn?: string | undefined
}

/**
 * Trying again without a lock starves where many want the same few documents: 25 clients that searched for and created 200
 * different keys in a small table of PostgreSQL met some 600 conflicts, and one of them needed 20 tries.
 */
export const ALONE_FROM = 2

/** Others have changed what the unit has read, or the database has ended one of two that waited for each other. Nothing of it is stored. */
export class SerializationConflict extends QuoinError {
  constructor(cause?: unknown) {
    super('UNAVAILABLE', 'Other requests changed the same data meanwhile; nothing was stored. Try again.', {
      retryAfter: 1,
      cause,
    })
    this.name = 'SerializationConflict'
  }
}

/** What a write is told that waited for its turn in a session that was rolled back meanwhile. */
export function rolledBack(): QuoinError {
  return new QuoinError(
    'UNAVAILABLE',
    'The transaction was rolled back while this write waited for its turn.',
  )
}

/** What was to be committed is on its way, and the storage has not said in time that it is done. */
export class Unconfirmed extends QuoinError {
  constructor(cause?: unknown) {
    super(
      'UNAVAILABLE',
      'The database has not confirmed the change in time. The change may still be stored: look for it before you send it again. ' +
        'What was sent with an idempotency-key can be sent again with the same key.',
      { cause, retryAfter: 5 },
    )
  }
}
