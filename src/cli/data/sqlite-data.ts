/** The one file of this room that knows how an embedded database lies on disk. */
import { SECRETS_KEY_FILE } from '../../quoin/secret-key-file.ts'
import { lockDirectory } from '../../storage/sqlite/core/sqlite-lock.ts'

const LOCK_FILE = 'quoin.lock'

/** Keeps servers out of a directory until the function that it gives is called. Throws UNAVAILABLE if one is in it. */
export function lockData(directory: string): () => void {
  return lockDirectory(directory)
}

/** Names in a data directory that are not data: the lock, the key of secrets, the ballast for a full disk, backups, and files of the file system. */
const NO_DATA = [LOCK_FILE, SECRETS_KEY_FILE, 'ballast', 'backups', 'lost+found']

export function dataNames(names: readonly string[]): string[] {
  return names.filter((name) => !NO_DATA.some((start) => name.startsWith(start)))
}
