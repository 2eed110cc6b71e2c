/**
 * The passwords of the million that leaked most often which have at least 10 characters: 112,000, as a filter of 254 KB that
 * `scripts/password-filter.ts` builds. A filter and not a list: a list of them takes 1.5 MB. Another password is taken for one of them
 * once in 65,536. Read with the first password that is set, and never sent to a service.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * A binary fuse filter (Graf, Lemire: "Binary Fuse Filters", 2022). Each password has three places in `prints`; the exclusive or of what
 * they hold is its fingerprint of 16 bits.
 */
export interface PasswordFilter {
  readonly seed: number
  /** A power of two. The three places of a password are in three segments that follow one another. */
  readonly segmentLength: number
  readonly segments: number
  readonly prints: Uint16Array
}

/** Bytes before the fingerprints: seed, length and number of segments. */
const HEADER = 12

/** Whether the password, in lower case and composed (NFKC), is one of them. */
export async function isCommonPassword(password: string): Promise<boolean> {
  filter ??= readFilter()
  try {
    return isInFilter(await filter, passwordKey(password))
  } catch (error) {
    filter = undefined
    throw error
  }
}

let filter: Promise<PasswordFilter> | undefined

async function readFilter(): Promise<PasswordFilter> {
  const bytes = await readFile(join(import.meta.dirname, 'common-passwords.fuse'))
  return parseFilter(bytes)
}

export function parseFilter(bytes: Buffer): PasswordFilter {
  const prints = new Uint16Array((bytes.length - HEADER) / 2)
  for (let at = 0; at < prints.length; at++) prints[at] = bytes.readUInt16LE(HEADER + 2 * at)
  return {
    ...{ seed: bytes.readUInt32LE(0), segmentLength: bytes.readUInt32LE(4), segments: bytes.readUInt32LE(8) },
    prints,
  }
}

export function filterBytes({ seed, segmentLength, segments, prints }: PasswordFilter): Buffer {
  const bytes = Buffer.alloc(HEADER + 2 * prints.length)
  for (const [at, value] of [seed, segmentLength, segments].entries()) bytes.writeUInt32LE(value, 4 * at)
  for (const [at, print] of prints.entries()) bytes.writeUInt16LE(print, HEADER + 2 * at)
  return bytes
}

/** The first 6 bytes of the SHA-256. */
export function passwordKey(password: string): Buffer {
  return createHash('sha256').update(password).digest().subarray(0, 6)
}

export function isInFilter(inputs: PasswordFilter, key: Buffer): boolean {
  const { places, print } = placesOf(inputs, key)
  return places.reduce((found, place) => found ^ (inputs.prints[place] ?? 0), print) === 0
}

/** The three places of a password, and its fingerprint. */
export function placesOf(
  { seed, segmentLength, segments }: Omit<PasswordFilter, 'prints'>,
  key: Buffer,
): { readonly places: readonly [number, number, number]; readonly print: number } {
  const bytes = createHash('sha256').update(`${seed} `).update(key).digest()
  const mask = segmentLength - 1
  const first = Math.floor((bytes.readUInt32LE(0) / 2 ** 32) * (segments - 2) * segmentLength)
  const second = (first + segmentLength) ^ (bytes.readUInt32LE(4) & mask)
  const third = (first + 2 * segmentLength) ^ (bytes.readUInt32LE(8) & mask)
  return { places: [first, second, third], print: bytes.readUInt16LE(12) }
}
