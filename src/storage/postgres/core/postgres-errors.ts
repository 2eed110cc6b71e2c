/**
 * What PostgreSQL's codes mean to the caller: https://www.postgresql.org/docs/18/errcodes-appendix.html. A code that is
 * not listed is a fault of Quoin (bad SQL) and is passed on unchanged: it becomes INTERNAL.
 */
import { QuoinError } from '../../../shared/errors.ts'

const SERIALIZATION = '40001'
const DEADLOCK = '40P01'
/** Class 08 and these: the server, the network or another client's transaction; a retry may well succeed. */
const TRANSIENT = new Set([
  '25P03', // idle in a transaction for too long
  SERIALIZATION,
  DEADLOCK,
  '53200', // out of memory
  '53300', // too many connections
  '55P03', // lock not available
  '57014', // canceled: statement_timeout
  '57P01', // shutdown by an administrator
  '57P02', // crash
  '57P03', // starting up
  '57P05', // idle session
  '58000', // system error
  '58030', // I/O error
])
const READ_ONLY = '25006'
const DISK_FULL = '53100'
/** It lasts until an administrator has done something; a failover, which looks the same, is over sooner. */
const READ_ONLY_RETRY_SECONDS = 5
const DIVISION_BY_ZERO = '22012'
const UNIQUE = '23505'
const NO_TABLE = '42P01'
const LOCKED = '55P03'
const NOT_SUPPORTED = '0A000'

/** Words of node-postgres for what has no code. */
const LOST =
  /^(Connection terminated|Client was closed|Client has encountered|timeout exceeded|Query read timeout|Cannot use a pool)/
/** What it says of a query to a connection that it knows to be lost, instead of sending it. */
const NOT_SENT = /^Client has encountered a connection error/

/** PostgreSQL's code, or that of the socket. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Whether the connection is lost, so that the outcome of a statement under way is unknown. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  if (code === undefined) return LOST.test(error.message)
  return /^(08|57P|E[A-Z]+$)/.test(code)
}

/** Whether PostgreSQL has refused a statement, on a connection that is still there. */
export function isRefused(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error) ?? '') && !isConnectionLost(error)
}

/**
 * Whether the connection had ended before the server saw what was asked: it has said so, as it does when it is stopped or an
 * administrator ends the connection, or the question was not even sent.
 */
export function isFarewell(error: unknown): boolean {
  return codeOf(error)?.startsWith('57P') ?? (error instanceof Error && NOT_SENT.test(error.message))
}

/** Whether a connection was lost that had been there: not one that could not be made, where asking again only costs time. */
export function wasAlive(error: unknown): boolean {
  if (!isConnectionLost(error)) return false
  const code = codeOf(error)
  if (code !== undefined)
    return code !== 'ECONNREFUSED' && !/^(08001|57P03|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND)/.test(code)
  // "… due to connection timeout" is one that could not be made: five seconds each time it is tried.
  if (!(error instanceof Error)) return false
  return NOT_SENT.test(error.message) || /^Connection terminated(?! due to)/.test(error.message)
}

/** Whether a unique index or the table's key refused the write. */
export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === UNIQUE
}

/** The name of the unique index that refused the write, or undefined if it was something else. */
export function violatedIndex(error: unknown): string | undefined {
  if (codeOf(error) !== UNIQUE || !(error instanceof Error) || !('constraint' in error)) return undefined
  return typeof error.constraint === 'string' ? error.constraint : undefined
}

/** Whether another transaction held the lock for longer than `lock_timeout`. */
export function isLocked(error: unknown): boolean {
  return error instanceof QuoinError && codeOf(error.cause) === LOCKED
}

/** Whether PostgreSQL has no such thing, at least not for this table: on partitioned ones it can do less. */
export function isUnsupported(error: unknown): boolean {
  return codeOf(error) === NOT_SUPPORTED
}

/** Whether the transaction was undone because of what others did at the same time. */
export function isTransactionConflict(error: unknown): boolean {
  const code = codeOf(error instanceof QuoinError ? error.cause : error)
  return code === SERIALIZATION || code === DEADLOCK
}

/** What the statement of an optimistic update ends with where the document has changed. */
export function isChangedMeanwhile(error: unknown): boolean {
  return codeOf(error) === DIVISION_BY_ZERO
}

export function isTableGone(error: unknown): boolean {
  return codeOf(error) === NO_TABLE
}

/** The error to throw in place of `error`. Never carries PostgreSQL's text in its message: that may hold values. */
export function storageError(error: unknown): unknown {
  if (error instanceof QuoinError) return error
  const code = codeOf(error)
  if (code === DISK_FULL)
    return new QuoinError(
      'STORAGE_FULL',
      'The disk of the database is full. Nothing was stored; free some space, then try again.',
      { cause: error },
    )
  if (code === READ_ONLY)
    return new QuoinError(
      'UNAVAILABLE',
      'The database is read-only and takes no changes now; nothing was stored. Reads go on. Try again later.',
      { cause: error, retryAfter: READ_ONLY_RETRY_SECONDS },
    )
  if (isConnectionLost(error) || (code !== undefined && TRANSIENT.has(code)))
    return new QuoinError('UNAVAILABLE', 'The database did not answer as it should. Try again.', {
      cause: error,
      retryAfter: 1,
    })
  return error
}
