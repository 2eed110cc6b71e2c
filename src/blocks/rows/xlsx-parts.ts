/**
 * The parts of a workbook (XLSX), read from where they lie in the file: nothing but the part that is asked for is unpacked,
 * a piece at a time.
 */
import { Readable } from 'node:stream'
import type { CreateReadableOptions } from '@zip.js/zip.js'
import { isFileStoreUnavailable } from '../../storage/file-store-unavailable.ts'
import { CsvProblem } from './csv-rows.ts'
import { webStream } from './xml-events.ts'

/** Where a file's bytes come from, in any order. */
export interface FileBytes {
  readonly size: number
  /** From byte `start` to byte `end`, both included. */
  read(start: number, end: number): Readable
}

export interface XlsxParts {
  /** The text of a part; undefined if there is none. */
  part(name: string): AsyncIterable<string> | undefined
}

/** A zip archive begins so. */
export const ZIP: Buffer = Buffer.from('PK\u0003\u0004')

const MOST_PARTS = 10_000
/** Bytes that are read at once: of the list of parts, whose names are at most 65,535 long and whose remarks are too. */
const MOST_LISTED = 16 * 1024 * 1024
/**
 * A part may unpack to so many times its packed length, once it is longer than so many characters. Sheets of numbers and texts unpack to 5 to
 * 30 times; 10,000,000 empty rows in 89 KB, which cost 10 s of processor time, to 670 times.
 */
const MOST_UNPACKED = 100
const SURELY_FINE = 4 * 1024 * 1024

/** Throws CsvProblem for bytes that are no workbook. */
export async function openXlsxParts(file: FileBytes): Promise<XlsxParts> {
  const zip = await import('@zip.js/zip.js')
  zip.configure({ useWebWorkers: false })
  class Bytes extends zip.Reader<FileBytes> {
    override async readUint8Array(index: number, length: number): Promise<Uint8Array> {
      if (length > MOST_LISTED) throw new Error('The list of parts is too long.')
      const end = Math.min(index + length, file.size) - 1
      return end < index ? new Uint8Array() : Buffer.concat(await file.read(index, end).toArray())
    }

    override createReadable(requested: CreateReadableOptions = {}): ReadableStream<Uint8Array> {
      const { offset = 0, size = file.size - offset } = requested
      return webStream(size === 0 ? Readable.from([]) : file.read(offset, offset + size - 1))
    }
  }
  const bytes = new Bytes(file)
  bytes.size = file.size
  const entries = new Map<string, Packed>()
  try {
    for await (const entry of new zip.ZipReader(bytes).getEntriesGenerator()) {
      if (entries.size >= MOST_PARTS) throw new Error('Too many parts.')
      if (!entry.directory) {
        const most = Math.max(SURELY_FINE, Math.min(entry.compressedSize, file.size) * MOST_UNPACKED)
        entries.set(entry.filename, { most, unpack: (writable) => entry.getData(writable) })
      }
    }
  } catch (error) {
    if (isFileStoreUnavailable(error)) throw error
    throw new CsvProblem('is no XLSX workbook that can be read', { cause: error })
  }
  return {
    part(name) {
      const packed = entries.get(name)
      return packed && textOf(packed)
    },
  }
}

interface Packed {
  /** Characters that it may unpack to. */
  readonly most: number
  readonly unpack: (writable: WritableStream) => Promise<unknown>
}

async function* textOf({ most, unpack }: Packed): AsyncGenerator<string> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const unpacked = unpack(writable)
  unpacked.catch(() => undefined)
  const decoder = new TextDecoder()
  let length = 0
  try {
    for await (const chunk of readable) {
      length += chunk.length
      if (length > most)
        throw new CsvProblem(
          `has a part that unpacks to more than ${MOST_UNPACKED} times its size; save it as CSV`,
        )
      yield decoder.decode(chunk, { stream: true })
    }
    await unpacked
  } catch (error) {
    if (isFileStoreUnavailable(error) || error instanceof CsvProblem) throw error
    throw new CsvProblem('is a damaged XLSX workbook', { cause: error })
  }
}
