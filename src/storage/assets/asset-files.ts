/**
 * The bytes of assets: what the rooms above ask for, and how they are kept on disk (in S3: asset-bucket.ts).
 *
 * On disk a file lies under the hash of its content: `ab/cd/abcd…`. The same content is one file, however many assets have
 * it; no name that a client chose ever becomes a path.
 *
 * A file is received under a temporary name, and gets its own when it is whole and on disk: data, then name, then the
 * folder (fsync each), so that a power cut leaves the whole file or none. What was being received when the node died is
 * deleted at the next start.
 */
import { createHash } from 'node:crypto'
import { close, createReadStream, open as openFile, read } from 'node:fs'
import { access, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { diskError } from '../file-store-unavailable.ts'

export interface ReceivedFile extends FileFacts {
  /** Where it waits to be kept or discarded. Means something only to the {@link AssetFiles} that gave it. */
  readonly waiting: string
}

/** What an address of a file says. */
export interface Presigned {
  /** From now, 1 to 604,800 (seven days). */
  readonly seconds: number
  /** The headers of its replies. */
  readonly type: string
  readonly disposition: string
}

export interface AssetFiles {
  /** Takes in a stream, a few MiB in memory at most. Leaves nothing behind when that fails. */
  receive(source: AsyncIterable<Buffer>): Promise<ReceivedFile>
  /** Where `keep` puts a received file: what the asset's record keeps. Files with the same content may have the same place. */
  placeOf(file: ReceivedFile): string
  /** Puts a received file in its place, durable when it resolves. Gives the place. Keeping it once more changes nothing. */
  keep(file: ReceivedFile): Promise<string>
  /** Lets go of a received file that was not kept; of one that was, nothing but what is left of receiving it. */
  discard(file: ReceivedFile): Promise<void>
  /** Whether it can be a place of this store. */
  isPlace(place: string): boolean
  /** From byte `start` to byte `end`, both included. */
  read(place: string, range?: { readonly start: number; readonly end: number }): Readable
  /** An address at which any client can read the file for a time; not where the bytes are on this node's disk. */
  readonly presigned?: (place: string, requested: Presigned) => Promise<string>
  /** Of nothing it is nothing. Throws TypeError for a place that is none of this store's. */
  delete(place: string): Promise<void>
  /** The same files, for work that tries again by itself: what fails is said at once. Not where nothing is tried again anyway. */
  readonly once?: Omit<AssetFiles, 'once'>
  close(): void
}

const SHA256 = /^[0-9a-f]{64}$/

/** `newName`: gives names for temporary files, never the same twice. */
export async function openAssetFiles(directory: string, newName: () => string): Promise<AssetFiles> {
  const incoming = join(directory, 'incoming')
  await rm(incoming, { recursive: true, force: true })
  await mkdir(incoming, { recursive: true })

  function pathOf(sha256: string): string {
    if (!SHA256.test(sha256)) throw new TypeError('No SHA-256 in hexadecimal.')
    return join(directory, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  }

  return {
    async receive(source) {
      const waiting = join(incoming, newName())
      try {
        return { waiting, ...(await write(waiting, source)) }
      } catch (error) {
        await rm(waiting, { force: true })
        throw diskError(error)
      }
    },
    placeOf: ({ sha256 }) => sha256,
    isPlace: (place) => SHA256.test(place),
    async keep({ waiting, sha256 }) {
      try {
        const target = pathOf(sha256)
        if (await exists(target)) {
          await rm(waiting, { force: true })
          return sha256
        }
        const folder = dirname(target)
        await mkdir(folder, { recursive: true })
        await rename(waiting, target)
        // The folders above may be new too; that they are asked for when they are not costs a millisecond.
        for (const one of [folder, dirname(folder), directory]) await syncFolder(one)
        return sha256
      } catch (error) {
        throw diskError(error)
      }
    },
    discard: ({ waiting }) => rm(waiting, { force: true }),
    read: (sha256, range) => createReadStream(pathOf(sha256), { ...range, fs: namedErrors }),
    delete: (sha256) => rm(pathOf(sha256), { force: true }),
    close: () => undefined,
  }
}

async function write(path: string, source: AsyncIterable<Buffer>): Promise<FileFacts> {
  const file = await open(path, 'wx', 0o600)
  try {
    const received = receivedBytes(source)
    for await (const chunk of received.chunks) await file.writeFile(chunk)
    await file.sync()
    return received.facts()
  } finally {
    await file.close()
  }
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

/** How a stream opens its file. */
const namedErrors = {
  read,
  close,
  open: (path: string, flags: string, mode: number, done: (error: unknown, file?: number) => void) =>
    openFile(path, flags, mode, (error, file) => done(error && diskError(error), file)),
}

/** What is known of a file once it has gone by. */
interface FileFacts {
  readonly size: number
  /** Hexadecimal. */
  readonly sha256: string
  /** The first 4,100 bytes, or all: what tells of which type a file is. */
  readonly head: Buffer
}

/** What file-type asks for. */
const HEAD = 4_100

/** Hands a stream on as it is, one chunk in memory at a time. `facts` once it has ended. */
export function receivedBytes(source: AsyncIterable<Buffer>): {
  readonly chunks: AsyncIterable<Buffer>
  facts(): FileFacts
} {
  const hash = createHash('sha256')
  let head = Buffer.alloc(0)
  let size = 0
  async function* chunks() {
    for await (const chunk of source) {
      if (head.length < HEAD) head = Buffer.concat([head, chunk.subarray(0, HEAD - head.length)])
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  return { chunks: chunks(), facts: () => ({ size, sha256: hash.digest('hex'), head }) }
}
