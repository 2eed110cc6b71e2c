/** The one file of this room that knows how an embedded database lies on disk. */
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { lockDirectory } from '../../storage/sqlite/core/sqlite-lock.ts'

export const DATABASE_FILE = 'quoin.db'
const LOCK_FILE = 'quoin.lock'

/** All of a database in one step, so that one read transaction sees all of it. */
const ALL_PAGES = 2_147_483_647

/**
 * Copies the database of a directory, as it is at one moment, also while a server writes to it: what was acknowledged
 * before is in the copy. Readers of a write-ahead log block no writer, and the server's lock is another file. The copy
 * is checked page by page. Throws an Error if it is damaged.
 */
export async function copyDatabase(directory: string, target: string): Promise<void> {
  const source = new DatabaseSync(join(directory, DATABASE_FILE), { readOnly: true, timeout: 5000 })
  try {
    // An open read transaction keeps the snapshot: without it, each write of the server would start the copy over.
    source.exec('BEGIN')
    source.prepare('SELECT count(*) FROM sqlite_schema').get()
    await backup(source, target, { rate: ALL_PAGES })
  } finally {
    source.close()
  }
  checkDatabase(target)
}

function checkDatabase(path: string): void {
  const url = pathToFileURL(path)
  // No other process has the copy open: without a log file it stays one file, whose checksum is taken.
  url.searchParams.set('immutable', '1')
  const copy = new DatabaseSync(url, { readOnly: true })
  try {
    const found = copy.prepare('PRAGMA quick_check').get()?.quick_check
    if (found !== 'ok') throw new Error(`The database is damaged: ${String(found)}.`)
  } finally {
    copy.close()
  }
}

/** Keeps servers out of a directory until the function that it gives is called. Throws UNAVAILABLE if one is in it. */
export function lockData(directory: string): () => void {
  return lockDirectory(directory)
}

/** Names in a data directory that are not data: the lock, the ballast for a full disk, and files of the file system. */
const NO_DATA = [LOCK_FILE, 'ballast', 'lost+found']

export function dataNames(names: readonly string[]): string[] {
  return names.filter((name) => !NO_DATA.some((start) => name.startsWith(start)))
}
