import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SECRETS_KEY_FILE } from '../../quoin/secret-key-file.ts'
import { fileCount, type Manifest, readManifest, syncFolder } from '../../storage/backup/backup-manifest.ts'
import { copyChecked } from '../../storage/backup/copy-database.ts'
import { lockDirectory } from '../../storage/sqlite/core/sqlite-connection.ts'
import type { Terminal } from '../command.ts'
import { refusePostgres } from './run-backup.ts'

// The one file of this room that knows how an embedded database lies on disk.

const LOCK_FILE = 'quoin.lock'

/** Keeps servers out of a directory until the function that it gives is called. Throws UNAVAILABLE if one is in it. */
function lockData(directory: string): () => void {
  return lockDirectory(directory)
}

/** Names in a data directory that are not data of its backup: the lock, the key of secrets, the ballast for a full disk, backups, spaces, and files of the file system. */
const NO_DATA = [LOCK_FILE, SECRETS_KEY_FILE, 'ballast', 'backups', 'spaces', 'lost+found']

function dataNames(names: readonly string[]): string[] {
  return names.filter((name) => !NO_DATA.some((start) => name.startsWith(start)))
}

const ASIDE = 'before-restore-'

export async function runRestore(folder: string, force: boolean, terminal: Terminal): Promise<number> {
  refusePostgres(terminal, 'restore', 'use pg_restore, and copy the bucket of QUOIN_ASSETS_URL back')
  const { data, secretsKey } = terminal.options()
  const manifest = await readManifest(folder)
  await mkdir(data, { recursive: true, mode: 0o700 })
  if (dataNames(await readdir(data)).length > 0 && !force)
    throw new Error(`${data} (QUOIN_DATA) is not empty. With --force its files are moved aside first.`)
  const unlock = await lock(data)
  try {
    const stamp = new Date(terminal.clock()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const aside = await putIn(folder, manifest, data, stamp)
    terminal.print(`Restored ${fileCount(manifest)} of ${manifest.made} into ${data}.`)
    if (secretsKey === '' && !existsSync(join(data, SECRETS_KEY_FILE)))
      terminal.print(
        `There is no key of secrets here. If the backup has secrets, copy secrets.key of the former server into ${data}, or start with its QUOIN_SECRETS_KEY.`,
      )
    if (aside !== undefined) terminal.print(`The former files are in ${aside}.`)
    return 0
  } finally {
    unlock()
  }
}

async function lock(data: string): Promise<() => void> {
  // For the owner only; SQLite would create it readable for all users.
  await open(join(data, 'quoin.lock'), 'a', 0o600).then((file) => file.close())
  return lockData(data)
}

/**
 * Copies everything into a folder inside the data directory and checks it; only then is what is there put aside and the
 * copy moved up, the database last. So a backup that is not true changes nothing. All in one directory, since that may
 * be a volume of its own, which cannot be renamed. Gives where the former data is.
 */
async function putIn(
  folder: string,
  manifest: Manifest,
  data: string,
  stamp: string,
): Promise<string | undefined> {
  const incoming = join(data, `.restore-${stamp}`)
  await mkdir(incoming, { mode: 0o700 })
  try {
    await copyChecked(folder, manifest, incoming)
    const former = dataNames(await readdir(data)).filter(
      (name) => join(data, name) !== incoming && !name.startsWith(ASIDE),
    )
    const aside = former.length === 0 ? undefined : join(data, `${ASIDE}${stamp}`)
    if (aside !== undefined) {
      await mkdir(aside, { mode: 0o700 })
      for (const name of former) await rename(join(data, name), join(aside, name))
    }
    // "assets" comes before "quoin.db": with the database everything is there.
    for (const name of (await readdir(incoming)).sort()) await rename(join(incoming, name), join(data, name))
    await syncFolder(data)
    return aside
  } finally {
    await rm(incoming, { recursive: true, force: true })
  }
}
