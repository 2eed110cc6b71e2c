/** One file of a zip archive, unpacked into a folder of its own. */
import { openAsBlob } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file may unpack to so many times its packed length, once it is longer than so many bytes: databases unpack to 3 to 30 times. */
const MOST_UNPACKED = 200
const SURELY_FINE = 8 * 1024 * 1024
const MOST_FILES = 1_000_000

/** Nothing is unpacked to the name that an entry has, so that one with a path out of the archive is left out, and the others are read. */
export const anyNames = { filenameValidation: 'tolerant' } as const

export interface UnpackedFile {
  readonly path: string
  /** Removes it. */
  close(): Promise<void>
}

/** Throws for bytes that are no archive, for one without the file, and for a file that unpacks to far more than it has. */
export async function unpackedFile(archive: string, name: string): Promise<UnpackedFile> {
  const { BlobReader, ZipReader, configure } = await import('@zip.js/zip.js')
  configure({ useWebWorkers: false })
  const blob = await openAsBlob(archive)
  const directory = await mkdtemp(join(tmpdir(), 'quoin-import-'))
  const close = () => rm(directory, { recursive: true, force: true })
  const path = join(directory, 'unpacked')
  try {
    let files = 0
    for await (const entry of new ZipReader(new BlobReader(blob), anyNames).getEntriesGenerator()) {
      files += 1
      if (files > MOST_FILES) throw new Error('has too many files')
      if (entry.directory || entry.filename !== name) continue
      const most = mostUnpacked(entry.compressedSize, blob.size)
      await writeAtMost(path, most, (writable) => entry.getData(writable))
      return { path, close }
    }
    throw new Error(`has no file ${name}`)
  } catch (error) {
    await close()
    throw error
  }
}

/** Bytes that a file of an archive may unpack to. The archive says the packed length, and may lie. */
export function mostUnpacked(packed: number, archive: number): number {
  return Math.max(SURELY_FINE, Math.min(packed, archive) * MOST_UNPACKED)
}

async function writeAtMost(
  path: string,
  most: number,
  unpack: (writable: WritableStream<Uint8Array>) => Promise<unknown>,
): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  let bytes = 0
  let isTooLong = false
  try {
    await unpack(
      new WritableStream({
        async write(piece) {
          bytes += piece.length
          isTooLong = bytes > most
          if (isTooLong) throw new Error('too long')
          await file.write(piece)
        },
      }),
    )
  } catch (error) {
    throw isTooLong ? new Error('unpacks to far more than it has: it is no backup') : error
  } finally {
    await file.close()
  }
}
