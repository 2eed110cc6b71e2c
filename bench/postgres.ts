/**
 * Quoin against the same endpoints written by hand on PostgreSQL, near and 2 ms away, with as many connections each. Control:
 * the hand-written candidate against another one of itself, on the same server.
 */
import { Client } from 'pg'
import { openPostgresServer } from '../test/postgres/postgres-server.ts'
import { type Candidate, startHandWrittenPostgres, startQuoin } from './candidates.ts'
import { type Measured, measureRow, type Timing, type Void } from './measure.ts'
import { type Row, rows } from './rows.ts'
import { seed } from './seed.ts'
import { startServer } from './server-process.ts'

export interface PostgresRow {
  readonly place: Place
  readonly isControl: boolean
  readonly outcome: Measured | Void
}

type Place = 'near' | '2 ms away'

const GOAL = 0.95
const AWAY_MS = 2
/** What QUOIN_POOL is if not set, and node-postgres' own. */
const POOL = 10
/** Of the rows of the embedded engine, those that go to the database each time. */
const MEASURED = ['read-new', 'list-new', 'create', 'update']
const CONTROL = 'create'

export async function measurePostgres(
  core: number | undefined,
  timing: Timing,
): Promise<readonly PostgresRow[]> {
  const server = await openPostgresServer({ durable: true })
  try {
    const admin = new Client({ connectionString: server.url('postgres') })
    await admin.connect()
    for (const name of DATABASES) await admin.query(`CREATE DATABASE ${name}`)
    const near = await measurePlace('near', (name) => server.url(name), core, timing)
    for (const name of DATABASES) await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    for (const name of DATABASES) await admin.query(`CREATE DATABASE ${name}`)
    await admin.end()
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
    const measured: PostgresRow[] = []
    for (const row of rows.filter(({ id }) => MEASURED.includes(id)).toSorted(inOrder)) {
      const wanted = { ...row, goal: GOAL }
      console.log(`${place}: ${row.title} …`)
      measured.push({ place, isControl: false, outcome: await measureRow(wanted, ours, theirs, timing) })
      if (row.id !== CONTROL) continue
      const title = 'control: create, two of the hand-written'
      const outcome = await measureRow({ ...wanted, title }, control, theirs, timing)
      measured.push({ place, isControl: true, outcome })
    }
    return measured
  } finally {
    for (const candidate of started) await candidate.close()
  }
}

function inOrder(a: Row, b: Row): number {
  return MEASURED.indexOf(a.id) - MEASURED.indexOf(b.id)
}
