/**
 * In which tier each suite runs, and what it took when that was recorded (`npm run test:record`). A suite of `unit` opens
 * nothing. `main` is the rest of `npm test`; `rest` is what `npm run test:rest` adds.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Tier = 'unit' | 'main' | 'rest'
export type Engine = 'sqlite' | 'postgres'

export interface Suite {
  readonly tier: Tier
  /** Of processor time: its own, that of its import, and that of the processes it started. */
  readonly seconds: number
  /** Its part of the processor time of the PostgreSQL that all share, beside `seconds`; none where it asks it nothing. */
  readonly postgres?: number
}

export interface Suites {
  /** By path below the root. */
  readonly sqlite: Readonly<Record<string, Suite>>
  /** What runs once more on PostgreSQL. */
  readonly postgres: Readonly<Record<string, Suite>>
  /** Why a suite may take over `LONGEST_SUITE`. */
  readonly slow: Readonly<Record<string, string>>
}

/** Seconds of processor time that a suite may take without a reason. */
export const LONGEST_SUITE = 10

/** Folder in which each process of a run says which suite it is at. `run` is the process id of vitest. */
export const suitesUnderWay = (run: number) => join(tmpdir(), `quoin-suites-${run}`)

const file = join(import.meta.dirname, 'suites.json')

export function readSuites(): Suites {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** A line for each suite, sorted, so that two changes of it rarely meet. */
export function writeSuites({ sqlite, postgres, slow }: Suites): void {
  const lines = (entries: Readonly<Record<string, unknown>>) =>
    Object.entries(entries)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => lineOf(name, value))
      .join(',\n')
  const part = (name: string, entries: Readonly<Record<string, unknown>>) =>
    Object.keys(entries).length === 0 ? `  "${name}": {}` : `  "${name}": {\n${lines(entries)}\n  }`
  writeFileSync(
    file,
    `{\n${[part('sqlite', sqlite), part('postgres', postgres), part('slow', slow)].join(',\n')}\n}\n`,
  )
}

const WIDTH = 110

/** As Biome formats it; a comma follows. */
function lineOf(name: string, value: unknown): string {
  const line = `    ${JSON.stringify(name)}: ${spaced(value)}`
  return line.length < WIDTH || !line.endsWith(' }')
    ? line
    : line.replace(': { ', ': {\n      ').replaceAll(', "', ',\n      "').replace(/ }$/, '\n    }')
}

function spaced(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? `{ ${Object.entries(value)
        .map(([key, part]) => `${JSON.stringify(key)}: ${JSON.stringify(part)}`)
        .join(', ')} }`
    : JSON.stringify(value)
}
