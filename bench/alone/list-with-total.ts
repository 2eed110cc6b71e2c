/** A page of 20 with the total, of 10,000 tasks and of ten times as many, in turns. */
import { type Candidate, startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { runLoad } from '../load.ts'
import { type Ask, ask, runCooperatively } from '../requests.ts'
import { CONNECTIONS } from '../rows.ts'
import { statusName, taskBody } from '../sample-tasks.ts'
import { median, ratioOf } from '../statistics.ts'
import { guidsOf } from './documents-of.ts'
import type { Goal, GoalTiming, Reached } from './goal.ts'

const FEW = 10_000
const MANY = 100_000
const MOST = 1.2
/** Different pages, of all tasks and of some statuses; between two of one there is a write, so no cache can answer. */
const PAGES = 20

export const listWithTotal: Goal = {
  id: 'total',
  title: 'list 20 of 100,000 with the total, after a write',
  goal: `within ${MOST} × of 10,000`,
  measure,
}

async function measure({ core, rounds, seconds }: GoalTiming): Promise<Reached> {
  const few = await start(core, FEW)
  try {
    const many = await start(core, MANY)
    try {
      const sides = [
        { ...few, times: [] as number[] },
        { ...many, times: [] as number[] },
      ] as const
      for (let round = -1; round < rounds; round++)
        for (const { candidate, guids, times } of round % 2 === 0 ? sides : sides.toReversed()) {
          const load = { port: candidate.port, connections: CONNECTIONS, next: pages(candidate, guids) }
          const result = await runLoad({ ...load, seconds, rampSeconds: 0.25 })
          if (result.errors > 0) throw new Error(`A page was not answered: ${result.firstError}`)
          if (round >= 0) times.push(1 / result.rate)
        }
      const ratio = ratioOf(sides[1].times, sides[0].times)
      const rates = sides.map(({ times }) => Math.round(1 / median(times)).toLocaleString('en-US'))
      const found = `${ratio.median.toFixed(2)} × (${ratio.lowest.toFixed(2)}–${ratio.highest.toFixed(2)}); ${rates.join(' and ')} /s`
      return { found, met: ratio.median <= MOST }
    } finally {
      await many.candidate.close()
    }
  } finally {
    await few.candidate.close()
  }
}

async function start(core: number | undefined, count: number) {
  const blueprints = [new URL('../search.blueprint.json', import.meta.url)]
  const candidate = await startQuoin({ core, blueprints })
  try {
    await importDocuments(candidate, 'tasks', count, taskBody)
    await mustTell(candidate, count)
    return { candidate, guids: await guidsOf(candidate, 'tasks?limit=200') }
  } catch (error) {
    await candidate.close()
    throw error
  }
}

async function mustTell({ base }: Candidate, count: number): Promise<void> {
  const reply: unknown = await (await fetch(`${base}/api/v1/bench/page`)).json()
  const total = typeof reply === 'object' && reply !== null && 'total' in reply ? reply.total : undefined
  if (total !== count) throw new Error(`The total is ${total} and not ${count}.`)
}

function pages({ token }: Candidate, guids: readonly string[]): () => Ask {
  const paths = ['', ...Array.from({ length: PAGES - 1 }, (_, number) => `?status=${statusName(number)}`)]
  const page = runCooperatively(paths.map((query) => ask({ path: `bench/page${query}` })))
  const body = '{"priority":4}'
  const write = runCooperatively(
    guids.map((guid) => ask({ method: 'PUT', path: `tasks/${guid}`, token, body, counted: false })),
  )
  let turn = 0
  return () => {
    turn = (turn + 1) % (PAGES + 1)
    return turn === 0 ? write() : page()
  }
}
