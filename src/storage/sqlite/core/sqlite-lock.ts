/**
 * One process per data directory. A second one would have a writer lock, versions and caches of its own, all of which
 * are only right while no other process writes.
 *
 * The lock is SQLite's own file lock on a small file beside the database, held by a transaction that never ends. The
 * operating system drops it with the process, also on kill -9, so nothing stale can be left behind as with a file that
 * holds a process id. It cannot be a lock on the database itself: that would keep our own reader out.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { QuoinError } from '../../../shared/errors.ts'
import { isLocked } from './sqlite-errors.ts'

/** Gives what lets go of the lock. Throws UNAVAILABLE if another process (or this one) holds it. */
export function lockDirectory(directory: string): () => void {
  const database = new DatabaseSync(join(directory, 'quoin.lock'), { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!isLocked(error)) throw error
    throw new QuoinError(
      'UNAVAILABLE',
      `The directory ${directory} is in use by another Quoin process. Stop that one, or use another directory.`,
      { cause: error },
    )
  }
  return () => database.close()
}
