/**
 * What a second core and a second process give the server, in turns. Where the machine has a third core the load generator has that one;
 * on two it takes a part of the server's second core, and the row says how large that is.
 */
import { type Candidate, startQuoin } from '../candidates.ts'
import { checkEqualReplies } from '../equal-work.ts'
import { runLoad } from '../load.ts'
import { CONNECTIONS, comparedPaths, type Row, rows, type SeededCandidate } from '../rows.ts'
import { seed } from '../seed.ts'
import { median, ratioOf } from '../statistics.ts'
import type { Goal, GoalTiming, Reached } from './goal.ts'

interface Arrangement {
  readonly title: string
  readonly cores: 1 | 2
  readonly processes: 1 | 2
}

interface Comparison {
  /** The others are compared with the first. */
  readonly arrangements: readonly [Arrangement, ...Arrangement[]]
  readonly rows: readonly string[]
  /** Of each row, by the best of the others. */
  readonly least: number
}

const oneCore: Arrangement = { title: 'one core', cores: 1, processes: 1 }
const oneProcess: Arrangement = { title: 'one process', cores: 2, processes: 1 }
const bothProcesses: Arrangement = { title: 'two processes', cores: 2, processes: 2 }

export const twoCores = goalOf('two-cores', 'create and update, durable, with two cores for the server', {
  arrangements: [oneCore, oneProcess, bothProcesses],
  rows: ['update', 'create'],
  least: 1.5,
})

export const twoProcesses = goalOf('two-processes', 'two processes on one database, reads, two cores', {
  arrangements: [oneProcess, bothProcesses],
  rows: ['read', 'read-new', 'list-new'],
  least: 1.6,
})

function goalOf(id: string, title: string, comparison: Comparison): Goal {
  const { least, arrangements } = comparison
  return {
    id,
    title,
    goal: `at least ${least} × of ${arrangements[0].title}`,
    measure: (timing) => measure(comparison, timing),
  }
}

interface Side {
  readonly title: string
  readonly candidate: SeededCandidate
}

async function measure(comparison: Comparison, timing: GoalTiming): Promise<Reached> {
  const cores = timing.allCores.slice(0, 2)
  if (cores.length < 2) throw new Error('It needs two cores and `taskset`.')
  const started: Candidate[] = []
  try {
    const sides: Side[] = []
    for (const { title, cores: wanted, processes } of comparison.arrangements) {
      const settings = { QUOIN_WORKERS: String(processes) }
      const candidate = await startQuoin({ core: cores.slice(0, wanted), settings })
      started.push(candidate)
      sides.push({ title, candidate: await seed(candidate) })
    }
    return await compare(comparison, sides, timing)
  } finally {
    for (const candidate of started) await candidate.close()
  }
}

async function compare(
  { rows: ids, least }: Comparison,
  sides: readonly Side[],
  timing: GoalTiming,
): Promise<Reached> {
  const [first, ...others] = sides
  if (first === undefined) throw new Error('There is nothing to compare with.')
  for (const { candidate } of others) await checkEqualReplies(first.candidate, candidate, comparedPaths)
  const found: string[] = []
  let met = true
  let busiest = 0
  for (const row of rows.filter(({ id }) => ids.includes(id))) {
    const { rates, busy } = await inTurns(row, sides, timing)
    busiest = Math.max(busiest, busy)
    const ratios = others.map((_, place) => ratioOf(rates[place + 1] ?? [], rates[0] ?? []).median)
    const shown = others.map(
      ({ title }, place) => `${(ratios[place] ?? Number.NaN).toFixed(2)} × with ${title}`,
    )
    const figures = rates.map((own) => Math.round(median(own)).toLocaleString('en-US')).join(', ')
    found.push(`${row.id} ${shown.join(', ')} (${figures} /s)`)
    met &&= Math.max(...ratios) >= least
  }
  return { found: `${found.join('; ')}; ${loadShare(timing.allCores.length, busiest)}`, met }
}

function loadShare(cores: number, busy: number): string {
  return cores > 2
    ? `the load generator had a core of its own and took ${busy.toFixed(2)} of it`
    : `the load generator took up to ${busy.toFixed(2)} of the second core, so at most ${(2 - busy).toFixed(2)} × of one core is possible here`
}

/** Replies a second of each side, round by round, and the largest share of a core that the load took. */
async function inTurns(row: Row, sides: readonly Side[], { rounds, seconds }: GoalTiming) {
  const rates = sides.map((): number[] => [])
  let busy = 0
  for (let round = -1; round < rounds; round++)
    for (const [place, { candidate }] of round % 2 === 0
      ? [...sides.entries()]
      : [...sides.entries()].toReversed()) {
      const next = row.asks(candidate)
      const load = { port: candidate.port, connections: CONNECTIONS, next, seconds, rampSeconds: 0.25 }
      const result = await runLoad(load)
      if (result.errors > 0) throw new Error(`A request was not answered: ${result.firstError}`)
      if (round < 0) continue
      rates[place]?.push(result.rate)
      busy = Math.max(busy, result.busy)
    }
  return { rates, busy }
}
