/** What must hold of schedules: each tick once, none forgotten, and what it runs is run. */
import type { Schedule } from '../../../src/flows/background/schedules.ts'
import type { JsonObject } from '../../../src/shared/json.ts'
import type { Job } from '../../../src/storage/job.ts'
import type { Diary } from './outcome.ts'

export interface TickEvidence {
  readonly schedules: readonly Schedule[]
  readonly ticks: readonly JsonObject[]
  /** The stored records of the schedules. */
  readonly records: readonly JsonObject[]
  readonly jobs: ReadonlyMap<string, Job>
  /** What the clock says that is furthest ahead: what was due long before has fired. Milliseconds. */
  readonly until: number
}

/** How late a tick may be while nothing is wrong. */
const LATE_MS = 5_000
/** How far the clock of a node may be ahead. */
const MOST_AHEAD = 60_000

export function checkTicks(diary: Diary, { schedules, ticks, records, jobs, until }: TickEvidence): void {
  for (const schedule of schedules) {
    const { id } = schedule
    const every = Number.parseInt(schedule.every ?? '', 10)
    const own = ticks.filter((tick) => tick.schedule === id)
    const planned = own.map((tick) => Number(tick.planned_at)).toSorted((a, b) => a - b)
    planned.forEach((at, place) => {
      const gap = at - (planned[place - 1] ?? at - every)
      diary.check(gap === every, `${id}: a tick is ${gap} s after the one before, not ${every} s`)
    })
    const last = planned.at(-1)
    // A node whose clock was ahead may have planned the first tick by it, and be gone: then it is still to come.
    const stored = Number(records.find((record) => record.schedule === id)?.next_at ?? 0)
    const next = 1000 * (last === undefined ? stored : last + every)
    diary.check(until - LATE_MS <= next, `${id}: the next tick is ${until - LATE_MS - next} ms overdue`)
    const early = next - until - MOST_AHEAD - 1000 * every
    diary.check(early <= 0, `${id}: the next tick is ${early} ms too late`)
    const fired = new Map<string, number>()
    for (const { payload } of jobs.values()) {
      const at = String(payload.planned_at)
      if (payload.schedule === id) fired.set(at, (fired.get(at) ?? 0) + 1)
    }
    for (const tick of own) checkTick(diary, tick, schedule, { jobs, fired })
  }
}

function checkTick(
  diary: Diary,
  tick: JsonObject,
  { catchUp, overlap }: Schedule,
  { jobs, fired }: { readonly jobs: ReadonlyMap<string, Job>; readonly fired: ReadonlyMap<string, number> },
): void {
  const name = `${tick.schedule}: the tick at ${tick.planned_at}`
  const count = fired.get(String(Number(tick.planned_at) * 1000)) ?? 0
  const runs = tick.job !== ''
  diary.check(count === (runs ? 1 : 0), `${name} has ${count} jobs`)
  diary.check(runs || catchUp !== 'all' || overlap === 'skip', `${name} was skipped`)
  if (runs) diary.check(jobs.has(String(tick.job)), `${name} has a job that is gone`)
}
