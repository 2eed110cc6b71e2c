/** What was recorded before files were joined or renamed, as of the files that are there now. Pure. */
import type { EngineSuite, RecordedCoverage } from './recorded-coverage.ts'

export interface Present {
  /** By present file, the names of its functions. */
  readonly functions: ReadonlyMap<string, ReadonlySet<string>>
  /** The present suite that has the tests of one that is gone. */
  suiteOf(file: string): string | undefined
}

/**
 * A function of a file that is gone counts in the present file that has most functions of that file, of equals the nearest; a name
 * that is not there, in the one other file that has it. What is nowhere is forgotten.
 */
export function followMoves(recorded: RecordedCoverage, present: Present): RecordedCoverage {
  const suites: EngineSuite[] = []
  const places = new Map<string, number>()
  const moved = recorded.suites.map(({ engine, file }) => {
    const now = present.functions.has(file) ? file : present.suiteOf(file)
    if (now === undefined) return undefined
    const key = `${engine} ${now}`
    const place = places.get(key) ?? suites.push({ engine, file: now }) - 1
    places.set(key, place)
    return place
  })
  const functions = new Map<string, Map<string, Set<number>>>()
  const add = (file: string, name: string, ranIn: ReadonlySet<number>) => {
    const ofFile = functions.get(file) ?? new Map<string, Set<number>>()
    functions.set(file, ofFile)
    const set = ofFile.get(name) ?? new Set<number>()
    ofFile.set(name, set)
    for (const at of ranIn) {
      const place = moved[at]
      if (place !== undefined) set.add(place)
    }
  }
  for (const [file, names] of recorded.functions) {
    const home = present.functions.has(file) ? file : newHome(file, [...names.keys()], present)
    for (const [name, ranIn] of names) {
      const there = home !== undefined && (name === '' || present.functions.get(home)?.has(name))
      const to = there ? home : onlyFileWith(name, present)
      if (to !== undefined) add(to, name, ranIn)
    }
  }
  return { suites, functions }
}

function newHome(file: string, names: readonly string[], { functions }: Present): string | undefined {
  const common = (other: string) => {
    const parts = file.split('/')
    const at = other.split('/').findIndex((part, n) => part !== parts[n])
    return at === -1 ? parts.length : at
  }
  let home: { readonly file: string; readonly worth: number } | undefined
  for (const [other, has] of functions) {
    const found = names.filter((name) => name !== '' && has.has(name)).length
    const worth = found * 100 + common(other)
    if (found > 0 && worth > (home?.worth ?? 0)) home = { file: other, worth }
  }
  return home?.file
}

function onlyFileWith(name: string, { functions }: Present): string | undefined {
  const files = [...functions].filter(([, has]) => has.has(name))
  return files.length === 1 ? files[0]?.[0] : undefined
}
