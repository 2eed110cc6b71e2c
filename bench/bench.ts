/**
 * npm run bench: Quoin against the same endpoints written by hand.
 *
 * 1. A pair of servers that can be asked for their settings: is the work equal? (`equal-work.ts`)
 * 2. A fresh pair, filled with the same tasks: each row in turns. (`rows.ts`, `measure.ts`)
 * 3. The goals that Quoin has alone. (`alone/goals.ts`)
 * 4. What large bodies cost in memory, and nodes on PostgreSQL. (`memory.ts`, …)
 * 5. Some rows under another load generator, and profiles of those that missed their goal. (`wrk/`, `profile.ts`)
 * 6. The tables, and docs/benchmarks.md: all of it, or what was measured alone (of the rows only if all ran).
 *
 * `--check` times nothing: it counts what requests do, and is part of the tests. (`check/check.ts`)
 */
import { compareAgainst } from './against.ts'
import type { Goal } from './alone/goal.ts'
import { goals as allGoals, longGoals } from './alone/goals.ts'
import { type BenchRequest, type Part, readArguments, usage } from './arguments.ts'
import { benchProfiles, onBothEngines, type ProfiledRow } from './bench-profile.ts'
import { checkWork } from './check/check.ts'
import { compareRows } from './compare-rows.ts'
import { takeCore } from './cores.ts'
import { UnequalWork } from './equal-work.ts'
import { goalsOverview } from './goals-overview.ts'
import { measureGrowing } from './growing/growing.ts'
import { growingSection, growingTables } from './growing/report-growing.ts'
import { describeMachine, type Machine } from './machine.ts'
import type { Timing } from './measure.ts'
import { measureMemory } from './memory.ts'
import { measureNodes } from './nodes.ts'
import { measurePagesOf } from './pages/pages.ts'
import { measurePostgres, type PostgresRow } from './postgres.ts'
import { markdown, type Outcome, table, warnings } from './report.ts'
import { readReport, writeGrowing, writeReport, writeSection } from './report-file.ts'
import { type GoalOutcome, goalLine, goalsSection } from './report-goals.ts'
import { memoryLines, memorySection } from './report-memory.ts'
import { nodesLines, nodesSection } from './report-nodes.ts'
import { pagesSection } from './report-pages.ts'
import { postgresSection } from './report-postgres.ts'
import { soakSection } from './report-soak.ts'
import { rows } from './rows.ts'
import { SOAK_SECONDS, soak } from './soak.ts'
import { measureStudio } from './studio-frames.ts'
import { studioSection } from './studio-section.ts'
import { benchWithWrk, wrkRows } from './wrk/bench-wrk.ts'

const SECONDS = 2
/** In the whole run, which is to end within 45 minutes. */
const WRK_ROUNDS = 3

/** False if something could not be measured, or stays over a limit. */
async function bench(requested: BenchRequest): Promise<boolean> {
  if (requested.check) return checkWork()
  if (requested.goalsOnly) return await showGoals()
  const machine = await describeMachine()
  const cores = takeCore()
  const core = cores?.server
  const timing = { rounds: requested.rounds, seconds: requested.seconds ?? SECONDS }
  if (requested.profile) {
    await benchProfiles(onBothEngines(requested.rows), machine, core, timing.seconds)
    return true
  }
  if (requested.against !== undefined)
    return await compareAgainst(requested.against, requested.rows, timing, core)
  if (requested.load === 'wrk')
    return benchWithWrk(requested.rows, requested.rows.length === wrkRows.length, machine, timing, core)
  let complete = true
  const missed: ProfiledRow[] = []
  if (requested.rows.length > 0) {
    const outcomes = await compareRows(requested.rows, timing, core)
    missed.push(...missedRows(outcomes, 'embedded engine'))
    console.log(`\n${table(outcomes)}\n`)
    for (const warning of warnings(outcomes, machine, cores)) console.log(warning)
    if (requested.writesPage) await writeReport(markdown(outcomes, machine, cores, timing))
    complete = outcomes.every((outcome) => !('reason' in outcome))
  }
  for (const goal of requested.goals) {
    const outcome = await benchGoal(goal, { ...timing, core, allCores: cores?.all ?? [] })
    console.log(goalLine(outcome))
    const titles = [...allGoals, ...longGoals].map(({ title }) => title)
    await writeSection(goalsSection([outcome], await readReport(), titles, machine))
    if (typeof outcome.reached === 'string') complete = false
  }
  const onPostgres = (measured: readonly PostgresRow[]) => void missed.push(...missedOnPostgres(measured))
  for (const part of requested.parts)
    complete =
      (await isMeasured(part, async () =>
        writeSection(await benchPart(part, machine, core, timing, onPostgres)),
      )) && complete
  if (requested.whole) {
    const short = { ...timing, rounds: Math.min(timing.rounds, WRK_ROUNDS) }
    const chosen = rows.filter(({ id }) => wrkRows.includes(id))
    const isDone = [
      await isMeasured('wrk', () => benchWithWrk(chosen, true, machine, short, core)),
      await isMeasured('profiles', () => benchProfiles(missed, machine, core, timing.seconds)),
    ]
    complete = complete && !isDone.includes(false)
    await showGoals()
    console.log(`The whole run took ${Math.round(performance.now() / 60_000)} minutes.`)
  }
  if (!requested.soak) return complete
  const soaked = await soak(core, requested.seconds ?? SOAK_SECONDS)
  const section = soakSection(soaked, machine)
  console.log(section)
  // A short one shows that it works, and says nothing about memory.
  if ((requested.seconds ?? SOAK_SECONDS) >= SOAK_SECONDS) await writeSection(section)
  return soaked.flat
}

async function showGoals(): Promise<true> {
  for (const line of goalsOverview(await readReport(), [...rows, ...allGoals, ...longGoals]))
    console.log(line)
  return true
}

/** What fails leaves the rest of the run its figures. */
async function isMeasured(what: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    return (await work()) !== false
  } catch (error) {
    console.error(`${what} could not be measured:`, error)
    return false
  }
}

function missedOnPostgres(measured: readonly PostgresRow[]): ProfiledRow[] {
  const near = measured.filter(({ place, isControl }) => place === 'near' && !isControl)
  return missedRows(
    near.map(({ outcome }) => outcome),
    'PostgreSQL, near',
  )
}

function missedRows(outcomes: readonly Outcome[], engine: ProfiledRow['engine']): ProfiledRow[] {
  return outcomes.flatMap((outcome) =>
    'reason' in outcome || outcome.ratio.median >= outcome.row.goal ? [] : [{ engine, row: outcome.row }],
  )
}

/** One that fails leaves the others their figures. */
async function benchGoal(goal: Goal, timing: Parameters<Goal['measure']>[0]): Promise<GoalOutcome> {
  console.log(`${goal.title} …`)
  try {
    return { goal, reached: await goal.measure(timing) }
  } catch (error) {
    // With its cause: what a client is told does not say why.
    console.error(error)
    return { goal, reached: error instanceof Error ? error.message : String(error) }
  }
}

/** Gives its section. */
async function benchPart(
  part: Part,
  machine: Machine,
  core: number | undefined,
  timing: Timing,
  onPostgres: (measured: readonly PostgresRow[]) => void,
): Promise<string> {
  switch (part) {
    case 'memory': {
      const measured = await measureMemory(core)
      console.log(`\n${memoryLines(measured)}\n`)
      return memorySection(measured, machine)
    }
    case 'nodes': {
      const measured = await measureNodes()
      console.log(`\n${nodesLines(measured)}\n`)
      return nodesSection(measured, machine)
    }
    case 'postgres': {
      const measured = await measurePostgres(core, timing)
      onPostgres(measured)
      const section = postgresSection(measured, machine)
      console.log(`\n${section}`)
      return section
    }
    case 'pages': {
      const section = pagesSection(await measurePagesOf(core, timing.rounds), machine)
      console.log(`\n${section}`)
      return section
    }
    case 'studio': {
      const section = studioSection(await measureStudio(), machine)
      console.log(`\n${section}`)
      return section
    }
    case 'growing': {
      const measured = await measureGrowing()
      const section = growingSection(measured, machine)
      await writeGrowing(growingTables(measured))
      console.log(`\n${section}`)
      return section
    }
  }
}

let requested: BenchRequest | undefined
try {
  requested = readArguments()
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${usage}`)
  process.exitCode = 2
}
if (requested) {
  // Leaving ends the servers and removes their folders: two listeners each, and there may be six.
  process.setMaxListeners(20)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  try {
    if (!(await bench(requested))) process.exitCode = 1
  } catch (error) {
    if (!(error instanceof UnequalWork)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
