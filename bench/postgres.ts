/**
 * Quoin against the same endpoints written by hand on PostgreSQL, near and 2 ms away, with as many connections each. Control:
 * the hand-written candidate against another one of itself, on the same server.
 */
import { Client } from 'pg'
import type { PostgresServer } from '../test/postgres/postgres-server.ts'
import { type Candidate, startHandWrittenPostgres, startQuoin } from './candidates.ts'
import { checkEqualReplies } from './equal-work.ts'
import { type Measured, measureRow, type Timing, type Void } from './measure.ts'
import { openMeasuredPostgres } from './measured-postgres.ts'
import { comparedPaths, rows } from './rows.ts'
import { seed } from './seed.ts'
import { startServer } from './server-process.ts'

export interface PostgresRow {
  readonly place: Place
  readonly isControl: boolean
  readonly outcome: Measured | Void
}

type Place = 'near' | '2 ms away'

const AWAY_MS = 2
/** What QUOIN_POOL is if not set, and node-postgres' own. */
const POOL = 10
/**
 * Of the rows of the embedded engine, with the goal of each place: those that go to the database each time, and two that Quoin
 * may answer from its memory. Creating comes behind the lists, which are of 10,000 tasks.
 */
const MEASURED: readonly { readonly id: string; readonly goals: Partial<Record<Place, number>> }[] = [
  { id: 'read', goals: { near: 3 } },
  { id: 'list-unchanged', goals: { near: 3 } },
  { id: 'read-new', goals: { near: 1.2, '2 ms away': 1.2 } },
  { id: 'list-new', goals: { near: 0.9, '2 ms away': 0.9 } },
  { id: 'where', goals: { near: 0.9, '2 ms away': 0.9 } },
  { id: 'create', goals: { near: 1, '2 ms away': 1 } },
  { id: 'update', goals: { near: 1, '2 ms away': 1 } },
]
const CONTROL = 'create'

export const postgresRows: readonly string[] = MEASURED.map(({ id }) => id)

export async function measurePostgres(
  core: number | undefined,
  timing: Timing,
): Promise<readonly PostgresRow[]> {
  const server = await openMeasuredPostgres({ durable: true })
  try {
    await makeDatabases(server)
    const near = await measurePlace('near', (name) => server.url(name), core, timing)
    await makeDatabases(server)
    const proxy = await startServer({
      command: [process.execPath, 'bench/delaying-proxy.ts', String(server.port), String(AWAY_MS)],
      reports: false,
    })
    try {
      const url = (name: string) => server.url(name).replace(`:${server.port}`, `:${proxy.port}`)
      return [...near, ...(await measurePlace('2 ms away', url, core, timing))]
    } finally {
      await proxy.stop()
    }
  } finally {
    await server.close()
  }
}

const DATABASES = ['ours', 'theirs', 'control']

/** Empty ones, in place of those that are there. */
async function makeDatabases(server: PostgresServer): Promise<void> {
  const admin = new Client({ connectionString: server.url('postgres') })
  await admin.connect()
  try {
    for (const name of DATABASES) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    for (const name of DATABASES) await admin.query(`CREATE DATABASE ${name}`)
  } finally {
    await admin.end()
  }
}

async function measurePlace(
  place: Place,
  url: (database: string) => string,
  core: number | undefined,
  timing: Timing,
): Promise<readonly PostgresRow[]> {
  const started: Candidate[] = []
  const start = async (candidate: Promise<Candidate>) => {
    started.push(await candidate)
    return seed(await candidate)
  }
  try {
    const settings = { DATABASE_URL: url('ours'), QUOIN_POOL: String(POOL) }
    const ours = await start(startQuoin({ core, settings }))
    const theirs = await start(startHandWrittenPostgres({ core, url: url('theirs'), connections: POOL }))
    const control = await start(startHandWrittenPostgres({ core, url: url('control'), connections: POOL }))
    await checkEqualReplies(ours, theirs, comparedPaths, 'values')
    const measured: PostgresRow[] = []
    for (const { id, goals } of MEASURED) {
      const row = rows.find((one) => one.id === id)
      const goal = goals[place]
      if (row === undefined || goal === undefined) continue
      const requested = { ...row, goal }
      console.log(`${place}: ${row.title} …`)
      measured.push({ place, isControl: false, outcome: await measureRow(requested, ours, theirs, timing) })
      if (row.id !== CONTROL) continue
      const title = 'control: create, two of the hand-written'
      // The control begins when the other has written for some rounds: a process that has not is a fifth slower.
      await measureRow(requested, control, theirs, timing)
      const outcome = await measureRow({ ...requested, title }, control, theirs, timing)
      measured.push({ place, isControl: true, outcome })
    }
    return measured
  } finally {
    for (const candidate of started) await candidate.close()
  }
}
