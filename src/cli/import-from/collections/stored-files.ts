/** Files of records: of PocketBase `storage/<collection>/<record>/<name>` in its folder, or in a backup; of Directus `uploads`. */
import { createReadStream, openAsBlob } from 'node:fs'
import { mkdtemp, open, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { textIn } from '../../../storage/document-fields.ts'
import { shownName } from '../fitting-names.ts'
import { counted } from '../show-plan.ts'
import type { RowFile } from '../source.ts'
import type { FindFile } from './collection.ts'
import type { RecordFolder } from './record-folder.ts'

/** What a cluster takes. */
const MOST_BYTES = 500 * 1024 * 1024
/** Places of files of an archive in memory: some 400 MB. */
const MOST_FILES = 200_000

export interface RecordFiles {
  /** What is left out whatever records say. */
  readonly unsaid: readonly string[]
  /** Why a file is left out finishes "<field> …". */
  find(collection: string, record: string, name: string): Promise<RowFile | string>
}

const leadsOut = 'is left out: its name leads out of the folder of its record'
const isMissing = 'is left out: the file is not there'
const isTooLarge = 'is left out: the file is larger than 500 MB'

/** Undefined where the folder has no files: they may be in a bucket. */
export async function storedFiles(folder: string): Promise<RecordFiles | undefined> {
  const root = await realpath(join(folder, 'storage')).catch(() => undefined)
  if (root === undefined) return undefined
  return {
    unsaid: [],
    find: (...parts) => fileAt(root, parts),
  }
}

/** In a folder without links in its own path, under the last of these names. */
async function fileAt(root: string, parts: readonly string[]): Promise<RowFile | string> {
  if (!parts.every(isPart)) return leadsOut
  const path = join(root, ...parts)
  const found = await realpath(path).catch(() => undefined)
  if (found === undefined) return isMissing
  // A link may lead to any file of the machine.
  if (found !== path) return 'is left out: the file is a link'
  const { size, isFile } = await stat(path).then((one) => ({ size: one.size, isFile: one.isFile() }))
  if (!isFile) return isMissing
  return size > MOST_BYTES
    ? isTooLarge
    : { name: parts.at(-1) ?? '', size, open: () => createReadStream(path) }
}

/** Files of Directus: `uploads/<filename_disk>` beside its items, by the guids that `directus_files.json` has. */
export async function directusFiles(
  folder: string,
  { has, records }: RecordFolder,
): Promise<FindFile | undefined> {
  const root = await realpath(join(folder, 'uploads')).catch(() => undefined)
  if (root === undefined || !has(DIRECTUS_FILES)) return undefined
  const places = new Map<string, { readonly disk: string; readonly name: string }>()
  for await (const { id, filename_disk: disk, filename_download: name } of records(DIRECTUS_FILES)) {
    if (places.size >= MOST_FILES) throw new Error(`has more than ${MOST_FILES} files`)
    places.set(textIn(id), { disk: textIn(disk), name: textIn(name) })
  }
  return async (_record, id) => {
    const place = places.get(id)
    if (!place) return 'is left out: there is no such file in directus_files.json'
    const found = await fileAt(root, [place.disk])
    // The name that people see is one of theirs, and no path.
    const name = place.name.split(/[/\\\0]/).at(-1) ?? ''
    return typeof found === 'string' || name === '' ? found : { ...found, name }
  }
}

export const DIRECTUS_FILES = 'directus_files'

/** Undefined where the archive has no files. It may have any names: only those of records are asked for. */
export async function archivedFiles(archive: string): Promise<RecordFiles | undefined> {
  const { BlobReader, ZipReader, configure } = await import('@zip.js/zip.js')
  configure({ useWebWorkers: false })
  const blob = await openAsBlob(archive)
  const files = new Map<string, ArchivedFile>()
  const outside: string[] = []
  let others = 0
  for await (const entry of new ZipReader(new BlobReader(blob), anyNames).getEntriesGenerator()) {
    if (entry.directory) continue
    const [root, ...parts] = entry.filename.split('/')
    if (!entry.filename.split('/').every(isPart)) outside.push(entry.filename)
    else if (root !== 'storage' || parts.length !== 3) continue
    else if (files.size >= MOST_FILES) others += 1
    else files.set(parts.join('/'), { ...sizesOf(entry), unpack: (into) => entry.getData(into) })
  }
  if (files.size === 0 && outside.length === 0) return undefined
  return {
    unsaid: [
      ...outside
        .slice(0, 10)
        .map((name) => `The archive has ${shownName(name)}, which leads out of it: it is left out.`),
      ...(outside.length > 10 ? [`The archive has ${counted(outside.length, 'file')} of this kind.`] : []),
      ...(others > 0
        ? [
            `The archive has ${counted(others, 'more file')} than can be found in it: unpack it and import the folder.`,
          ]
        : []),
    ],
    async find(...parts) {
      const [, , name] = parts
      if (!parts.every(isPart)) return leadsOut
      const file = files.get(parts.join('/'))
      if (!file) return isMissing
      if (file.size > MOST_BYTES) return isTooLarge
      if (file.size > mostUnpacked(file.packed, blob.size))
        return 'is left out: the file unpacks to far more than it has'
      return { name, size: file.size, open: () => unpacking(file) }
    },
  }
}

interface ArchivedFile {
  readonly size: number
  readonly packed: number
  readonly unpack: (into: WritableStream<Uint8Array>) => Promise<unknown>
}

function sizesOf({ uncompressedSize, compressedSize }: { uncompressedSize: number; compressedSize: number }) {
  return { size: uncompressedSize, packed: compressedSize }
}

/** What its bytes are; an error for a file that is longer than the archive says, or cannot be unpacked. */
function unpacking({ size, unpack }: ArchivedFile): Readable {
  const out = new PassThrough()
  let bytes = 0
  const into = new WritableStream<Uint8Array>({
    async write(piece) {
      bytes += piece.length
      if (bytes > size) throw new Error('the file is longer than its archive says')
      if (out.destroyed) throw new Error('nothing reads the file')
      if (!out.write(piece))
        await new Promise<void>((resolve) => {
          out.once('drain', resolve)
          out.once('close', resolve)
        })
    },
  })
  unpack(into).then(
    () => out.end(),
    (error: unknown) => out.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  return out
}

/** A name of a file or folder, and no way to another one. */
function isPart(part: string): boolean {
  return part !== '' && part !== '.' && part !== '..' && !/[/\\\0]/.test(part) && !/^[a-z]:/i.test(part)
}

/** A file may unpack to so many times its packed length, once it is longer than so many bytes: databases unpack to 3 to 30 times. */
const MOST_UNPACKED = 200
const SURELY_FINE = 8 * 1024 * 1024
const MOST_ENTRIES = 1_000_000

/** Nothing is unpacked to the name that an entry has, so that one with a path out of the archive is left out, and the others are read. */
const anyNames = { filenameValidation: 'tolerant' } as const

interface UnpackedFile {
  readonly path: string
  /** Removes it. */
  close(): Promise<void>
}

/** One file of a zip archive, in a folder of its own. Throws for bytes that are no archive, for one without the file, and for a file that unpacks to far more than it has. */
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
      if (files > MOST_ENTRIES) throw new Error('has too many files')
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
function mostUnpacked(packed: number, archive: number): number {
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
