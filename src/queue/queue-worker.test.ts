import { type ChildProcess, spawn } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { search } from '../shared/query.ts'
import { type Job, JobContinues, JobPostponed, JobRefused, type NewJob } from '../storage/job.ts'
import { openSqliteDatabase } from '../storage/sqlite/core/sqlite-database.ts'
import { transact } from '../storage/transact.ts'
import {
  openQueue,
  type Queue,
  type QueueLogEntry,
  type QueueOptions,
  type WorkerSettings,
} from './queue-worker.ts'

let fixture: TestDatabase
let queues: Queue[]
let log: QueueLogEntry[]

beforeEach(async () => {
  fixture = await openTestDatabase()
  queues = []
  log = []
})

afterEach(async () => {
  await Promise.all(queues.map((queue) => queue.close()))
  await fixture.close()
})

/** Long times where a test does not need a short one: then nothing can happen by the clock on the wall. */
const slow: Partial<WorkerSettings> = { pollMs: 600_000, leaseMs: 600_000, graceMs: 1, drainMs: 1 }

function work(
  runJob: (job: Job, signal: AbortSignal) => Promise<void>,
  settings: Partial<WorkerSettings> = {},
  others: Partial<Pick<QueueOptions, 'cluster'>> = {},
): Queue {
  const queue = openQueue({
    ...fixture.database.capabilities,
    ...others,
    async runJob(job, signal) {
      await runJob(job, signal)
      return undefined
    },
    clock: fixture.clock,
    random: randomFillSync,
    settings: { ...slow, ...settings },
    log: (entry) => void log.push(entry),
  })
  queues.push(queue)
  return queue
}

async function enqueue(changes: Partial<NewJob> = {}): Promise<string> {
  const job: NewJob = { queue: 'default', kind: 'function', title: 'a job', payload: {}, ...changes }
  const guid = await transact(fixture.database, (session) => session.enqueue(job))
  if (guid === undefined) throw new Error('The dedupe key is taken.')
  return guid
}

async function job(guid: string): Promise<Job> {
  const found = await fixture.database.capabilities.jobs.get(guid)
  if (found === undefined) throw new Error('There is no such job.')
  return found
}

const state = (guid: string) => vi.waitFor(async () => (await job(guid)).state, { interval: 5 })

function becomes(guid: string, expected: Partial<Job>): Promise<void> {
  return vi.waitFor(async () => expect(await job(guid)).toMatchObject(expected), { interval: 5 })
}

/** Never ends, whatever its signal says. */
const hang = () => new Promise<void>(() => undefined)

/** Ends when it is told to stop. */
const untilStopped = (_job: Job, signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

test('runs what is there, and what is enqueued, without waiting for the poll', async () => {
  const ran: string[] = []
  const first = await enqueue({ title: 'before' })
  work(async ({ title }) => void ran.push(title))
  await becomes(first, { state: 'done', attempt: 1 })
  const second = await enqueue({ title: 'after' })
  await becomes(second, { state: 'done' })
  expect(ran).toEqual(['before', 'after'])
  expect(log).toEqual([])
})

test('a lost wake-up is made up for by the poll', async () => {
  const guid = await enqueue({ runAt: fixture.clock.now + 60_000 })
  work(async () => undefined, { pollMs: 5 })
  expect(await state(guid)).toBe('waiting')
  fixture.clock.now += 60_000
  await becomes(guid, { state: 'done' })
})

test('runs no more at once than it has room for, and all of them in the end', async () => {
  let running = 0
  let most = 0
  const guids = []
  for (let n = 0; n < 20; n++) guids.push(await enqueue({ title: `${n}` }))
  work(
    async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
    },
    { concurrency: 3 },
  )
  for (const guid of guids) await becomes(guid, { state: 'done' })
  expect(most).toBe(3)
})

test('64 jobs run at once unless it is told otherwise, and of a queue with a limit of its own no more than that', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const running: string[] = []
  const patient = { interval: 5, timeout: 20_000 }
  await transact(fixture.database, async (session) => {
    for (let n = 0; n < 70; n++)
      for (const queue of ['mail', 'plain'])
        await session.enqueue({ queue, kind: 'function', title: 'a job', payload: {} })
  })
  const queue = work(
    async (one) => {
      running.push(one.queue)
      await released
    },
    { queues: new Map([['mail', 4]]) },
  )
  await vi.waitFor(() => expect(running).toHaveLength(64), patient)
  expect(running.filter((name) => name === 'mail')).toHaveLength(4)
  release()
  await vi.waitFor(() => expect([running.length, queue.running]).toEqual([140, 0]), patient)
})

test('a job that throws is tried again later and later, and is dead after its last attempt', async () => {
  const guid = await enqueue({ attempts: 3, title: 'bad' })
  let ran = 0
  work(
    async () => {
      throw new Error(`no ${++ran}`)
    },
    { pollMs: 5 },
  )
  await becomes(guid, { state: 'waiting', attempt: 1, lastError: 'no 1' })
  let { runAt } = await job(guid)
  expect(runAt - fixture.clock.now).toBeGreaterThanOrEqual(500)
  expect(runAt - fixture.clock.now).toBeLessThanOrEqual(1_000)
  fixture.clock.now = runAt
  await becomes(guid, { state: 'waiting', attempt: 2, lastError: 'no 2' })
  runAt = (await job(guid)).runAt
  expect(runAt - fixture.clock.now).toBeGreaterThanOrEqual(1_000)
  expect(runAt - fixture.clock.now).toBeLessThanOrEqual(2_000)
  fixture.clock.now = runAt
  await becomes(guid, { state: 'dead', attempt: 3, lastError: 'no 3' })
  fixture.clock.now += 86_400_000
  expect(ran).toBe(3)
  expect(log).toEqual([
    expect.objectContaining({
      level: 'error',
      message: expect.stringContaining('"bad" failed 3 times'),
      value: { job: guid, queue: 'default', error: 'no 3' },
    }),
  ])
  await fixture.database.capabilities.jobs.requeue(guid)
  await becomes(guid, { attempt: 1, lastError: 'no 4' })
})

test('of a dead letter the worker tells before it is one; where that fails the job is tried no further and told again', async () => {
  const reported: string[] = []
  let broken = true
  const options = {
    ...fixture.database.capabilities,
    runJob: async () => {
      throw new Error('no')
    },
    died: async ({ guid, state, attempt }: Job, error: unknown) => {
      reported.push(`${guid} ${state} ${attempt} ${String(error)}`)
      if (broken) throw new Error('The disk is full.')
    },
    clock: fixture.clock,
    random: randomFillSync,
    log: (entry: QueueLogEntry) => void log.push(entry),
  }
  const guid = await enqueue({ attempts: 1 })
  const queue = openQueue({ ...options, settings: { ...slow, leaseMs: 50 } })
  queues.push(queue)
  await vi.waitFor(() => expect(log.map(({ message }) => message).join()).toContain('could not be stored'))
  expect(reported).toEqual([`${guid} running 1 Error: no`])
  expect((await job(guid)).state).toBe('running')
  broken = false
  await queue.close()
  fixture.clock.now += 60_000
  queues.push(openQueue({ ...options, settings: slow }))
  await becomes(guid, { state: 'dead' })
  await vi.waitFor(() => expect(reported).toHaveLength(2), { interval: 5 })
  expect(reported[1]).toBe(`${guid} dead 1 undefined`)
})

test('a job that was refused is dead at once, whatever attempts are left', async () => {
  const guid = await enqueue({ attempts: 3, title: 'refused' })
  work(async () => {
    throw new JobRefused('550 No such user')
  })
  await becomes(guid, { state: 'dead', attempt: 1, lastError: '550 No such user' })
  expect(log).toMatchObject([
    { level: 'error', message: expect.stringContaining('"refused" failed permanently') },
  ])
})

test.each([
  ['stops when told', untilStopped],
  ['hangs for ever', hang],
])('a job past its deadline that %s has failed, and its place is free', async (_name, runJob) => {
  const guid = await enqueue({ attempts: 1 })
  const next = await enqueue({ title: 'next' })
  work((one, signal) => (one.title === 'next' ? Promise.resolve() : runJob(one, signal)), {
    concurrency: 1,
    deadlineMs: 5,
  })
  await becomes(guid, { state: 'dead', lastError: 'The job took longer than 0.005 seconds and was stopped.' })
  await becomes(next, { state: 'done' })
})

test('a job that continues has its next attempt at once, and no attempt counts', async () => {
  const ran: string[] = []
  const guid = await enqueue({ title: 'long', attempts: 1 })
  work(
    async ({ title }) => {
      ran.push(title)
      if (ran.length < 3) throw new JobContinues('More to do.')
    },
    { concurrency: 1 },
  )
  await becomes(guid, { state: 'done', attempt: 1, lastError: null })
  expect(ran).toEqual(['long', 'long', 'long'])
  expect(log).toEqual([])
})

test.each([
  [0, 1, []],
  [60, 15, []],
  [3_600, 60, ['b']],
])(
  'a job that is postponed %i seconds after it was enqueued is claimed %i seconds later, and no attempt counts',
  async (age, pause, logged) => {
    const { clock } = fixture
    const guid = await enqueue({ attempts: 1 })
    clock.now += age * 1000
    const seen: number[] = []
    const queue = work(async ({ attempt }) => {
      seen.push(attempt)
      if (seen.length === 1) throw new JobPostponed('Not here yet.', 'b')
    })
    const later = clock.now + pause * 1000
    await becomes(guid, { state: 'waiting', attempt: 0, runAt: later, lastError: null })
    clock.now = later
    queue.check()
    await becomes(guid, { state: 'done', attempt: 1 })
    expect([seen, log.map(({ blueprint }) => blueprint)]).toEqual([[1, 1], logged])
  },
)

test('what jobs wait for is in the log once an hour for each blueprint', async () => {
  const { clock } = fixture
  const guids = [await enqueue({ title: 'b' }), await enqueue({ title: 'b' }), await enqueue({ title: 'c' })]
  clock.now += 300_000
  const queue = work(({ title }) => Promise.reject(new JobPostponed('Not here yet.', title)))
  for (const [seconds, logged] of [[0, 'bc'] as const, [3_599, 'bc'] as const, [60, 'bbcc'] as const]) {
    clock.now += seconds * 1000
    queue.check()
    for (const guid of guids) await becomes(guid, { state: 'waiting', runAt: clock.now + 60_000 })
    expect(log.map(({ blueprint }) => blueprint).sort()).toEqual([...logged])
  }
})

test('a job longer than its lease keeps it', async () => {
  const guid = await enqueue()
  const end = Promise.withResolvers<void>()
  work(() => end.promise, { leaseMs: 30 })
  await becomes(guid, { state: 'running' })
  const { leaseUntil } = await job(guid)
  fixture.clock.now += 20
  await vi.waitFor(async () => expect((await job(guid)).leaseUntil).toBe(leaseUntil + 20), { interval: 5 })
  fixture.clock.now += 20
  await vi.waitFor(async () => expect((await job(guid)).leaseUntil).toBe(leaseUntil + 40), { interval: 5 })
  expect(await fixture.database.capabilities.jobs.claim({ owner: 'other', leaseMs: 1000, limit: 1 })).toEqual(
    [],
  )
  end.resolve()
  await becomes(guid, { state: 'done', attempt: 1 })
})

test('a job that was taken over is told to stop, and its end changes nothing', async () => {
  const guid = await enqueue({ attempts: 100 })
  const reasons: unknown[] = []
  const queue = work(
    (_job, signal) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason)
          resolve()
        }),
      ),
    { leaseMs: 60 },
  )
  await becomes(guid, { state: 'running' })
  let taken: Job | undefined
  while (taken === undefined) {
    // Unless it renews between the two lines, or takes the job over itself: then it has it, as it should.
    fixture.clock.now += 60
    ;[taken] = await fixture.database.capabilities.jobs.claim({ owner: 'other', leaseMs: 600_000, limit: 1 })
  }
  await vi.waitFor(() => expect(reasons).not.toEqual([]), { interval: 5 })
  expect(String(reasons[0])).toMatch(/another worker/)
  await vi.waitFor(() => expect(queue.running).toBe(0), { interval: 5 })
  expect(await job(guid)).toMatchObject({ state: 'running', owner: 'other', attempt: taken.attempt })
  expect(await fixture.database.capabilities.jobs.complete(taken)).toBe(true)
})

test('a job whose lease ran out and that the same worker takes again is told to stop, and its end leaves the new run alone', async () => {
  const guid = await enqueue({ attempts: 100 })
  const signals: AbortSignal[] = []
  const queue = work((_job, signal) => {
    signals.push(signal)
    return hang()
  })
  await becomes(guid, { state: 'running', attempt: 1 })
  // As if the process had been suspended: no renewal comes before the next claim.
  fixture.clock.now += 600_000
  queue.check()
  await becomes(guid, { state: 'running', attempt: 2 })
  await vi.waitFor(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]), {
    interval: 5,
  })
  await vi.waitFor(() => expect(queue.running).toBe(1), { interval: 5 })
  expect(await job(guid)).toMatchObject({ state: 'running', attempt: 2 })
  await queue.close()
  expect(signals[1]?.aborted).toBe(true)
  expect(await job(guid)).toMatchObject({ state: 'waiting', attempt: 1, owner: '' })
})

test('a worker of a node that is fenced claims nothing, gives back what it claimed meanwhile, and goes on when the node is back', async () => {
  let alive = false
  let asked = 0
  const ran: string[] = []
  const guid = await enqueue({ attempts: 1 })
  const cluster = { alive: () => ++asked > 0 && alive }
  const queue = work(async ({ title }) => void ran.push(title), {}, { cluster })
  await vi.waitFor(() => expect(asked).toBeGreaterThan(0), { interval: 5 })
  expect(await job(guid)).toMatchObject({ state: 'waiting', attempt: 0, version: 1 })
  // Its lease ends between the claim and its answer.
  asked = 0
  cluster.alive = () => ++asked === 1
  queue.check()
  await vi.waitFor(() => expect(asked).toBeGreaterThan(1), { interval: 5 })
  await becomes(guid, { state: 'waiting', attempt: 0, owner: '' })
  expect(ran).toEqual([])
  alive = true
  cluster.alive = () => alive
  queue.check()
  await becomes(guid, { state: 'done', attempt: 1 })
})

test('a job that is cancelled while it runs is told to stop', async () => {
  const guid = await enqueue()
  const queue = work(untilStopped, { leaseMs: 30 })
  await becomes(guid, { state: 'running' })
  await fixture.database.capabilities.jobs.cancel(guid)
  await vi.waitFor(() => expect(queue.running).toBe(0), { interval: 5 })
  expect(await fixture.database.capabilities.jobs.get(guid)).toBeUndefined()
})

test('close waits for running jobs and claims no more', async () => {
  const end = Promise.withResolvers<void>()
  const queue = work(() => end.promise, { drainMs: 600_000 })
  const running = await enqueue()
  await vi.waitFor(() => expect(queue.running).toBe(1), { interval: 5 })
  const closed = queue.close()
  const later = await enqueue()
  end.resolve()
  await closed
  expect(await job(running)).toMatchObject({ state: 'done' })
  expect(await job(later)).toMatchObject({ state: 'waiting', attempt: 0 })
})

test.each([
  ['stops when told', untilStopped],
  ['hangs for ever', hang],
])('close hands back a job that %s; another worker has it at once', async (_name, runJob) => {
  const guid = await enqueue({ attempts: 1 })
  const queue = work(runJob)
  await becomes(guid, { state: 'running' })
  await queue.close()
  expect(await job(guid)).toMatchObject({ state: 'waiting', attempt: 0, owner: '', lastError: null })
  work(async () => undefined)
  await becomes(guid, { state: 'done', attempt: 1 })
})

test('jobs of one order key end in order, across two workers', async () => {
  const ended: string[] = []
  const guids = []
  for (let n = 0; n < 12; n++) guids.push(await enqueue({ title: `${n}`, orderKey: 'document' }))
  const runJob = async ({ title }: Job) => {
    await new Promise((resolve) => setImmediate(resolve))
    ended.push(title)
  }
  work(runJob)
  work(runJob)
  for (const guid of guids) await becomes(guid, { state: 'done' })
  expect(ended).toEqual(Array.from({ length: 12 }, (_, n) => `${n}`))
})

test('every job of three workers runs once', async () => {
  const ran: string[] = []
  for (let worker = 0; worker < 3; worker++) work(async ({ guid }) => void ran.push(guid), { concurrency: 4 })
  await transact(fixture.database, async (session) => {
    for (let n = 0; n < 300; n++)
      await session.enqueue({ queue: 'default', kind: 'function', title: `${n}`, payload: { n } })
  })
  await vi.waitFor(() => expect(ran).toHaveLength(300), { interval: 5, timeout: 10_000 })
  expect(new Set(ran).size).toBe(300)
})

test('a process that is ended with kill -9 loses no job: the next one takes it over when the lease is over', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const script = fileURLToPath(new URL('../../test/queue-process.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [script, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    if (!child.stdout) throw new Error('It says nothing.')
    const lines = createInterface({ input: child.stdout })
    const [line] = await once(lines, 'line')
    expect(line).toMatch(/^running \S+$/)
    const guid = String(line).slice('running '.length)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const database = await openSqliteDatabase({
      directory,
      clock: Date.now,
      random: randomFillSync,
      entity: 1,
    })
    const ran: Job[] = []
    const queue = openQueue({
      ...database.capabilities,
      runJob: async (one) => void ran.push(one),
      clock: Date.now,
      random: randomFillSync,
      settings: { pollMs: 20 },
      log: (entry) => void log.push(entry),
    })
    try {
      expect(await database.capabilities.jobs.get(guid)).toMatchObject({ state: 'running', attempt: 1 })
      await vi.waitFor(
        async () => expect(await database.capabilities.jobs.get(guid)).toMatchObject({ state: 'done' }),
        {
          timeout: 10_000,
        },
      )
      // The process had enqueued more than it had room for: all of them ran, once each here.
      await vi.waitFor(() => expect(ran).toHaveLength(3), { timeout: 10_000 })
      expect(ran.find((one) => one.guid === guid)?.attempt).toBe(2)
      const { total } = await database.capabilities.jobs.search(
        search({ query: { kind: 'term', field: 'status', value: 'done' } }),
      )
      expect(total).toBe(3)
    } finally {
      await queue.close()
      await database.close()
    }
  } finally {
    child.kill('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  }
})

test('closing while a claim is under way runs nothing of it and gives it back', async () => {
  const guid = await enqueue()
  const ran = vi.fn(async () => undefined)
  const queue = work(ran)
  await queue.close()
  expect(ran).not.toHaveBeenCalled()
  expect(await job(guid)).toMatchObject({ state: 'waiting', attempt: 0 })
  expect(log).toEqual([])
})
