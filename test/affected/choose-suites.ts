/** Which suites a change needs, and which of these fit into a minute. Pure: what was recorded and what changed are given. */
import type { EngineSuite, RecordedCoverage } from './recorded-coverage.ts'

/** A changed file of the repository, with the functions that hold changed lines; '' is the module itself. */
export interface Changed {
  readonly file: string
  readonly functions: ReadonlySet<string>
}

export interface Chosen extends EngineSuite {
  /** Of processor time, as recorded. */
  readonly seconds: number
  /** How many changed functions it runs. 0 where the suite itself changed. */
  readonly runs: number
}

export interface Choice {
  readonly chosen: readonly Chosen[]
  /** What runs changed functions too, and did not fit. */
  readonly left: readonly Chosen[]
}

export interface Known {
  readonly coverage: RecordedCoverage
  /** Files that import a file. */
  importersOf(file: string): readonly string[]
  /** Undefined for one that is gone since the recording, or in no tier: it is not chosen. */
  secondsOf(suite: EngineSuite): number | undefined
}

/** Seconds of processor time: with the start of three processes, a minute on two cores. */
const BUDGET = 60

/**
 * Suites that changed come first. Then for each changed function the cheapest suite that runs it, those of few suites before
 * those of many. Then what runs most of the change for what it costs, until the minute is full.
 */
export function chooseSuites(changes: readonly Changed[], known: Known, budget = BUDGET): Choice {
  const { suites } = known.coverage
  const cost = (at: number) => secondsOf(known, suites[at])
  const exists = (at: number) => suites[at] !== undefined && known.secondsOf(suites[at]) !== undefined
  const picked = new Set<number>(
    suites.keys().filter((at) => exists(at) && changes.some(({ file }) => file === suites[at]?.file)),
  )
  let spent = [...picked].reduce((sum, at) => sum + cost(at), 0)
  const ranBy = changes
    .flatMap((change) => [...setsOf(change, known), inBrowsers(change, known)])
    .map((set) => new Set([...set].filter(exists)))
    .filter((set) => set.size > 0)
  const worth = new Map<number, number>()
  for (const set of ranBy) for (const at of set) worth.set(at, (worth.get(at) ?? 0) + 1 / set.size)

  const pick = (at: number) => {
    if (picked.has(at) || spent + cost(at) > budget) return
    picked.add(at)
    spent += cost(at)
  }
  for (const set of ranBy.toSorted((a, b) => a.size - b.size)) {
    if (set.values().some((at) => picked.has(at))) continue
    const cheapest = [...set].toSorted((a, b) => cost(a) - cost(b))[0]
    if (cheapest !== undefined) pick(cheapest)
  }
  const value = (at: number) => (worth.get(at) ?? 0) / cost(at)
  for (const at of [...worth.keys()].toSorted((a, b) => value(b) - value(a))) pick(at)

  const chosen = (at: number): Chosen[] => {
    const suite = suites[at]
    return suite ? [{ ...suite, seconds: cost(at), runs: ranBy.filter((set) => set.has(at)).length }] : []
  }
  return {
    chosen: [...picked].flatMap(chosen),
    left: [...worth.keys()].filter((at) => !picked.has(at)).flatMap(chosen),
  }
}

/** What vitest itself takes for a suite, and a database on PostgreSQL. */
const START = { sqlite: 0.1, postgres: 0.4 }

const secondsOf = ({ secondsOf }: Known, suite: EngineSuite | undefined) =>
  suite ? (secondsOf(suite) ?? 0) + START[suite.engine === 'postgres' ? 'postgres' : 'sqlite'] : 0

/**
 * The suites of each changed function. What is recorded of none, such as a constant, is as if all functions of the file had
 * changed; a file of which nothing is recorded, as if those that import it had.
 */
function setsOf({ file, functions }: Changed, known: Known): ReadonlySet<number>[] {
  const recorded = known.coverage.functions.get(file)
  if (!recorded) return known.importersOf(file).flatMap((importer) => wholeFile(importer, known))
  const sets = [...functions].flatMap((name) => recorded.get(name) ?? [])
  return sets.length > 0 ? sets : wholeFile(file, known)
}

/** What runs in a browser is not recorded: any suite with a browser may notice, and the cheapest are as good as others. */
function inBrowsers({ file }: Changed, { coverage }: Known): ReadonlySet<number> {
  if (!/^src\/(studio|pages\/browser)\//.test(file)) return new Set()
  return new Set(coverage.suites.keys().filter((at) => coverage.suites[at]?.file.startsWith('test/browser/')))
}

/** A suite that imports the file is itself what is needed. */
function wholeFile(file: string, { coverage }: Known): ReadonlySet<number>[] {
  const own = coverage.suites.keys().filter((at) => coverage.suites[at]?.file === file)
  return [new Set(own), ...(coverage.functions.get(file)?.values() ?? [])]
}
