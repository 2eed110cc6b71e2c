/**
 * The bytes of assets on disk, under the hash of their content: `ab/cd/abcd…`. The same content is one file, however many
 * assets have it; no name that a client chose ever becomes a path.
 *
 * A file is received under a temporary name, and gets its own when it is whole and on disk: data, then name, then the
 * folder (fsync each), so that a power cut leaves the whole file or none. What was being received when the node died is
 * deleted at the next start.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { QuoinError } from '../../shared/errors.ts'

export interface ReceivedFile {
  readonly size: number
  /** Hexadecimal. */
  readonly sha256: string
  /** The first 4,100 bytes, or all: what tells of which type a file is. */
  readonly head: Buffer
  /** Temporary. */
  readonly path: string
}

export interface AssetFiles {
  /** Takes in a stream, one chunk in memory at a time. Leaves nothing behind when that fails. */
  receive(source: AsyncIterable<Buffer>): Promise<ReceivedFile>
  /** Puts a received file in its place, durable when it resolves. */
  keep(file: ReceivedFile): Promise<void>
  /** Lets go of a received file that was not kept. */
  discard(file: ReceivedFile): Promise<void>
  /** From byte `start` to byte `end`, both included. */
  read(sha256: string, range?: { readonly start: number; readonly end: number }): Readable
  delete(sha256: string): Promise<void>
}

/** What file-type asks for. */
const HEAD = 4_100

/** `newName`: gives names for temporary files, never the same twice. */
export async function openAssetFiles(directory: string, newName: () => string): Promise<AssetFiles> {
  const incoming = join(directory, 'incoming')
  await rm(incoming, { recursive: true, force: true })
  await mkdir(incoming, { recursive: true })

  function pathOf(sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError('No SHA-256 in hexadecimal.')
    return join(directory, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  }

  return {
    async receive(source) {
      const path = join(incoming, newName())
      try {
        const file = await open(path, 'wx', 0o600)
        try {
          return { path, ...(await fill(file, source)) }
        } finally {
          await file.close()
        }
      } catch (error) {
        await rm(path, { force: true })
        throw diskError(error)
      }
    },
    async keep({ path, sha256 }) {
      const target = pathOf(sha256)
      if (await exists(target)) return rm(path, { force: true })
      const folder = dirname(target)
      await mkdir(folder, { recursive: true })
      await rename(path, target)
      // The folders above may be new too; that they are asked for when they are not costs a millisecond.
      for (const one of [folder, dirname(folder), directory]) await syncFolder(one)
    },
    discard: ({ path }) => rm(path, { force: true }),
    read: (sha256, range) => createReadStream(pathOf(sha256), range),
    delete: (sha256) => rm(pathOf(sha256), { force: true }),
  }
}

async function fill(file: FileHandle, source: AsyncIterable<Buffer>): Promise<Omit<ReceivedFile, 'path'>> {
  const hash = createHash('sha256')
  let head = Buffer.alloc(0)
  let size = 0
  for await (const chunk of source) {
    if (head.length < HEAD) head = Buffer.concat([head, chunk.subarray(0, HEAD - head.length)])
    hash.update(chunk)
    await file.writeFile(chunk)
    size += chunk.length
  }
  await file.sync()
  return { size, sha256: hash.digest('hex'), head }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function diskError(error: unknown): unknown {
  const full =
    error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  if (!full) return error
  return new QuoinError('STORAGE_FULL', 'The disk is full. The file was not stored; free some space first.', {
    cause: error,
  })
}
