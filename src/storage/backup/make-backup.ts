/** Makes a backup of a data directory, also while a server writes to it. See `backup-manifest.ts` for what it is. */
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  ASSETS,
  type BackedUpFile,
  checksum,
  copyFile,
  MANIFEST,
  type Manifest,
  SUMMARY,
  summaryOf,
  syncFolder,
} from './backup-manifest.ts'
import { copyDatabase, DATABASE_FILE } from './copy-database.ts'

/** What is being uploaded: nothing that was acknowledged. */
const INCOMING = `${ASSETS}/incoming`

export interface BackupTask {
  /** The data directory. */
  readonly data: string
  /** Of the backup, which does not exist. */
  readonly folder: string
  /** Of Quoin. */
  readonly version: string
  readonly clock: () => number
  /** Told how many bytes are copied. */
  readonly progress?: ((bytes: number) => void) | undefined
}

/** Throws an Error, in words for the operator, and leaves nothing behind then. */
export async function makeBackup({ data, folder, version, clock, progress }: BackupTask): Promise<Manifest> {
  const partial = `${folder}.partial`
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  await refuseExisting(folder)
  await mkdir(partial, { mode: 0o700 }).catch((error: unknown) => {
    throw isCode(error, 'EEXIST')
      ? new Error(`${partial} is in the way, from a backup that runs or was cut short. Remove it first.`)
      : error
  })
  try {
    const manifest = await fill(partial, data, { version, clock, progress })
    await refuseExisting(folder)
    await rename(partial, folder)
    await syncFolder(dirname(folder))
    return manifest
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

async function fill(
  folder: string,
  data: string,
  { version, clock, progress }: Pick<BackupTask, 'version' | 'clock' | 'progress'>,
): Promise<Manifest> {
  let done = 0
  const copied = (bytes: number) => {
    done += bytes
    progress?.(done)
  }
  // Assets before and after: a file that the database's copy knows existed at that moment, so one of the two has it, even
  // if it is deleted or uploaded while this runs. A file that no record names does no harm.
  const files = new Map<string, BackedUpFile>()
  await copyAssets(join(data, ASSETS), folder, ASSETS, files, copied)
  const copy = join(folder, DATABASE_FILE)
  // For the owner only from its first byte on: SQLite would create it readable for all users.
  await open(copy, 'wx', 0o600).then((file) => file.close())
  const before = done
  await copyDatabase(data, copy, (bytes) => progress?.(before + bytes)).catch((error: unknown) => {
    throw isCode(error, 'ERR_SQLITE_ERROR')
      ? new Error(`The database in ${data} (QUOIN_DATA) cannot be copied: ${String(error)}.`)
      : error
  })
  await sync(copy)
  const database = { path: DATABASE_FILE, ...(await checksum(copy)) }
  files.set(DATABASE_FILE, database)
  done = before + database.bytes
  await copyAssets(join(data, ASSETS), folder, ASSETS, files, copied)
  const manifest: Manifest = {
    format: 'quoin-backup-1',
    quoin: version,
    made: new Date(clock()).toISOString(),
    files: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
  }
  await writeNew(join(folder, MANIFEST), manifest)
  await writeNew(join(folder, SUMMARY), summaryOf(manifest))
  await syncFolder(folder)
  return manifest
}

/** Copies what is not copied yet. Files that vanish meanwhile are skipped. */
async function copyAssets(
  from: string,
  folder: string,
  path: string,
  files: Map<string, BackedUpFile>,
  done: (bytes: number) => void,
): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch(orMissing)
  if (!entries) return
  await mkdir(join(folder, path), { recursive: true, mode: 0o700 })
  for (const entry of entries) {
    const below = `${path}/${entry.name}`
    if (below === INCOMING) continue
    if (entry.isDirectory()) await copyAssets(join(from, entry.name), folder, below, files, done)
    if (!entry.isFile() || files.has(below)) continue
    const copied = await copyFile(join(from, entry.name), join(folder, below)).catch(orMissing)
    if (!copied) continue
    files.set(below, { path: below, ...copied })
    done(copied.bytes)
  }
  await syncFolder(join(folder, path))
}

async function writeNew(path: string, value: object): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, undefined, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true })
}

async function refuseExisting(folder: string): Promise<void> {
  if (await readdir(folder).catch(orMissing))
    throw new Error(`${folder} exists already, and a backup never replaces anything. Choose another name.`)
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}

function orMissing(error: unknown): undefined {
  if (isCode(error, 'ENOENT')) return undefined
  throw error
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
