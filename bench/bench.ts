/**
 * npm run bench: Quoin against the same endpoints written by hand.
 *
 * 1. A pair of servers that can be asked for their settings: is the work equal? (`equal-work.ts`)
 * 2. A fresh pair, filled with the same tasks: each row in turns. (`rows.ts`, `measure.ts`)
 * 3. What large bodies cost in memory, of Quoin alone. (`memory.ts`)
 * 4. The same on PostgreSQL with several nodes. (`nodes.ts`)
 * 5. The table, and docs/benchmarks.md if all rows ran; of memory and nodes, also if only that was measured.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type Candidate, type CandidateStart, startHandWritten, startQuoin } from './candidates.ts'
import { takeCore } from './cores.ts'
import { checkEqualReplies, checkEqualWork, UnequalWork } from './equal-work.ts'
import { describeMachine, type Machine } from './machine.ts'
import { measureRow, type Timing } from './measure.ts'
import { measureMemory } from './memory.ts'
import { measureNodes } from './nodes.ts'
import { markdown, type Outcome, table, warnings } from './report.ts'
import { memoryLines, memorySection, withSection } from './report-memory.ts'
import { nodesLines, nodesSection } from './report-nodes.ts'
import { listPaths, type Row, rows } from './rows.ts'
import { seed } from './seed.ts'

/** For `--only`, beside the rows. */
const MEMORY = 'memory'
const NODES = 'nodes'
const names = [...rows.map(({ id }) => id), MEMORY, NODES]
const usage = `npm run bench -- [--rounds 5] [--seconds 3] [--only ${names.join('|')}]`
const reportFile = new URL('../docs/benchmarks.md', import.meta.url)

interface Wanted extends Timing {
  readonly rows: readonly Row[]
  readonly memory: boolean
  readonly nodes: boolean
}

function readArguments(): Wanted {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '3' },
      only: { type: 'string' },
    },
  })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds is ${values.rounds}; it must be 1 or more.`)
  const seconds = Number(values.seconds)
  if (!(seconds > 0 && seconds <= 600))
    throw new Error(`--seconds is ${values.seconds}; it must be up to 600.`)
  const isChosen = (id: string) => values.only === undefined || id === values.only
  if (!names.some(isChosen)) throw new Error(`--only is ${values.only}; there is no such row.`)
  return {
    rounds,
    seconds,
    rows: rows.filter(({ id }) => isChosen(id)),
    memory: isChosen(MEMORY),
    nodes: isChosen(NODES),
  }
}

/** Runs `work` with both candidates, started one after the other, and closes them whatever happens. */
async function withBoth<T>(
  start: CandidateStart,
  work: (ours: Candidate, theirs: Candidate) => Promise<T>,
): Promise<T> {
  const ours = await startQuoin(start)
  try {
    const theirs = await startHandWritten(start)
    try {
      return await work(ours, theirs)
    } finally {
      await theirs.close()
    }
  } finally {
    await ours.close()
  }
}

async function bench({ rounds, seconds, rows: chosen, memory, nodes }: Wanted): Promise<boolean> {
  const machine = await describeMachine()
  const cores = takeCore()
  const core = cores?.server
  if (chosen.length === 0) return memory ? benchMemory(machine, core) : benchNodes(machine)
  const compared = await withBoth({ core, reports: 'connections' }, checkEqualWork)
  console.log(`Equal work: ${compared} requests, same replies; both WAL with synchronous = FULL.`)

  const outcomes = await withBoth({ core }, async (ours, theirs) => {
    const [a, b] = [await seed(ours), await seed(theirs)]
    await checkEqualReplies(a, b, ['bench/constant', ...listPaths])
    const list: Outcome[] = []
    for (const row of chosen) {
      console.log(`${row.title} …`)
      list.push(await measureRow(row, a, b, { rounds, seconds }))
    }
    return list
  })

  console.log(`\n${table(outcomes)}\n`)
  for (const warning of warnings(outcomes, machine, cores)) console.log(warning)
  if (memory) {
    await writeFile(reportFile, markdown(outcomes, machine, cores, { rounds, seconds }))
    await benchMemory(machine, core)
  }
  if (nodes) await benchNodes(machine)
  return outcomes.every((outcome) => !('reason' in outcome))
}

/** Puts its section into the report that is there. */
async function benchMemory(machine: Machine, core: number | undefined): Promise<boolean> {
  const measured = await measureMemory(core)
  console.log(`\n${memoryLines(measured)}\n`)
  const report = await readFile(reportFile, 'utf8')
  await writeFile(reportFile, withSection(report, memorySection(measured, machine)))
  console.log('Written to docs/benchmarks.md.')
  return true
}

/** The same of what a cluster costs. */
async function benchNodes(machine: Machine): Promise<boolean> {
  const measured = await measureNodes()
  console.log(`\n${nodesLines(measured)}\n`)
  const report = await readFile(reportFile, 'utf8')
  await writeFile(reportFile, withSection(report, nodesSection(measured, machine)))
  console.log('Written to docs/benchmarks.md.')
  return true
}

let wanted: Wanted | undefined
try {
  wanted = readArguments()
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${usage}`)
  process.exitCode = 2
}
if (wanted) {
  // Leaving ends the servers and removes their folders.
  process.once('SIGINT', () => process.exit(130))
  try {
    if (!(await bench(wanted))) process.exitCode = 1
  } catch (error) {
    if (!(error instanceof UnequalWork)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
