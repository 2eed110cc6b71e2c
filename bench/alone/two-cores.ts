/**
 * What a second core gives the server, in turns. Where the machine has a third core the load generator has that one; on two it
 * takes a part of the server's second core, and the row says how large that is.
 */
import { type Candidate, startQuoin } from '../candidates.ts'
import { checkEqualReplies } from '../equal-work.ts'
import { runLoad } from '../load.ts'
import { CONNECTIONS, comparedPaths, type Row, rows, type SeededCandidate } from '../rows.ts'
import { seed } from '../seed.ts'
import { median, ratioOf } from '../statistics.ts'
import type { Goal, GoalTiming, Reached } from './goal.ts'

const LEAST = 1.5

export const twoCores: Goal = {
  id: 'two-cores',
  title: 'create and update, durable, with two cores for the server',
  goal: `at least ${LEAST} × of one core`,
  measure,
}

async function measure(timing: GoalTiming): Promise<Reached> {
  const cores = timing.allCores.slice(0, 2)
  if (cores.length < 2) throw new Error('It needs two cores and `taskset`.')
  const started: Candidate[] = []
  const start = async (count: number) => {
    const candidate = await startQuoin({ core: cores.slice(0, count) })
    started.push(candidate)
    return await seed(candidate)
  }
  try {
    return await compare(await start(1), await start(2), timing)
  } finally {
    for (const candidate of started) await candidate.close()
  }
}

async function compare(one: SeededCandidate, two: SeededCandidate, timing: GoalTiming): Promise<Reached> {
  await checkEqualReplies(one, two, comparedPaths)
  const found: string[] = []
  let met = true
  let busiest = 0
  for (const row of rows.filter(({ id }) => id === 'update' || id === 'create')) {
    const { rates, busy } = await inTurns(row, [one, two], timing)
    busiest = Math.max(busiest, busy)
    const ratio = ratioOf(rates[1] ?? [], rates[0] ?? []).median
    const figures = rates.map((own) => Math.round(median(own)).toLocaleString('en-US')).join(', ')
    found.push(`${row.id} ${ratio.toFixed(2)} × (${figures} /s)`)
    met &&= ratio >= LEAST
  }
  return { found: `${found.join('; ')}; ${loadShare(timing.allCores.length, busiest)}`, met }
}

function loadShare(cores: number, busy: number): string {
  return cores > 2
    ? `the load generator had a core of its own and took ${busy.toFixed(2)} of it`
    : `the load generator took up to ${busy.toFixed(2)} of the second core, so at most ${(2 - busy).toFixed(2)} × of one core is possible here`
}

/** Replies a second of each side, round by round, and the largest share of a core that the load took. */
async function inTurns(row: Row, sides: readonly SeededCandidate[], { rounds, seconds }: GoalTiming) {
  const rates = sides.map((): number[] => [])
  let busy = 0
  for (let round = -1; round < rounds; round++)
    for (const [place, candidate] of round % 2 === 0
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
