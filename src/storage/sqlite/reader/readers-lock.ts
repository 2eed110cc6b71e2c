/**
 * Reader processes serve a directory that a writer process writes, and live as long as that one. If it is killed, they
 * notice and end. A reader that is stopped or busy at that moment may still answer from its memory when the next writer
 * already acknowledges writes. So each reader holds a shared lock on a small file, and a writer begins only when no process
 * holds it. As with `sqlite-lock.ts`, the operating system drops it with the process.
 */
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { QuoinError } from '../../../shared/errors.ts'
import { isLocked } from '../core/sqlite-errors.ts'

/** How long a new writer waits for the readers of the one before, milliseconds. */
const PATIENCE_MS = 5_000

/** Beside the writer's lock, and like it no data. */
const fileOf = (directory: string) => join(directory, 'quoin.lock.readers')

/** Holds the shared lock until the function that it gives is called. Throws UNAVAILABLE while a writer begins. */
export function holdReadersLock(directory: string): () => void {
  // Only its owner may read it, like everything in the directory.
  closeSync(openSync(fileOf(directory), 'a', 0o600))
  const database = new DatabaseSync(fileOf(directory), { timeout: PATIENCE_MS })
  try {
    // A transaction that has read keeps the shared lock.
    database.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
  } catch (error) {
    database.close()
    throw isLocked(error) ? busy(directory, error) : error
  }
  return () => database.close()
}

/** Waits until no process reads the directory any more. Costs one look for a file where no reader ever ran. */
export function awaitReaders(directory: string, patience = PATIENCE_MS): void {
  if (!existsSync(fileOf(directory))) return
  const database = new DatabaseSync(fileOf(directory), { timeout: patience })
  try {
    database.exec('BEGIN EXCLUSIVE; ROLLBACK')
  } catch (error) {
    throw isLocked(error) ? busy(directory, error) : error
  } finally {
    database.close()
  }
}

function busy(directory: string, cause: unknown): QuoinError {
  return new QuoinError(
    'UNAVAILABLE',
    `The directory ${directory} is still read by processes of a Quoin that has ended. End them, then try again.`,
    { cause },
  )
}
