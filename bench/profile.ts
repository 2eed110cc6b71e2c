/** Where the processor time of the server's main thread goes while it answers the requests of a row: functions by their own time. */
import { type CandidateStart, startQuoin } from './candidates.ts'
import { runLoad } from './load.ts'
import { openMeasuredPostgres } from './measured-postgres.ts'
import { CONNECTIONS, type Row, type SeededCandidate } from './rows.ts'
import { seed } from './seed.ts'

export type ProfiledEngine = 'embedded engine' | 'PostgreSQL, near'

export interface RowProfile {
  readonly engine: ProfiledEngine
  readonly row: Row
  /** The most expensive ones first. */
  readonly functions: readonly FunctionShare[]
}

export interface FunctionShare {
  readonly name: string
  /** Of the time that the thread was not idle. */
  readonly share: number
}

const SHOWN = 10
const WARM_UP_SECONDS = 1

export async function profileRows(
  engine: ProfiledEngine,
  chosen: readonly Row[],
  core: number | undefined,
  seconds: number,
): Promise<readonly RowProfile[]> {
  if (engine === 'embedded engine') return await profileOn(engine, chosen, { core }, seconds)
  const server = await openMeasuredPostgres({ durable: true })
  try {
    const settings = { DATABASE_URL: server.url('postgres'), QUOIN_POOL: '10' }
    return await profileOn(engine, chosen, { core, settings }, seconds)
  } finally {
    await server.close()
  }
}

async function profileOn(
  engine: ProfiledEngine,
  chosen: readonly Row[],
  start: CandidateStart,
  seconds: number,
): Promise<readonly RowProfile[]> {
  const quoin = await startQuoin({ ...start, reports: 'profile' })
  try {
    const candidate = await seed(quoin)
    const profiles: RowProfile[] = []
    for (const row of chosen) {
      await load(row, candidate, WARM_UP_SECONDS)
      await quoin.report()
      await load(row, candidate, seconds)
      profiles.push({ engine, row, functions: sharesIn(await quoin.report()) })
    }
    return profiles
  } finally {
    await quoin.close()
  }
}

async function load(row: Row, candidate: SeededCandidate, seconds: number): Promise<void> {
  const { errors, firstError } = await runLoad({
    port: candidate.port,
    connections: CONNECTIONS,
    next: row.asks(candidate),
    seconds,
  })
  if (errors > 0) throw new Error(`A request was not answered: ${firstError}`)
}

/** Of what `report-profile.ts` answers. */
export function sharesIn(answer: unknown): readonly FunctionShare[] {
  const all: readonly unknown[] = Array.isArray(answer) ? answer : []
  const times = all.flatMap((one) => {
    if (typeof one !== 'object' || one === null || !('name' in one) || !('microseconds' in one)) return []
    return [{ name: String(one.name), microseconds: Number(one.microseconds) }]
  })
  const busy = times.filter(({ name }) => name !== '(idle)')
  const total = busy.reduce((sum, { microseconds }) => sum + microseconds, 0)
  return busy
    .toSorted((a, b) => b.microseconds - a.microseconds)
    .slice(0, SHOWN)
    .map(({ name, microseconds }) => ({ name, share: microseconds / total }))
}
