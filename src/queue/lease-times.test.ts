/** When leases are renewed, and from when they count, on a clock that runs: the timers of the workers are those of the test. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Timer, Timers } from '../shared/clock.ts'
import type { Database } from '../storage/database.ts'
import type { Job, Jobs } from '../storage/job.ts'
import { openSqliteDatabase } from '../storage/sqlite/core/sqlite-database.ts'
import { transact } from '../storage/transact.ts'
import { openQueue, type Queue } from './queue-worker.ts'

const LEASE = 300

let directory: string
let database: Database
let now: number
const clockNow = () => now
let queues: Queue[]
let clock: RunningClock

beforeEach(async () => {
  now = Date.UTC(2026, 0, 1)
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const world = { clock: clockNow, random: randomFillSync, entity: 1, synchronous: 'OFF' } as const
  // What its operations take is not seen on the clock of the test, so they must not wait for another process.
  database = await openSqliteDatabase({ ...world, directory })
  queues = []
  clock = runningClock()
})
afterEach(async () => {
  const closed = Promise.all(queues.map((queue) => queue.close()))
  // What they wait for is a matter of the clock too.
  for (let turns = 0; turns < 20; turns++) await clock.run(100)
  await closed
  await database.close()
  await rm(directory, { recursive: true, force: true })
})

interface RunningClock {
  readonly timers: Timers
  /** Lets so many milliseconds pass, one after the other, and what is called in each of them be done. */
  run(milliseconds: number): Promise<void>
}

function runningClock(): RunningClock {
  const due = new Set<{ at: number; readonly every: number | undefined; readonly call: () => void }>()
  const began = (ms: number, every: number | undefined, call: () => void): Timer => {
    const one = { at: now + ms, every, call }
    due.add(one)
    return {
      end: () => due.delete(one),
      refresh: () => undefined,
      ref: () => undefined,
      unref: () => undefined,
    }
  }
  const settled = async () => {
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    timers: {
      after: (ms, call) => began(ms, undefined, call),
      every: (ms, call) => began(ms, ms, call),
      soon: (call) => void setImmediate(call),
    },
    async run(milliseconds) {
      for (let passed = 0; passed < milliseconds; passed++) {
        now += 1
        for (const one of [...due]) {
          if (one.at > now || !due.has(one)) continue
          if (one.every === undefined) due.delete(one)
          else one.at += one.every
          one.call()
          await settled()
        }
      }
    },
  }
}

function work(runJob: (job: Job, signal: AbortSignal) => Promise<void>, jobs: Jobs): Queue {
  const queue = openQueue({
    ...database.capabilities,
    jobs,
    async runJob(job, signal) {
      await runJob(job, signal)
      return undefined
    },
    clock: clockNow,
    random: randomFillSync,
    timers: clock.timers,
    settings: { concurrency: 1, leaseMs: LEASE, pollMs: 10, graceMs: 10, drainMs: 10 },
    log: () => undefined,
  })
  queues.push(queue)
  return queue
}

const enqueue = () =>
  transact(database, (session) =>
    session.enqueue({ queue: 'default', kind: 'function', title: 'long', payload: {} }),
  )

test('a job that takes ten leases is run once, although another worker asks every 10 ms', async () => {
  const { jobs } = database.capabilities
  const started: number[] = []
  const renewed: number[] = []
  const recorded: Jobs = {
    ...methodsOf(jobs),
    renew(job, leaseMs) {
      renewed.push(now)
      return jobs.renew(job, leaseMs)
    },
  }
  const runJob = (at: number) => async (_job: Job, signal: AbortSignal) => {
    started.push(at)
    await new Promise<void>((resolve) => {
      clock.timers.after(10 * LEASE, resolve)
      signal.addEventListener('abort', () => resolve())
    })
  }
  const began = now
  work(runJob(1), recorded)
  work(runJob(2), recorded)
  await enqueue()
  await clock.run(11 * LEASE)
  expect(started).toHaveLength(1)
  const [found] = await database.capabilities.queues.list()
  expect(found).toMatchObject({ done: 1, dead: 0, running: 0 })
  // Two renewals in a row may be lost.
  const gaps = renewed.map((at, index) => at - (renewed[index - 1] ?? began))
  expect(Math.max(...gaps)).toBeLessThanOrEqual(LEASE / 3)
})

/** A third of a lease on its way. */
const answered = () => new Promise<void>((resolve) => clock.timers.after(LEASE / 3, resolve))

test.each([
  ['its claim', 0],
  ['its last renewal', 2],
])(
  'a worker whose renewals fail stops when the lease is over, counted from when it asked for %s',
  async (_from, renewals) => {
    const { jobs } = database.capabilities
    /** When the lease was asked for last, with success. */
    let asked = 0
    let left = renewals
    let stopped = 0
    const slow: Jobs = {
      ...methodsOf(jobs),
      async claim(options) {
        const at = now
        const claimed = await jobs.claim(options)
        if (claimed.length === 0) return claimed
        if (stopped === 0) asked = at
        await answered()
        return claimed
      },
      async renew(lease, leaseMs) {
        if (left === 0) throw new Error('The database is gone.')
        left -= 1
        asked = now
        const renewed = await jobs.renew(lease, leaseMs)
        await answered()
        return renewed
      },
    }
    await enqueue()
    work(async (_job, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      stopped ||= now
    }, slow)
    await clock.run(3.5 * LEASE)
    expect(asked).toBeGreaterThan(0)
    expect(stopped - asked).toBe(LEASE)
  },
)

function methodsOf(jobs: Jobs): Jobs {
  return {
    claim: (claim) => jobs.claim(claim),
    renew: (lease, leaseMs) => jobs.renew(lease, leaseMs),
    complete: (lease) => jobs.complete(lease),
    fail: (lease, message, retryAt, failedIn) => jobs.fail(lease, message, retryAt, failedIn),
    release: (leases) => jobs.release(leases),
    get: (guid) => jobs.get(guid),
    states: (guids) => jobs.states(guids),
    search: (search) => jobs.search(search),
    requeue: (guid) => jobs.requeue(guid),
    cancel: (guid) => jobs.cancel(guid),
    onEnqueued: (listener) => jobs.onEnqueued(listener),
  }
}
