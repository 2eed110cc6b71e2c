/** The database of a backup: a copy of an embedded one, as it was at one moment. */

import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { copyFile, type Manifest, syncFolder } from './backup-manifest.ts'

export const DATABASE_FILE = 'quoin.db'

/** Of one step, 8 MB: between two of them the copy says how far it is. The snapshot holds for all of them. */
const STEP_PAGES = 2_000

/**
 * Copies the database of a directory, as it is at one moment, also while a server writes to it: what was acknowledged
 * before is in the copy. Readers of a write-ahead log block no writer, and the server's lock is another file. The copy
 * is checked page by page. Throws an Error if it is damaged.
 */
export async function copyDatabase(
  directory: string,
  target: string,
  progress: (bytes: number) => void = () => undefined,
): Promise<void> {
  const source = new DatabaseSync(join(directory, DATABASE_FILE), { readOnly: true, timeout: 5000 })
  try {
    // An open read transaction keeps the snapshot: without it, each write of the server would start the copy over.
    source.exec('BEGIN')
    source.prepare('SELECT count(*) FROM sqlite_schema').get()
    const size = Number(source.prepare('PRAGMA page_size').get()?.page_size)
    await backup(source, target, {
      rate: STEP_PAGES,
      progress: ({ totalPages, remainingPages }) => progress((totalPages - remainingPages) * size),
    })
  } finally {
    source.close()
  }
  checkDatabase(target)
}

/** Page by page. Throws an Error if it is damaged. */
export function checkDatabase(path: string): void {
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

/** Copies the files of a backup into a folder that exists. Throws when one is not what was backed up. */
export async function copyChecked(
  folder: string,
  manifest: Manifest,
  incoming: string,
  progress: (bytes: number) => void = () => undefined,
): Promise<void> {
  let done = 0
  const folders = new Set([incoming])
  for (const { path, bytes, sha256 } of manifest.files) {
    const target = join(incoming, path)
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    folders.add(dirname(target))
    const copied = await copyFile(join(folder, path), target)
    if (copied.sha256 !== sha256 || copied.bytes !== bytes)
      throw new Error(
        `${join(folder, path)} is not what was backed up: its checksum differs. Nothing was restored.`,
      )
    done += bytes
    progress(done)
  }
  for (const name of folders) await syncFolder(name)
}
