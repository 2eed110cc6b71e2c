/**
 * The file of what was recorded: for each function of the repository, the suites in which it ran. 900 suites and some 9,000
 * functions are 100 kB, because a set of suites is a number, functions that ran in the same suites share one, and the whole is packed.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { functionsOf } from './named-functions.ts'
import type { SuiteCoverage } from './suite-coverage.ts'

const root = join(import.meta.dirname, '../..')
const packed = join(import.meta.dirname, 'recorded-coverage.json.br')

/** A suite as vitest runs it: the file, on one of the engines. */
export interface EngineSuite {
  readonly engine: string
  readonly file: string
}

/** By file and name of a function, the suites in which it ran, as places in `suites`. */
export interface RecordedCoverage {
  readonly suites: readonly EngineSuite[]
  readonly functions: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<number>>>
}

interface Packed {
  readonly suites: readonly EngineSuite[]
  /** Each is the bits of a set, the first suite lowest, as hexadecimal digits. */
  readonly sets: readonly string[]
  /** By file and function, the place in `sets`. */
  readonly functions: Readonly<Record<string, Readonly<Record<string, number>>>>
}

export function readCoverage(): RecordedCoverage {
  const { suites, sets, functions }: Packed = JSON.parse(String(brotliDecompressSync(readFileSync(packed))))
  const members = sets.map((bits) => membersOf(BigInt(`0x${bits}`)))
  const setsOf = (names: Readonly<Record<string, number>>) =>
    new Map(Object.entries(names).map(([name, at]) => [name, members[at] ?? new Set<number>()]))
  return {
    suites,
    functions: new Map(Object.entries(functions).map(([file, names]) => [file, setsOf(names)])),
  }
}

function membersOf(bits: bigint): ReadonlySet<number> {
  const members = new Set<number>()
  const digits = bits.toString(2)
  for (let at = 0; at < digits.length; at++) if (digits[digits.length - 1 - at] === '1') members.add(at)
  return members
}

/** Of the files that suites wrote into a folder. Resolves to the bytes that it takes. */
export function writeCoverage(folder: string): number {
  const suites: EngineSuite[] = []
  const ranIn = new Map<string, Map<string, bigint>>()
  const names = new Map<string, ReturnType<typeof functionsOf>>()
  for (const name of readdirSync(folder).sort()) {
    const { suite, engine, ran }: SuiteCoverage = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    const bit = 1n << BigInt(suites.push({ engine, file: suite }) - 1)
    for (const [file, starts] of Object.entries(ran)) {
      const known = names.get(file) ?? functionsOf(file, readFileSync(join(root, file), 'utf8'))
      names.set(file, known)
      const ofFile = ranIn.get(file) ?? new Map<string, bigint>()
      ranIn.set(file, ofFile)
      for (const start of starts) {
        const key = known.at(start)
        ofFile.set(key, (ofFile.get(key) ?? 0n) | bit)
      }
    }
  }
  return write(packedOf(suites, ranIn))
}

/** Stores a changed recording, and returns the bytes that it takes. */
export function rewriteCoverage({ suites, functions }: RecordedCoverage): number {
  const bitsOf = (ranIn: ReadonlySet<number>) =>
    [...ranIn].reduce((bits, at) => bits | (1n << BigInt(at)), 0n)
  const ranIn = [...functions].map(
    ([file, names]) => [file, new Map([...names].map(([name, set]) => [name, bitsOf(set)]))] as const,
  )
  return write(packedOf(suites, new Map(ranIn)))
}

function write(content: Packed): number {
  const bytes = brotliCompressSync(JSON.stringify(content), {
    params: { [constants.BROTLI_PARAM_LGWIN]: 24 },
  })
  writeFileSync(packed, bytes)
  return bytes.length
}

function packedOf(suites: readonly EngineSuite[], ranIn: Map<string, Map<string, bigint>>): Packed {
  const places = new Map<bigint, number>()
  const placeOf = (bits: bigint) => {
    const place = places.get(bits) ?? places.size
    places.set(bits, place)
    return place
  }
  const functions = Object.fromEntries(
    [...ranIn]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([file, names]) => [
        file,
        Object.fromEntries([...names].map(([name, bits]) => [name, placeOf(bits)])),
      ]),
  )
  return { suites, sets: [...places.keys()].map((bits) => bits.toString(16)), functions }
}
