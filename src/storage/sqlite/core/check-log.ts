/**
 * Reads a write-ahead log before SQLite does (format: https://sqlite.org/fileformat2.html#the_write_ahead_log).
 *
 * SQLite takes a log up to the first frame whose checksum is wrong and overwrites the rest: after a power cut that is the
 * transaction that was not acknowledged. A bad frame in the middle, with a whole later transaction behind it, is no torn
 * end: its transaction was on disk before the later one began. SQLite would then drop acknowledged writes.
 *
 * A bad frame in the last transaction cannot be told from a torn end. The checksums of 64 MiB take about 0.1 s; a log is
 * only there after a process that did not close.
 */
import { closeSync, openSync, readSync } from 'node:fs'

const HEADER = 32
const FRAME_HEADER = 24
/** The lowest bit says in which order of bytes the checksums are made. */
const MAGIC = 0x377f0682
const CHUNK_FRAMES = 256

export interface LogState {
  /** What is wrong, in words that finish "the log …"; undefined for a sound one. */
  readonly problem: string | undefined
  /** Pages of the database after the last sound transaction; 0 if there is none. */
  readonly pages: number
  /** The pages that sound transactions hold. */
  readonly held: ReadonlySet<number>
}

interface Sums {
  readonly first: number
  readonly second: number
}

/** `size`: the file's. */
export function checkLog(path: string, size: number): LogState {
  const none = { problem: undefined, pages: 0, held: new Set<number>() }
  if (size < HEADER + FRAME_HEADER) return none
  const file = openSync(path, 'r')
  try {
    const header = read(file, HEADER, 0)
    const view = viewOf(header)
    const pageSize = view.getUint32(8)
    const littleEndian = (view.getUint32(0) & 1) === 0
    const sums = checksum(header.subarray(0, FRAME_HEADER), littleEndian, { first: 0, second: 0 })
    const sound =
      (view.getUint32(0) & 0xfffffffe) >>> 0 === MAGIC &&
      isPageSize(pageSize) &&
      sums.first === view.getUint32(24) &&
      sums.second === view.getUint32(28)
    if (!sound) return { ...none, problem: 'has a damaged header, and frames behind it' }
    return checkFrames(file, size, { pageSize, littleEndian, sums, salts: header.subarray(16, 24) })
  } finally {
    closeSync(file)
  }
}

interface Log {
  readonly pageSize: number
  readonly littleEndian: boolean
  readonly sums: Sums
  readonly salts: Uint8Array
}

function checkFrames(file: number, size: number, { pageSize, littleEndian, sums, salts }: Log): LogState {
  const length = FRAME_HEADER + pageSize
  const count = Math.floor((size - HEADER) / length)
  const held = new Set<number>()
  let open: number[] = []
  let pages = 0
  let before = sums
  let bad: number | undefined
  /** Whether a transaction ended behind the bad frame. */
  let ended = false
  for (let start = 0; start < count; start += CHUNK_FRAMES) {
    const chunk = read(file, Math.min(CHUNK_FRAMES, count - start) * length, HEADER + start * length)
    for (let at = 0; at + length <= chunk.byteLength; at += length) {
      const frame = chunk.subarray(at, at + length)
      const view = viewOf(frame)
      // A frame of an older log, which this one has not overwritten yet: nothing behind it is of this one either.
      if (!sameBytes(frame.subarray(8, 16), salts)) {
        if (bad === undefined) return { problem: undefined, pages, held }
        continue
      }
      const stored = { first: view.getUint32(16), second: view.getUint32(20) }
      const made = checksum(
        frame.subarray(FRAME_HEADER),
        littleEndian,
        checksum(frame.subarray(0, 8), littleEndian, before),
      )
      const isSound = made.first === stored.first && made.second === stored.second
      before = stored
      const number = start + at / length + 1
      if (!isSound) bad ??= number
      else if (bad === undefined) {
        open.push(view.getUint32(0))
        if (view.getUint32(4) === 0) continue
        pages = view.getUint32(4)
        for (const page of open) held.add(page)
        open = []
      } else if (ended) {
        const problem = `is damaged at frame ${number === bad ? number : bad} of ${count}: its checksum is wrong, and whole later transactions follow it`
        return { problem, pages, held }
      } else ended = view.getUint32(4) !== 0
    }
  }
  return { problem: undefined, pages, held }
}

/** Fletcher's, over pairs of 32 bits. */
function checksum(bytes: Uint8Array, littleEndian: boolean, { first, second }: Sums): Sums {
  const view = viewOf(bytes)
  let one = first
  let two = second
  for (let at = 0; at + 8 <= bytes.byteLength; at += 8) {
    one = (one + view.getUint32(at, littleEndian) + two) >>> 0
    two = (two + view.getUint32(at + 4, littleEndian) + one) >>> 0
  }
  return { first: one, second: two }
}

function read(file: number, length: number, position: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const got = readSync(file, bytes, done, length - done, position + done)
    if (got === 0) break
    done += got
  }
  return bytes.subarray(0, done)
}

export function isPageSize(size: number): boolean {
  return size >= 512 && size <= 65_536 && (size & (size - 1)) === 0
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((byte, at) => byte === other[at])
}
