/**
 * What SQLite's result codes mean to the caller. Codes: https://sqlite.org/rescode.html; the low byte is the primary code.
 * A code that is not listed is a fault of Quoin (bad SQL) and is passed on unchanged: it becomes INTERNAL.
 */
import { QuoinError } from '../../../shared/errors.ts'

const ERROR = 1
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const TOOBIG = 18
const NOTADB = 26
const CONSTRAINT_UNIQUE = 2067

/** A file of the database is damaged. Which one and what to do is for the node's own log, not for clients. */
export class DamagedDatabase extends QuoinError {
  constructor(cause: unknown) {
    super(
      'UNAVAILABLE',
      'The database is damaged. Nothing was stored. The log of the node says what to do.',
      {
        cause,
      },
    )
    this.name = 'DamagedDatabase'
  }

  /** What SQLite says. */
  get reason(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/** SQLite's extended result code, or undefined if the error is not SQLite's. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

export function isLocked(error: unknown): boolean {
  const code = resultCode(error)
  return code !== undefined && (code & 0xff) === BUSY
}

export function isFull(error: unknown): boolean {
  const code = resultCode(error)
  return code !== undefined && (code & 0xff) === FULL
}

/** A text or row that is longer than the connection makes one. */
export function isTooBig(error: unknown): boolean {
  return resultCode(error) === TOOBIG
}

/** A sum of integers beyond 2^63. */
export function isIntegerOverflow(error: unknown): boolean {
  return resultCode(error) === ERROR && error instanceof Error && error.message === 'integer overflow'
}

/** The name of the unique index that refused the write, or undefined if it was something else. */
export function violatedIndex(error: unknown): string | undefined {
  if (resultCode(error) !== CONSTRAINT_UNIQUE || !(error instanceof Error)) return undefined
  return /index '([^']+)'/.exec(error.message)?.[1]
}

/** The error to throw in place of `error`. Never carries SQLite's text in its message: that may hold names of columns. */
export function storageError(error: unknown): unknown {
  const code = resultCode(error)
  if (code === undefined) return error
  switch (code & 0xff) {
    case FULL:
      return new QuoinError(
        'STORAGE_FULL',
        'The disk is full. Nothing was stored; free some space, then try again.',
        {
          cause: error,
        },
      )
    case BUSY:
    case LOCKED:
      return new QuoinError('UNAVAILABLE', 'The database is locked by another program. Try again.', {
        cause: error,
      })
    case IOERR:
    case READONLY:
    case CANTOPEN:
      return new QuoinError('UNAVAILABLE', 'The database could not be read or written. Nothing was stored.', {
        cause: error,
      })
    case CORRUPT:
    case NOTADB:
      return new DamagedDatabase(error)
    case TOOBIG:
      return new QuoinError('INVALID_QUERY', 'The result is larger than 256 MiB. Ask for fewer documents.', {
        cause: error,
      })
    default:
      return error
  }
}
