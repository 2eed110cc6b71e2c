/** Jobs and schedules: how many a second, and their processor time beside that of a request that creates a document. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin, type Quoin } from '../../src/quoin/quoin.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { transact } from '../../src/storage/transact.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { cpuMicroseconds } from '../cpu-time.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'

const JOBS = 10_000
const LEAST_JOBS = 3_000
const SCHEDULES = 1_000
const SECONDS = 8
const HOURLY = 5_000
const MOST_START_MS = 2_000

const password = 'a password that only the bench has'

export const backgroundWork: readonly Goal[] = [
  {
    id: 'jobs',
    title: `${JOBS.toLocaleString('en-US')} jobs that are due at the start, each creates a document`,
    goal: `≥ ${LEAST_JOBS.toLocaleString('en-US')} a second`,
    measure: measureJobs,
  },
  {
    id: 'schedules',
    title: `${SCHEDULES.toLocaleString('en-US')} schedules, each creates a document every second`,
    goal: 'each tick runs, on one core',
    measure: measureSchedules,
  },
  {
    id: 'hourly',
    title: `start with ${HOURLY.toLocaleString('en-US')} schedules that are due each hour`,
    goal: `≤ ${MOST_START_MS.toLocaleString('en-US')} ms of processor time`,
    measure: measureStart,
  },
]

const document: Record<string, JsonValue> = {
  notes: { type: 'storage', fields: { storage: 'notes' } },
  fields: {
    type: 'mutations_set_bp_field_multiple',
    in: { state: 'open', title: 'A note' },
    fields: { fields: ['state', 'title'] },
  },
}

function create(flow: string): JsonObject {
  return {
    type: 'function_create_document_from_mutations',
    in: { flow, storage: '@notes.storage', mutations: '@fields.mutations' },
  }
}

const noteJob: JsonObject = {
  name: 'Bench: jobs',
  blocks: {
    ...document,
    note: { type: 'trigger_custom_function', fields: { name: 'bench_note' } },
    write: create('@note.flow'),
  },
}

/** Of so many schedules a blueprint. */
const EACH = 100

function scheduled(number: number, every: string): JsonObject {
  const blocks = { ...document }
  for (let one = 0; one < EACH; one++) {
    blocks[`tick_${one}`] = { type: 'schedule_repeating_event', in: { every } }
    blocks[`write_${one}`] = create(`@tick_${one}.flow`)
  }
  return { name: `Bench: schedules ${number}`, blocks }
}

async function measureJobs(timing: GoalTiming): Promise<Reached> {
  const rates: number[] = []
  const costs: number[] = []
  for (let round = 0; round < timing.rounds; round++)
    await inFolder(async (folder) => {
      await filled(folder, fillJobs)
      const all = await running(folder, timing, async ({ pid }) => {
        rates.push(await rateOf(folder))
        return spentBy(pid)
      })
      const start = await running(folder, timing, async ({ pid }) => spentBy(pid))
      costs.push((all - start) / JOBS)
    })
  const rate = median(rates)
  const found = `${Math.round(rate).toLocaleString('en-US')} a second, ${Math.round(median(costs))} µs of processor time for each`
  return { found, met: rate >= LEAST_JOBS }
}

/** Microseconds. */
function spentBy(pid: number): number {
  return cpuMicroseconds(pid) ?? Number.NaN
}

async function fillJobs(quoin: Quoin): Promise<void> {
  const by = { guid: '', username: 'bench' }
  await installBlueprint(quoin.flows, noteJob, by)
  await transact(quoin.flows.records.database, async (session) => {
    for (let number = 0; number < JOBS; number++)
      await session.enqueue({
        ...{ queue: 'bench', kind: 'function', title: 'A note' },
        payload: { function: 'bench_note', parameters: {} },
      })
  })
}

async function rateOf(folder: string): Promise<number> {
  for (;;) {
    await setTimeout(100)
    const {
      done,
      first = 0,
      last = 0,
    } = look(
      folder,
      `SELECT count(*) AS done, min(started) AS first, max(finished) AS last FROM job WHERE queue = 'bench' AND state = 'done'`,
    )
    if (done === JOBS) return (JOBS * 1000) / (last - first)
  }
}

async function measureSchedules(timing: GoalTiming): Promise<Reached> {
  return await inFolder(async (folder) => {
    await filled(folder, (quoin) => fillSchedules(quoin, SCHEDULES, '1s'))
    return await running(folder, timing, async ({ pid }) => {
      await setTimeout(3_000)
      const before = spentBy(pid)
      const since = Date.now()
      await setTimeout(SECONDS * 1_000)
      const spent = spentBy(pid) - before
      const elapsed = Date.now() - since
      await setTimeout(2_000)
      const { ran = 0 } = look(
        folder,
        `SELECT count(*) AS ran FROM job WHERE kind = 'tick' AND state = 'done'
         AND finished BETWEEN ${since} AND ${since + elapsed}`,
      )
      const due = (SCHEDULES * elapsed) / 1_000
      const share = ran / due
      const found = `${Math.round((100 * ran) / due)} of 100 ticks ran in time, ${Math.round(spent / ran)} µs of processor time for each`
      return { found, met: share >= 0.98 }
    })
  })
}

async function measureStart(timing: GoalTiming): Promise<Reached> {
  return await inFolder(async (folder) => {
    await filled(folder, (quoin) => fillSchedules(quoin, HOURLY, '1h'))
    const times: number[] = []
    for (let start = 0; start <= timing.rounds; start++)
      times.push(await running(folder, timing, async ({ pid }) => spentBy(pid) / 1000))
    const [first = Number.NaN, ...again] = times
    const later = median(again)
    const found = `${milliseconds(later)} of processor time; the first start, which plans them all, ${milliseconds(first)}`
    return { found, met: later <= MOST_START_MS }
  })
}

async function fillSchedules(quoin: Quoin, count: number, every: string): Promise<void> {
  for (let number = 0; number * EACH < count; number++)
    await installBlueprint(quoin.flows, scheduled(number, every), { guid: '', username: 'bench' })
}

function look(folder: string, text: string): Record<string, number> {
  const database = new DatabaseSync(join(folder, 'quoin.db'), { readOnly: true })
  try {
    const row = database.prepare(text).get() ?? {}
    return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]))
  } finally {
    database.close()
  }
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-background-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** In this process, where nothing runs jobs or fires schedules. */
async function filled(folder: string, fill: (quoin: Quoin) => Promise<void>): Promise<void> {
  const options = readOptions({
    ...{ QUOIN_DATA: folder, QUOIN_PORT: '0', QUOIN_ADMIN_PASSWORD: password, QUOIN_LOG_LEVEL: 'silent' },
  })
  const surroundings = { clock: Date.now, random: randomFillSync, synchronous: 'OFF', offline: true } as const
  const quoin = await openQuoin(options, surroundings)
  try {
    await fill(quoin)
  } finally {
    await quoin.close()
  }
}

async function running<T>(
  folder: string,
  { core }: GoalTiming,
  work: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  const candidate = await startQuoin({ core, folder, password, installs: false })
  try {
    return await work(candidate)
  } finally {
    await candidate.close()
  }
}
