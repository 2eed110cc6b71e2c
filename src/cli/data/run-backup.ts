import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Terminal } from '../command.ts'
import { programVersion } from '../program-version.ts'
import {
  ASSETS,
  type BackedUpFile,
  checksum,
  copyFile,
  fileCount,
  MANIFEST,
  type Manifest,
  syncFolder,
} from './backup-manifest.ts'
import { refusePostgres } from './refuse-postgres.ts'
import { copyDatabase, DATABASE_FILE } from './sqlite-data.ts'

/** What is being uploaded: nothing that was acknowledged. */
const INCOMING = `${ASSETS}/incoming`

export async function runBackup(folder: string, terminal: Terminal): Promise<number> {
  refusePostgres(terminal, 'backup', 'use pg_dump, and copy the bucket of QUOIN_ASSETS_URL')
  const partial = `${folder}.partial`
  await mkdir(dirname(folder), { recursive: true })
  await refuseExisting(folder)
  await mkdir(partial, { mode: 0o700 }).catch((error: unknown) => {
    throw isCode(error, 'EEXIST')
      ? new Error(`${partial} is in the way, from a backup that runs or was cut short. Remove it first.`)
      : error
  })
  try {
    const manifest = await makeBackup(terminal, partial)
    await refuseExisting(folder)
    await rename(partial, folder)
    await syncFolder(dirname(folder))
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
    terminal.print(`${folder}: ${fileCount(manifest)}, ${bytes.toLocaleString('en-US')} bytes.`)
    return 0
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

async function makeBackup(terminal: Terminal, folder: string): Promise<Manifest> {
  const { data } = terminal.options()
  // Assets before and after: a file that the database's copy knows existed at that moment, so one of the two has it, even
  // if it is deleted or uploaded while this runs. A file that no record names does no harm.
  const files = new Map<string, BackedUpFile>()
  await copyAssets(join(data, ASSETS), folder, ASSETS, files)
  const copy = join(folder, DATABASE_FILE)
  // For the owner only from its first byte on: SQLite would create it readable for all users.
  await open(copy, 'wx', 0o600).then((file) => file.close())
  await copyDatabase(data, copy).catch((error: unknown) => {
    throw isCode(error, 'ERR_SQLITE_ERROR')
      ? new Error(`The database in ${data} (QUOIN_DATA) cannot be copied: ${String(error)}.`)
      : error
  })
  await sync(copy)
  files.set(DATABASE_FILE, { path: DATABASE_FILE, ...(await checksum(copy)) })
  await copyAssets(join(data, ASSETS), folder, ASSETS, files)
  const manifest: Manifest = {
    format: 'quoin-backup-1',
    quoin: await programVersion(),
    made: new Date(terminal.clock()).toISOString(),
    files: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
  }
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    flag: 'wx',
    mode: 0o600,
    flush: true,
  })
  await syncFolder(folder)
  return manifest
}

/** Copies what is not copied yet. Files that vanish meanwhile are skipped. */
async function copyAssets(from: string, folder: string, path: string, files: Map<string, BackedUpFile>) {
  const entries = await readdir(from, { withFileTypes: true }).catch(orMissing)
  if (!entries) return
  await mkdir(join(folder, path), { recursive: true, mode: 0o700 })
  for (const entry of entries) {
    const below = `${path}/${entry.name}`
    if (below === INCOMING) continue
    if (entry.isDirectory()) await copyAssets(join(from, entry.name), folder, below, files)
    if (!entry.isFile() || files.has(below)) continue
    const copied = await copyFile(join(from, entry.name), join(folder, below)).catch(orMissing)
    if (copied) files.set(below, { path: below, ...copied })
  }
  await syncFolder(join(folder, path))
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
