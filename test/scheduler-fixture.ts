import { afterEach, beforeEach } from 'vitest'
import type { Schedule } from '../src/flows/background/schedules.ts'
import type { QueueLogEntry } from '../src/queue/queue-worker.ts'
import { openScheduler, type Scheduler } from '../src/queue/scheduler.ts'
import { processTimers } from '../src/shared/clock.ts'
import { search } from '../src/shared/query.ts'
import type { Database } from '../src/storage/database.ts'
import type { Job } from '../src/storage/job.ts'
import { openTestDatabase, type TestDatabase } from './test-database.ts'

export const seconds = (n: number) => n * 1000
export const minutes = (n: number) => n * 60_000

export function schedule(changes: Partial<Schedule> = {}): Schedule {
  const usual = {
    id: 'b1 a1',
    blueprint: 'b1',
    block: 'a1',
    title: 'Reports',
    timeZone: 'UTC',
    overlap: 'skip',
    catchUp: 'last',
  } as const
  return { ...usual, ...changes }
}

/** When each test begins. */
export const start = Date.UTC(2026, 0, 1)
/** When they were planned, in seconds since the test began. */
export function planned(jobs: readonly Job[]): number[] {
  return jobs.map(({ payload }) => (Number(payload.planned_at) - start) / 1000)
}

/** Each as `seconds:state`, in the order of their times. */
export async function ticks(scheduler: Scheduler): Promise<string[]> {
  const sort = [{ field: 'planned_at', order: 'asc', missing: 'last' }] as const
  const { records } = await scheduler.searchTicks(search({ sort, limit: 10_000 }))
  return records.map((tick) => `${Number(tick.planned_at) - start / 1000}:${tick.state}`)
}

/** Schedulers on a database of each test's own, which look when the test says so. */
export class SchedulerFixture {
  log: QueueLogEntry[] = []
  active: Schedule[] = []
  /** Milliseconds until the next look, of each. */
  looks: number[] = []
  changed: () => void = () => undefined
  #opened: Scheduler[] = []
  readonly #test: TestDatabase

  constructor(test: TestDatabase) {
    this.#test = test
  }

  get database(): Database {
    return this.#test.database
  }

  get clock() {
    return this.#test.clock
  }

  open(...schedules: Schedule[]): Promise<Scheduler> {
    return this.openOn(this.database, ...schedules)
  }

  async openOn(database: Database, ...schedules: Schedule[]): Promise<Scheduler> {
    this.active = schedules
    const scheduler = await openScheduler({
      database,
      clock: this.clock,
      timers: {
        ...processTimers,
        // Tests look themselves: a look of its own on a slow machine would leave them nothing to see.
        after: (ms) => {
          this.looks.push(ms)
          return {
            end: () => undefined,
            refresh: () => undefined,
            ref: () => undefined,
            unref: () => undefined,
          }
        },
      },
      schedules: () => this.active,
      onChange: (listener) => {
        this.changed = listener
        return () => undefined
      },
      log: (entry) => void this.log.push(entry),
    })
    this.#opened.push(scheduler)
    // On a cluster the first check continues after the start.
    if (database.capabilities.cluster) await scheduler.check()
    return scheduler
  }

  async move(scheduler: Scheduler, ms: number): Promise<void> {
    this.clock.now += ms
    await scheduler.check()
  }

  /** Runs all that is due, in the order in which the queue gives it. */
  async runDue(outcome: 'complete' | 'fail' = 'complete'): Promise<Job[]> {
    const { jobs } = this.database.capabilities
    const ran: Job[] = []
    for (;;) {
      const claimed = await jobs.claim({ owner: 'w', leaseMs: minutes(600_000), limit: 100 })
      if (claimed.length === 0) return ran
      for (const job of claimed) {
        ran.push(job)
        if (outcome === 'complete') await jobs.complete(job)
        else await jobs.fail(job, 'no')
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((one) => one.close()))
    await this.#test.close()
  }
}

/** Calls `opened` with a fixture before each test of a file. */
export function eachWithSchedulers(opened: (fixture: SchedulerFixture) => void): void {
  let fixture: SchedulerFixture | undefined
  beforeEach(async () => {
    fixture = new SchedulerFixture(await openTestDatabase())
    opened(fixture)
  })
  afterEach(() => fixture?.close())
}
