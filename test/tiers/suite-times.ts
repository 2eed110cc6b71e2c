/**
 * A reporter of vitest. It ends a suite that hangs and names it; it fails a run in which a suite without a reason in
 * suites.json took over twenty seconds of processor time; with QUOIN_RECORD_SUITES it writes what was measured to that file.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { removeFailedSuites } from '../failed-suites.ts'
import {
  type Engine,
  LONGEST_SUITE,
  readSuites,
  type Suite,
  type Suites,
  suitesUnderWay,
  writeSuites,
} from './suites.ts'

/** Milliseconds of the clock after which a suite counts as hanging: three times what the longest takes on a busy machine. */
const HANGS_AFTER = 600_000

/** What was measured of a suite. */
export interface Measured {
  readonly name: string
  readonly engine: Engine
  /** Of processor time. */
  readonly seconds: number
  /** Of the PostgreSQL that all share. */
  readonly postgres: number
  readonly opened: readonly string[]
}

export default class SuiteTimes implements Reporter {
  readonly #folder = suitesUnderWay(process.pid)
  readonly #hangsAfter: number
  #looking: NodeJS.Timeout | undefined

  constructor({ hangsAfter = HANGS_AFTER }: { readonly hangsAfter?: number } = {}) {
    this.#hangsAfter = hangsAfter
  }

  onTestRunStart(): void {
    mkdirSync(this.#folder, { recursive: true })
    this.#looking = setInterval(
      () => endHanging(this.#folder, this.#hangsAfter),
      Math.min(5_000, this.#hangsAfter),
    ).unref()
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    clearInterval(this.#looking)
    rmSync(this.#folder, { recursive: true, force: true })
    const measured = modules.flatMap(measuredOf)
    if (process.env.QUOIN_RECORD_SUITES) writeSuites(recorded(readSuites(), measured))
    // Counting what runs makes tight loops four times slower.
    const problems = process.env.QUOIN_RECORD_COVERAGE ? [] : tooLong(readSuites(), measured)
    if (problems.length > 0) {
      process.exitCode = 1
      removeFailedSuites()
    }
    for (const problem of problems) console.error(problem)
  }
}

/** Ends the processes whose suite began longer ago than that. Each has a file that is named by its id and holds the suite. */
export function endHanging(folder: string, milliseconds: number): void {
  for (const pid of readdirSync(folder)) {
    const path = join(folder, pid)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age < milliseconds) continue
    try {
      const suite = readFileSync(path, 'utf8')
      rmSync(path)
      process.kill(Number(pid), 'SIGKILL')
      console.error(`${suite} hangs: ended after ${Math.round(age / 1000)} s.`)
      process.exitCode = 1
    } catch {
      // The suite or its process has ended meanwhile.
    }
  }
}

/**
 * What is recorded is held to ten seconds. The same work takes up to 1.9 times as much processor time on a slower or busy machine, so a
 * run fails from twice of it on.
 */
export function tooLong(suites: Suites, measured: readonly Measured[]): string[] {
  return measured
    .filter(({ name, engine, seconds }) => {
      const before = suites[engine][name]?.seconds ?? 0
      return seconds > 2 * Math.max(LONGEST_SUITE, before) && suites.slow[name] === undefined
    })
    .map(
      ({ name, engine, seconds }) =>
        `${name} (${engine}) took ${seconds.toFixed(1)} s of processor time; over ${LONGEST_SUITE} it needs a reason in test/tiers/suites.json.`,
    )
}

/** Suites keep their tier. A new one gets the cheapest that it fits into. */
export function recorded(suites: Suites, measured: readonly Measured[]): Suites {
  const of = (engine: Engine): Record<string, Suite> => ({
    ...suites[engine],
    ...Object.fromEntries(
      measured
        .filter((one) => one.engine === engine)
        .map((one) => [
          one.name,
          {
            tier: suites[engine][one.name]?.tier ?? tierOf(one),
            seconds: rounded(one.seconds),
            ...(one.postgres >= 0.05 && { postgres: rounded(one.postgres) }),
          },
        ]),
    ),
  })
  return { sqlite: of('sqlite'), postgres: of('postgres'), slow: suites.slow }
}

function tierOf({ engine, opened, seconds }: Measured): Suite['tier'] {
  if (engine === 'postgres' || opened.includes('process') || seconds > LONGEST_SUITE / 2) return 'rest'
  return opened.length > 0 ? 'main' : 'unit'
}

/** Two digits are enough, so that the file changes where a suite did. */
const rounded = (seconds: number) => Number(seconds.toPrecision(seconds < 0.1 ? 1 : 2))

function measuredOf(module: TestModule): Measured[] {
  const { processorSeconds, postgresSeconds = 0, opened = [] } = module.meta()
  if (processorSeconds === undefined) return []
  const engine = module.project.name.endsWith('postgres') ? 'postgres' : 'sqlite'
  return [
    { name: module.relativeModuleId, engine, seconds: processorSeconds, postgres: postgresSeconds, opened },
  ]
}
