/** The tasks as a resource of one block, and as the flows that are drawn for them: the five operations of both, in turns. */
import { type Candidate, startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { runLoad } from '../load.ts'
import { type Ask, ask, inTurns } from '../requests.ts'
import { CONNECTIONS, listPaths } from '../rows.ts'
import { taskBody } from '../sample-tasks.ts'
import { median, ratioOf } from '../statistics.ts'
import { guidsOf } from './documents-of.ts'
import type { Goal, GoalTiming, Reached } from './goal.ts'

const TASKS = 10_000
const LEAST = 0.95
/** Tasks that are made before a turn of removing, which ends with the last of them. */
const REMOVED = 2_000

export const resource: Goal = {
  id: 'resource',
  title: 'the tasks as a resource of one block',
  goal: `each operation at least ${LEAST} × of the flows`,
  measure,
}

interface Side {
  readonly candidate: Candidate
  readonly guids: readonly string[]
}

/** What is asked in a turn; a list of asks that end ends the turn. */
type Operation = (side: Side) => Promise<{ readonly next: () => Ask | undefined; readonly ends: boolean }>

/** Each address once in a while, so that no reply is kept. */
const operations: Readonly<Record<string, Operation>> = {
  list: async ({ candidate: { token }, guids }) => ({ next: lists(guids, token), ends: false }),
  read: async ({ guids }) => {
    let n = 0
    const next = () => ask({ path: `tasks/${guids[n++ % guids.length]}?n=${n}` })
    return { next, ends: false }
  },
  create: async ({ candidate: { token } }) => {
    let n = 0
    const next = () => ask({ method: 'POST', path: 'tasks', token, body: taskBody(n++), expected: 201 })
    return { next, ends: false }
  },
  change: async ({ candidate: { token }, guids }) => {
    const body = '{"priority":4}'
    const asks = guids.map((guid) => ask({ method: 'PUT', path: `tasks/${guid}`, token, body }))
    return { next: inTurns(asks), ends: false }
  },
  remove: async ({ candidate }) => {
    const made = await createdTasks(candidate)
    const asks = made.map((guid) => ask({ method: 'DELETE', path: `tasks/${guid}`, token: candidate.token }))
    return { next: () => asks.pop(), ends: true }
  },
}

async function measure({ core, rounds, seconds }: GoalTiming): Promise<Reached> {
  const flows = await start(core, { QUOIN_EXAMPLES: '1' }, [])
  try {
    const file = new URL('../../examples/tasks-resource.blueprint.json', import.meta.url)
    const block = await start(core, { QUOIN_EXAMPLES: '0' }, [file])
    try {
      return await compare({ flows, block }, rounds, seconds)
    } finally {
      await block.candidate.close()
    }
  } finally {
    await flows.candidate.close()
  }
}

async function compare(
  { flows, block }: { readonly flows: Side; readonly block: Side },
  rounds: number,
  seconds: number,
): Promise<Reached> {
  const found: string[] = []
  let met = true
  for (const [name, operation] of Object.entries(operations)) {
    const sides = [
      { side: flows, rates: [] as number[] },
      { side: block, rates: [] as number[] },
    ] as const
    for (let round = -1; round < rounds; round++)
      for (const { side, rates } of round % 2 === 0 ? sides : sides.toReversed()) {
        const rate = await rateOf(side, operation, seconds)
        if (round >= 0) rates.push(rate)
      }
    const ratio = ratioOf(sides[1].rates, sides[0].rates)
    const [drawn, one] = sides.map(({ rates }) => Math.round(median(rates)).toLocaleString('en-US'))
    found.push(`${name} ${ratio.median.toFixed(2)} × (${one} and ${drawn} /s)`)
    met &&= ratio.median >= LEAST
  }
  return { found: found.join(', '), met }
}

async function rateOf(side: Side, operation: Operation, seconds: number): Promise<number> {
  const { next, ends } = await operation(side)
  const { port } = side.candidate
  const timed = ends ? {} : { seconds, rampSeconds: 0.25 }
  const result = await runLoad({ port, connections: CONNECTIONS, next, ...timed })
  if (result.errors > 0) throw new Error(`A request was not answered: ${result.firstError}`)
  return result.rate
}

async function start(
  core: number | undefined,
  settings: Readonly<Record<string, string>>,
  blueprints: readonly URL[],
): Promise<Side> {
  const candidate = await startQuoin({ core, settings, blueprints })
  try {
    await importDocuments(candidate, 'tasks', TASKS, taskBody)
    return { candidate, guids: await guidsOf(candidate, 'tasks?limit=200') }
  } catch (error) {
    await candidate.close()
    throw error
  }
}

/** Lists of 20, each behind a write of a task that may be in it. */
function lists(guids: readonly string[], token: string): () => Ask {
  const list = inTurns(listPaths.map((path) => ask({ path })))
  const body = '{"priority":4}'
  const write = inTurns(
    guids.map((guid) => ask({ method: 'PUT', path: `tasks/${guid}`, token, body, counted: false })),
  )
  let turn = 0
  return () => {
    turn = (turn + 1) % (listPaths.length + 1)
    return turn === 0 ? write() : list()
  }
}

async function createdTasks({ base, token }: Candidate): Promise<string[]> {
  const guids: string[] = []
  for (let made = 0; made < REMOVED; made += CONNECTIONS)
    guids.push(
      ...(await Promise.all(
        Array.from({ length: CONNECTIONS }, (_, n) => createdTask(base, token, made + n)),
      )),
    )
  return guids
}

async function createdTask(base: string, token: string, n: number): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const reply = await fetch(`${base}/api/v1/tasks`, { method: 'POST', headers, body: taskBody(n) })
  const guid = ((await reply.json()) as { _meta?: { guid?: unknown } })._meta?.guid
  if (typeof guid !== 'string') throw new Error(`POST tasks was answered with ${reply.status}.`)
  return guid
}
