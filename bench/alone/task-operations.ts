/** The five operations of tasks, of two servers in turns. */
import { type Candidate, startQuoin } from '../candidates.ts'
import { cpuMicroseconds } from '../cpu-time.ts'
import { importDocuments } from '../import-documents.ts'
import { runLoad } from '../load.ts'
import { type Ask, ask, runCooperatively } from '../requests.ts'
import { CONNECTIONS, listPaths } from '../rows.ts'
import { taskBody } from '../sample-tasks.ts'
import { median, ratioOf } from '../statistics.ts'
import { guidsOf } from './documents-of.ts'
import type { GoalTiming, Reached } from './goal.ts'

const TASKS = 10_000
/** Tasks that are made before a turn of removing, which ends with the last of them. */
const REMOVED = 2_000

/** Which blueprints a server has: the drawn example, or files instead of it. */
export type Drawn = 'example' | readonly URL[]

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
    return { next: runCooperatively(asks), ends: false }
  },
  remove: async ({ candidate }) => {
    const made = await createdTasks(candidate)
    const asks = made.map((guid) => ask({ method: 'DELETE', path: `tasks/${guid}`, token: candidate.token }))
    return { next: () => asks.pop(), ends: true }
  },
}

/** The operations of one way of writing the tasks, each at least so many times as fast as those of the other. */
export async function compareTasks(
  { one, other, least }: { readonly one: Drawn; readonly other: Drawn; readonly least: number },
  { core, rounds, seconds }: GoalTiming,
): Promise<Reached> {
  const theirs = await start(core, other)
  try {
    const ours = await start(core, one)
    try {
      return await compare(ours, theirs, least, rounds, seconds)
    } finally {
      await ours.candidate.close()
    }
  } finally {
    await theirs.candidate.close()
  }
}

async function compare(
  ours: Side,
  theirs: Side,
  least: number,
  rounds: number,
  seconds: number,
): Promise<Reached> {
  const found: string[] = []
  let met = true
  for (const [name, operation] of Object.entries(operations)) {
    const sides = [
      { side: ours, rates: [] as number[], cpu: [] as number[] },
      { side: theirs, rates: [] as number[], cpu: [] as number[] },
    ] as const
    for (let round = -1; round < rounds; round++)
      for (const { side, rates, cpu } of round % 2 === 0 ? sides : sides.toReversed()) {
        const turn = await turnOf(side, operation, seconds)
        if (round < 0) continue
        rates.push(turn.rate)
        if (turn.cpu !== undefined) cpu.push(turn.cpu)
      }
    const ratio = ratioOf(sides[0].rates, sides[1].rates)
    const [first, second] = sides.map(({ rates }) => Math.round(median(rates)).toLocaleString('en-US'))
    const [mine, other] = sides.map(({ cpu }) => Math.round(Math.min(...cpu)))
    found.push(
      `${name} ${ratio.median.toFixed(2)} × (${first} and ${second} /s; at best ${mine} and ${other} µs of processor time)`,
    )
    met &&= ratio.median >= least
  }
  return { found: found.join(', '), met }
}

interface Turn {
  readonly rate: number
  /** Microseconds of the server's processor time for a request; undefined where the kernel does not tell. */
  readonly cpu: number | undefined
}

async function turnOf(side: Side, operation: Operation, seconds: number): Promise<Turn> {
  const { next, ends } = await operation(side)
  const { port, pid } = side.candidate
  const timed = ends ? {} : { seconds, rampSeconds: 0.25 }
  const before = cpuMicroseconds(pid)
  const result = await runLoad({ port, connections: CONNECTIONS, next, ...timed })
  if (result.errors > 0) throw new Error(`A request was not answered: ${result.firstError}`)
  const after = cpuMicroseconds(pid)
  const cpu = before === undefined || after === undefined ? undefined : (after - before) / result.replies
  return { rate: result.rate, cpu }
}

async function start(core: number | undefined, drawn: Drawn): Promise<Side> {
  const settings = { QUOIN_EXAMPLES: drawn === 'example' ? '1' : '0' }
  const candidate = await startQuoin({ core, settings, blueprints: drawn === 'example' ? [] : drawn })
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
  const list = runCooperatively(listPaths.map((path) => ask({ path })))
  const body = '{"priority":4}'
  const write = runCooperatively(
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
