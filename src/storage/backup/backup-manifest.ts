/**
 * A backup is a folder: `quoin.db`, the files of `assets/`, and `manifest.json` with the checksum of each of them. It is
 * whole if the manifest is there, and true if the checksums are.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

export const MANIFEST = 'manifest.json'
/** What lists of backups show: the manifest names every file, of which there may be a hundred thousand. */
export const SUMMARY = 'summary.json'
export const ASSETS = 'assets'

export interface BackedUpFile {
  /** Below the backup's folder, with `/`. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

export interface Manifest {
  readonly format: 'quoin-backup-1'
  /** The version that made it. */
  readonly quoin: string
  /** ISO 8601, UTC. */
  readonly made: string
  readonly files: readonly BackedUpFile[]
}

const ManifestSchema = Type.Object({
  format: Type.Literal('quoin-backup-1'),
  quoin: Type.String(),
  made: Type.String(),
  files: Type.Array(
    Type.Object({
      path: Type.String({ minLength: 1, maxLength: 4096 }),
      bytes: Type.Number({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
})

/** Throws an Error, in words for the operator, if the folder is not a complete backup or names files outside of it. */
export async function readManifest(folder: string): Promise<Manifest> {
  let json: unknown
  try {
    json = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${folder} is not a complete backup: its ${MANIFEST} cannot be read (${reason}).`)
  }
  const schema = Compile(ManifestSchema)
  if (!schema.Check(json))
    throw new Error(`${join(folder, MANIFEST)} is not a manifest that this version of Quoin can read.`)
  for (const { path } of json.files) {
    const parts = path.split('/')
    if (
      isAbsolute(path) ||
      path.includes('\0') ||
      parts.some((part) => part === '' || part === '.' || part === '..')
    )
      throw new Error(`The manifest names ${JSON.stringify(path)}, which is not in the backup.`)
    if (path !== 'quoin.db' && parts[0] !== ASSETS)
      throw new Error(`The manifest names ${JSON.stringify(path)}, which is not part of a backup.`)
  }
  if (!json.files.some(({ path }) => path === 'quoin.db'))
    throw new Error(`The backup ${folder} contains no database.`)
  return json
}

export interface BackupSummary {
  readonly quoin: string
  readonly made: string
  readonly files: number
  readonly bytes: number
}

export function summaryOf({ quoin, made, files }: Manifest): BackupSummary {
  return { quoin, made, files: files.length, bytes: files.reduce((sum, file) => sum + file.bytes, 0) }
}

export function fileCount({ files }: Manifest): string {
  return files.length === 1 ? '1 file' : `${files.length} files`
}

/** Bytes and checksum of a file, in constant memory. */
export async function checksum(path: string): Promise<Omit<BackedUpFile, 'path'>> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Copies a file and puts it on disk, in constant memory. Never replaces one. The checksum is of what was copied. */
export async function copyFile(from: string, to: string): Promise<Omit<BackedUpFile, 'path'>> {
  const source = await open(from, 'r')
  let target: FileHandle | undefined
  try {
    target = await open(to, 'wx', 0o600)
    const hash = createHash('sha256')
    let bytes = 0
    for await (const chunk of source.createReadStream({ autoClose: false })) {
      hash.update(chunk)
      bytes += chunk.length
      await target.write(chunk)
    }
    await target.sync()
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    await source.close()
    await target?.close()
  }
}

/** Puts the names in a folder on disk, or a crash could forget files that are themselves there. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}
