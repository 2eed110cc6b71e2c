import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import type { Schedule } from '../flows/background/schedules.ts'
import { processTimers } from '../shared/clock.ts'
import { type Query, search } from '../shared/query.ts'
import type { Database } from '../storage/database.ts'
import type { Job } from '../storage/job.ts'
import type { QueueLogEntry } from './queue-worker.ts'
import { openScheduler, type Scheduler } from './scheduler.ts'

let fixture: TestDatabase
let database: Database
let log: QueueLogEntry[]
let opened: Scheduler[]
let active: Schedule[]
let changed: () => void
/** Milliseconds until the next look, of each. */
let looks: number[]

beforeEach(async () => {
  fixture = await openTestDatabase()
  database = fixture.database
  log = []
  opened = []
  active = []
  changed = () => undefined
  looks = []
})

afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()))
  await fixture.close()
})

const seconds = (n: number) => n * 1000
const minutes = (n: number) => n * 60_000

function schedule(changes: Partial<Schedule> = {}): Schedule {
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

async function open(...schedules: Schedule[]): Promise<Scheduler> {
  active = schedules
  const scheduler = await openScheduler({
    database,
    clock: fixture.clock,
    timers: {
      ...processTimers,
      // Tests look themselves: a look of its own on a slow machine would leave them nothing to see.
      after(ms) {
        looks.push(ms)
        return {
          end: () => undefined,
          refresh: () => undefined,
          ref: () => undefined,
          unref: () => undefined,
        }
      },
    },
    schedules: () => active,
    onChange(listener) {
      changed = listener
      return () => undefined
    },
    log: (entry) => void log.push(entry),
  })
  opened.push(scheduler)
  // On a cluster the first check continues after the start.
  if (database.capabilities.cluster) await scheduler.check()
  return scheduler
}

async function move(scheduler: Scheduler, ms: number): Promise<void> {
  fixture.clock.now += ms
  await scheduler.check()
}

/** Runs all that is due, in the order in which it is given. */
async function runDue(outcome: 'complete' | 'fail' = 'complete'): Promise<Job[]> {
  const jobs: Job[] = []
  for (;;) {
    const claimed = await database.capabilities.jobs.claim({
      owner: 'w',
      leaseMs: minutes(600_000),
      limit: 100,
    })
    if (claimed.length === 0) return jobs
    for (const job of claimed) {
      jobs.push(job)
      if (outcome === 'complete') await database.capabilities.jobs.complete(job)
      else await database.capabilities.jobs.fail(job, 'no')
    }
  }
}

/** When they were planned, since the test began. */
const start = Date.UTC(2026, 0, 1)
function planned(jobs: readonly Job[]): number[] {
  return jobs.map(({ payload }) => (Number(payload.planned_at) - start) / 1000)
}

/** Each as `seconds:state`, in the order of their times. */
async function ticks(scheduler: Scheduler): Promise<string[]> {
  const sort = [{ field: 'planned_at', order: 'asc', missing: 'last' }] as const
  const { records } = await scheduler.searchTicks(search({ sort, limit: 10_000 }))
  return records.map((tick) => `${Number(tick.planned_at) - start / 1000}:${tick.state}`)
}

test('a schedule that makes no sense never fires, is logged once, and keeps no other from firing', async () => {
  const scheduler = await open(schedule({ cron: 'often' }), schedule({ id: 'b1 a2', every: '10s' }))
  await move(scheduler, seconds(10))
  await move(scheduler, seconds(1))
  expect(planned(await runDue())).toEqual([10])
  expect(log.map(({ level }) => level)).toEqual(['error'])
  expect(log[0]?.message).toMatch(/never fires.*often/)
})

test('it looks at least once a minute, and a second behind a tick that fired, for its end', async () => {
  const scheduler = await open(schedule({ every: '1h' }))
  await move(scheduler, seconds(10))
  expect(looks.at(-1)).toBe(seconds(60))
  await move(scheduler, minutes(60) - seconds(10))
  expect(looks.at(-1)).toBe(seconds(1))
  await runDue()
  await scheduler.check()
  expect(looks.at(-1)).toBe(seconds(60))
})

test('it runs from its planned time until its job has ended', async () => {
  const scheduler = await open(schedule({ every: '10s' }), schedule({ id: 'b1 a2', every: '1h' }))
  expect(await scheduler.isRunning('b1 a1')).toBe(false)
  await move(scheduler, seconds(10))
  expect([await scheduler.isRunning('b1 a1'), await scheduler.isRunning('b1 a2')]).toEqual([true, false])
  await runDue()
  expect(await scheduler.isRunning('b1 a1')).toBe(false)
})

test('fires when it is due and not before, as a job that says for what', async () => {
  const scheduler = await open(schedule({ every: '10s' }))
  await move(scheduler, seconds(9))
  expect(await runDue()).toEqual([])
  await move(scheduler, seconds(1))
  const [job] = await runDue()
  expect(job).toMatchObject({
    queue: '_schedules',
    kind: 'tick',
    title: 'Reports',
    payload: { schedule: 'b1 a1', blueprint: 'b1', block: 'a1', planned_at: start + 10_000, late: false },
  })
  await scheduler.check()
  expect(await ticks(scheduler)).toEqual(['10:done'])
  const { records } = await scheduler.searchSchedules(search())
  // A part of the plan that it does not have is empty.
  expect(records[0]).toMatchObject({
    ...{ schedule: 'b1 a1', cron: '', every: '10s', start_at: null, time_zone: 'UTC' },
    ...{ overlap: 'skip', catch_up: 'last' },
    next_at: start / 1000 + 20,
    last_at: start / 1000 + 10,
  })
})

// Each tick is some eight statements: on PostgreSQL over a socket. The proof of several nodes has 10,000 there too.
const MANY = inject('engine') === 'postgres' ? 1_500 : 10_000

test(`${MANY} ticks each fire once, in order, whether they come alone or many were missed`, async () => {
  const scheduler = await open(
    schedule({ every: '1m', startAt: start + 60_000, catchUp: 'all', overlap: 'allow' }),
  )
  const fired: number[] = []
  for (let n = 0; fired.length < MANY; n++) {
    await move(scheduler, minutes(n < MANY / 20 ? 1 : MANY / 40))
    fired.push(...planned(await runDue()))
  }
  expect(fired.slice(0, MANY)).toEqual(Array.from({ length: MANY }, (_, n) => (n + 1) * 60))
  expect(log.filter(({ level }) => level !== 'warn')).toEqual([])
  // Those that were missed at once are told of once, however many transactions they take.
  expect(new Set(log.map(({ message }) => message)).size).toBe(log.length)
})

test('on three nodes that look at the same time each tick fires once', async () => {
  const nodes = [await open(schedule({ every: '10s' })), await open(...active), await open(...active)]
  const fired: number[] = []
  for (let n = 0; n < 30; n++) {
    fixture.clock.now += seconds(10)
    await Promise.all(nodes.map((node) => node.check()))
    // Who was too late looks again, as its timer would.
    await Promise.all(nodes.map((node) => node.check()))
    fired.push(...planned(await runDue()))
  }
  expect(fired).toEqual(Array.from({ length: 30 }, (_, n) => (n + 1) * 10))
  expect(log).toEqual([])
})

/** How many transactions wrote ticks while the work was done. */
async function transactions(work: () => Promise<unknown>): Promise<number> {
  const sessions = new Set<object>()
  const end = database.observe('_schedule_ticks', (session) => void sessions.add(session))
  await work()
  end()
  return sessions.size
}

const many = Array.from({ length: 130 }, (_, n) => schedule({ id: `b1 a${n}`, every: '10s' }))

test('schedules that are due together are fired and settled 64 in a transaction', async () => {
  const scheduler = await open(...many)
  expect(await transactions(() => move(scheduler, seconds(10)))).toBe(3)
  const jobs = await runDue()
  expect(new Set(jobs.map(({ orderKey }) => orderKey))).toEqual(new Set(many.map(({ id }) => id)))
  expect(await transactions(() => scheduler.check())).toBe(3)
  expect(await ticks(scheduler)).toEqual(many.map(() => '10:done'))
  expect(log).toEqual([])
})

test('a tick that cannot be stored keeps no other of its transaction from firing', async () => {
  const scheduler = await open(...many)
  const end = database.observe('_schedule_ticks', (_, { after }) => {
    if (after?.text.includes('"b1 a7"')) throw new Error('not this one')
  })
  await move(scheduler, seconds(10))
  expect(await runDue()).toHaveLength(129)
  expect(new Set(log.map(({ message }) => message))).toEqual(
    new Set(['The schedule of Reports (b1 a7) could not be planned: not this one']),
  )
  end()
  await scheduler.check()
  expect((await runDue()).map(({ orderKey }) => orderKey)).toEqual(['b1 a7'])
})

test('nodes that start together plan each of many schedules once', async () => {
  const nodes = await Promise.all([open(...many), open(...many), open(...many)])
  await Promise.all(nodes.map((node) => node.check()))
  expect((await nodes[0]?.searchSchedules(search()))?.total).toBe(130)
  fixture.clock.now += seconds(10)
  for (let n = 0; n < 2; n++) await Promise.all(nodes.map((node) => node.check()))
  expect(await runDue()).toHaveLength(130)
  expect(log).toEqual([])
})

test.each([
  ['skip', [10], ['10:claimed', '20:skipped', '30:skipped']],
  ['queue', [10], ['10:claimed', '20:planned', '30:planned']],
  ['allow', [10, 20, 30], ['10:claimed', '20:claimed', '30:claimed']],
] as const)('overlap %s: while the first tick runs, the next ones', async (overlap, running, expected) => {
  const scheduler = await open(schedule({ every: '10s', overlap }))
  const jobs: Job[] = []
  for (let n = 0; n < 3; n++) {
    await move(scheduler, seconds(10))
    jobs.push(...(await database.capabilities.jobs.claim({ owner: 'w', leaseMs: minutes(60), limit: 100 })))
  }
  await scheduler.check()
  expect(planned(jobs)).toEqual(running)
  expect(await ticks(scheduler)).toEqual(expected)
  for (const job of jobs) await database.capabilities.jobs.complete(job)
  if (overlap === 'queue') expect(planned(await runDue())).toEqual([20, 30])
  await move(scheduler, seconds(10))
  expect(planned(await runDue())).toEqual([40])
})

test.each([
  ['last', [30], ['10:skipped', '20:skipped', '30:caught_up', '40:done']],
  ['all', [10, 20, 30], ['10:caught_up', '20:caught_up', '30:caught_up', '40:done']],
  ['none', [], ['10:skipped', '20:skipped', '30:skipped', '40:done']],
] as const)('catch up %s: of what was missed while no node was up', async (catchUp, caught, expected) => {
  const away = await open(schedule({ every: '10m', catchUp }))
  await away.close()
  fixture.clock.now += minutes(35)
  const scheduler = await open(...active)
  const late = await runDue()
  expect(planned(late)).toEqual(caught.map((n) => n * 60))
  expect(late.every(({ payload }) => payload.late === true)).toBe(true)
  await move(scheduler, minutes(5))
  expect(planned(await runDue())).toEqual([40 * 60])
  await scheduler.check()
  expect(await ticks(scheduler)).toEqual(
    expected.map((one) => one.replace(/^\d+/, (n) => String(Number(n) * 60))),
  )
})

test('a first working day that fell into a downtime is told: in the log, and beside its schedule', async () => {
  const day = 86_400_000
  const away = await open(schedule({ cron: '0 8 * * 1-5' }))
  await away.close()
  // Thursday and Friday: the clock begins at a Thursday, 0 o'clock.
  fixture.clock.now += day + 9 * 3_600_000
  const scheduler = await open(...active)
  expect(planned(await runDue())).toEqual([(day + 8 * 3_600_000) / 1000])
  const first = start + 8 * 3_600_000
  const lost = new Date(first).toISOString()
  expect(log.at(-1)).toMatchObject({
    level: 'warn',
    message: expect.stringContaining(
      `Never started: ${lost}. Where one of them matters, run the schedule by hand`,
    ),
  })
  const { records } = await scheduler.searchSchedules(search({ limit: 10 }))
  expect(records).toMatchObject([{ lost_at: first / 1000 }])
})

test('a start right at a tick is on time for it, and the missed ones before count as missed', async () => {
  const away = await open(schedule({ every: '10m', catchUp: 'none' }))
  await away.close()
  fixture.clock.now += minutes(20) + seconds(2)
  await open(...active)
  expect(planned(await runDue())).toEqual([20 * 60])
})

test('after a month of seconds only the last thousand are looked at', async () => {
  const away = await open(schedule({ every: '1s' }))
  await away.close()
  fixture.clock.now += 30 * 86_400_000
  const scheduler = await open(...active)
  expect(planned(await runDue())).toEqual([30 * 86_400])
  const all = await ticks(scheduler)
  expect(all.length).toBeLessThanOrEqual(1001)
  expect(all.at(-2)).toBe(`${30 * 86_400 - 1}:skipped`)
})

test('a tick whose job died has failed, and one whose job was cancelled was skipped', async () => {
  const scheduler = await open(schedule({ every: '10s' }))
  await move(scheduler, seconds(10))
  await runDue('fail')
  await move(scheduler, seconds(10))
  const [job] = (
    await database.capabilities.jobs.search(
      search({ query: { kind: 'term', field: 'status', value: 'waiting' } }),
    )
  ).records
  await database.capabilities.jobs.cancel(job?.guid ?? '')
  await move(scheduler, seconds(10))
  expect(await ticks(scheduler)).toEqual(['10:failed', '20:skipped', '30:planned'])
})

test('next_run is asked again at each run; a date that stays the same fires once', async () => {
  let next: number | undefined = start + seconds(5)
  let asked = 0
  const nextRun = async () => {
    asked++
    return next
  }
  const scheduler = await open(schedule({ nextRun }))
  expect(asked).toBe(1)
  await move(scheduler, seconds(4))
  expect(await runDue()).toEqual([])
  await move(scheduler, seconds(1))
  expect(planned(await runDue())).toEqual([5])
  await move(scheduler, seconds(60))
  expect(await runDue()).toEqual([])
  next = start + seconds(130)
  const before = asked
  await move(scheduler, seconds(1))
  await move(scheduler, seconds(58))
  expect(asked).toBe(before)
  await move(scheduler, seconds(1))
  expect(await runDue()).toEqual([])
  await move(scheduler, seconds(5))
  expect(planned(await runDue())).toEqual([130])
  next = undefined
  await move(scheduler, seconds(3600))
  expect(await runDue()).toEqual([])
})

test('a next_run that cannot be worked out is logged, and asked again', async () => {
  let broken = true
  const nextRun = async () => {
    if (broken) throw new Error('no such document')
    return start + seconds(100)
  }
  const scheduler = await open(schedule({ nextRun }))
  expect(log[0]?.message).toMatch(/could not be worked out.*no such document/)
  broken = false
  await move(scheduler, seconds(60))
  broken = true
  await move(scheduler, seconds(40))
  expect(planned(await runDue())).toEqual([100])
})

test('a changed plan counts from the change; a schedule that is no longer active does not fire, nor catches up', async () => {
  const scheduler = await open(schedule({ every: '10s' }))
  await move(scheduler, seconds(5))
  active = [schedule({ every: '1m' })]
  changed()
  await scheduler.check()
  await move(scheduler, seconds(5))
  expect(await runDue()).toEqual([])
  await move(scheduler, seconds(55))
  expect(planned(await runDue())).toEqual([65])
  active = []
  changed()
  await scheduler.check()
  await move(scheduler, seconds(600))
  expect((await scheduler.searchSchedules(search())).total).toBe(0)
  active = [schedule({ every: '1m' })]
  changed()
  await scheduler.check()
  expect(await runDue()).toEqual([])
  await move(scheduler, seconds(60))
  expect(planned(await runDue())).toEqual([725])
})

test('ticks are kept for 30 days', async () => {
  const scheduler = await open(schedule({ every: '20d' }))
  await move(scheduler, 20 * 86_400_000)
  await runDue()
  await move(scheduler, 20 * 86_400_000)
  await runDue()
  await scheduler.check()
  expect(await ticks(scheduler)).toHaveLength(2)
  await move(scheduler, 11 * 86_400_000)
  expect(await ticks(scheduler)).toEqual([`${40 * 86_400}:done`])
})

test('what cannot be stored leaves neither tick nor job, and is done when it can be', async () => {
  const scheduler = await open(schedule({ every: '10s' }))
  const end = database.observe('_schedule_ticks', () => {
    throw new Error('the disk is full')
  })
  await move(scheduler, seconds(10))
  expect(await runDue()).toEqual([])
  expect(log.at(-1)?.message).toMatch(/the disk is full/)
  const query: Query = { kind: 'term', field: 'queue', value: '_schedules' }
  expect((await database.capabilities.jobs.search(search({ query }))).total).toBe(0)
  end()
  await scheduler.check()
  expect(planned(await runDue())).toEqual([10])
})

test.each<[string, Partial<Schedule>]>([
  ['an interval', { every: '1h' }],
  ['an interval with a start', { every: '1h', startAt: start }],
  ['a pattern', { cron: '0 * * * *' }],
])(
  'after the clock was set back by three hours %s fires again from the present time, and the log says so',
  async (_, plan) => {
    // Later than the clock of a database, which counts too: where only the clock of a node is behind, nothing is planned again.
    const present = Math.ceil(Date.now() / minutes(60)) * minutes(60) + minutes(60_000) + seconds(1)
    fixture.clock.now = present - minutes(120)
    const scheduler = await open(schedule({ ...plan, catchUp: 'all' }))
    const runs = async (hours: number) => {
      const jobs: Job[] = []
      for (let hour = 0; hour < hours; hour++) {
        await move(scheduler, minutes(60))
        jobs.push(...(await runDue()))
      }
      return jobs.map(({ payload }) => Math.round((Number(payload.planned_at) - present) / minutes(60)) + 0)
    }
    expect(await runs(8)).toEqual([-1, 0, 1, 2, 3, 4, 5, 6])
    fixture.clock.now = present
    await scheduler.check()
    expect(
      log.map(({ level, message }) => [level, message.includes('because the clock was set back')]),
    ).toEqual([['warn', true]])
    // The records of times that are over stay.
    expect(await ticks(scheduler)).toHaveLength(2)
    expect(await runs(6)).toEqual([1, 2, 3, 4, 5, 6])
    expect(log).toHaveLength(1)
  },
)

test('a clock that is set back by less than a minute fires no time twice, and waits for the next one', async () => {
  fixture.clock.now = Math.ceil(Date.now() / minutes(60)) * minutes(60) + minutes(60_000)
  const scheduler = await open(schedule({ every: '10s' }))
  await move(scheduler, seconds(10))
  expect(await runDue()).toHaveLength(1)
  await move(scheduler, seconds(-50))
  await move(scheduler, seconds(50))
  expect(await runDue()).toEqual([])
  await move(scheduler, seconds(10))
  expect(await runDue()).toHaveLength(1)
  expect(log).toEqual([])
})
