import { expect, inject, test } from 'vitest'
import {
  eachWithSchedulers,
  minutes,
  planned,
  type SchedulerFixture,
  schedule,
  seconds,
  start,
  ticks,
} from '../../test/scheduler-fixture.ts'
import { search } from '../shared/query.ts'
import type { Job } from '../storage/job.ts'

let fixture: SchedulerFixture
eachWithSchedulers((opened) => {
  fixture = opened
})

test('a schedule that makes no sense never fires, is logged once, and keeps no other from firing', async () => {
  const scheduler = await fixture.open(schedule({ cron: 'often' }), schedule({ id: 'b1 a2', every: '10s' }))
  await fixture.move(scheduler, seconds(10))
  await fixture.move(scheduler, seconds(1))
  expect(planned(await fixture.runDue())).toEqual([10])
  expect(fixture.log.map(({ level }) => level)).toEqual(['error'])
  expect(fixture.log[0]?.message).toMatch(/never fires.*often/)
})

test('it looks at least once a minute, and a second behind a tick that fired, for its end', async () => {
  const scheduler = await fixture.open(schedule({ every: '1h' }))
  await fixture.move(scheduler, seconds(10))
  expect(fixture.looks.at(-1)).toBe(seconds(60))
  await fixture.move(scheduler, minutes(60) - seconds(10))
  expect(fixture.looks.at(-1)).toBe(seconds(1))
  await fixture.runDue()
  await scheduler.check()
  expect(fixture.looks.at(-1)).toBe(seconds(60))
})

test('it runs from its planned time until its job has ended', async () => {
  const scheduler = await fixture.open(schedule({ every: '10s' }), schedule({ id: 'b1 a2', every: '1h' }))
  expect(await scheduler.isRunning('b1 a1')).toBe(false)
  await fixture.move(scheduler, seconds(10))
  expect([await scheduler.isRunning('b1 a1'), await scheduler.isRunning('b1 a2')]).toEqual([true, false])
  await fixture.runDue()
  expect(await scheduler.isRunning('b1 a1')).toBe(false)
})

test('fires when it is due and not before, as a job that says for what', async () => {
  const scheduler = await fixture.open(schedule({ every: '10s' }))
  await fixture.move(scheduler, seconds(9))
  expect(await fixture.runDue()).toEqual([])
  await fixture.move(scheduler, seconds(1))
  const [job] = await fixture.runDue()
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
  const scheduler = await fixture.open(
    schedule({ every: '1m', startAt: start + 60_000, catchUp: 'all', overlap: 'allow' }),
  )
  const fired: number[] = []
  for (let n = 0; fired.length < MANY; n++) {
    await fixture.move(scheduler, minutes(n < MANY / 20 ? 1 : MANY / 40))
    fired.push(...planned(await fixture.runDue()))
  }
  expect(fired.slice(0, MANY)).toEqual(Array.from({ length: MANY }, (_, n) => (n + 1) * 60))
  expect(fixture.log.filter(({ level }) => level !== 'warn')).toEqual([])
  // Those that were missed at once are told of once, however many transactions they take.
  expect(new Set(fixture.log.map(({ message }) => message)).size).toBe(fixture.log.length)
})

test('on three nodes that look at the same time each tick fires once', async () => {
  const nodes = [
    await fixture.open(schedule({ every: '10s' })),
    await fixture.open(...fixture.active),
    await fixture.open(...fixture.active),
  ]
  const fired: number[] = []
  for (let n = 0; n < 30; n++) {
    fixture.clock.now += seconds(10)
    await Promise.all(nodes.map((node) => node.check()))
    // Who was too late looks again, as its timer would.
    await Promise.all(nodes.map((node) => node.check()))
    fired.push(...planned(await fixture.runDue()))
  }
  expect(fired).toEqual(Array.from({ length: 30 }, (_, n) => (n + 1) * 10))
  expect(fixture.log).toEqual([])
})

/** How many transactions wrote ticks while the work was done. */
async function transactions(work: () => Promise<unknown>): Promise<number> {
  const sessions = new Set<object>()
  const end = fixture.database.observe('_schedule_ticks', (session) => void sessions.add(session))
  await work()
  end()
  return sessions.size
}

const many = Array.from({ length: 130 }, (_, n) => schedule({ id: `b1 a${n}`, every: '10s' }))

test('schedules that are due together are fired and settled 64 in a transaction', async () => {
  const scheduler = await fixture.open(...many)
  expect(await transactions(() => fixture.move(scheduler, seconds(10)))).toBe(3)
  const jobs = await fixture.runDue()
  expect(new Set(jobs.map(({ orderKey }) => orderKey))).toEqual(new Set(many.map(({ id }) => id)))
  expect(await transactions(() => scheduler.check())).toBe(3)
  expect(await ticks(scheduler)).toEqual(many.map(() => '10:done'))
  expect(fixture.log).toEqual([])
})

test('a tick that cannot be stored keeps no other of its transaction from firing', async () => {
  const scheduler = await fixture.open(...many)
  const end = fixture.database.observe('_schedule_ticks', (_, { after }) => {
    if (after?.text.includes('"b1 a7"')) throw new Error('not this one')
  })
  await fixture.move(scheduler, seconds(10))
  expect(await fixture.runDue()).toHaveLength(129)
  expect(new Set(fixture.log.map(({ message }) => message))).toEqual(
    new Set(['The schedule of Reports (b1 a7) could not be planned: not this one']),
  )
  end()
  await scheduler.check()
  expect((await fixture.runDue()).map(({ orderKey }) => orderKey)).toEqual(['b1 a7'])
})

test('nodes that start together plan each of many schedules once', async () => {
  const nodes = await Promise.all([fixture.open(...many), fixture.open(...many), fixture.open(...many)])
  await Promise.all(nodes.map((node) => node.check()))
  expect((await nodes[0]?.searchSchedules(search()))?.total).toBe(130)
  fixture.clock.now += seconds(10)
  for (let n = 0; n < 2; n++) await Promise.all(nodes.map((node) => node.check()))
  expect(await fixture.runDue()).toHaveLength(130)
  expect(fixture.log).toEqual([])
})

test.each([
  ['skip', [10], ['10:claimed', '20:skipped', '30:skipped']],
  ['queue', [10], ['10:claimed', '20:planned', '30:planned']],
  ['allow', [10, 20, 30], ['10:claimed', '20:claimed', '30:claimed']],
] as const)('overlap %s: while the first tick runs, the next ones', async (overlap, running, expected) => {
  const scheduler = await fixture.open(schedule({ every: '10s', overlap }))
  const jobs: Job[] = []
  for (let n = 0; n < 3; n++) {
    await fixture.move(scheduler, seconds(10))
    jobs.push(
      ...(await fixture.database.capabilities.jobs.claim({ owner: 'w', leaseMs: minutes(60), limit: 100 })),
    )
  }
  await scheduler.check()
  expect(planned(jobs)).toEqual(running)
  expect(await ticks(scheduler)).toEqual(expected)
  for (const job of jobs) await fixture.database.capabilities.jobs.complete(job)
  if (overlap === 'queue') expect(planned(await fixture.runDue())).toEqual([20, 30])
  await fixture.move(scheduler, seconds(10))
  expect(planned(await fixture.runDue())).toEqual([40])
})

test.each([
  ['last', [30], ['10:skipped', '20:skipped', '30:caught_up', '40:done']],
  ['all', [10, 20, 30], ['10:caught_up', '20:caught_up', '30:caught_up', '40:done']],
  ['none', [], ['10:skipped', '20:skipped', '30:skipped', '40:done']],
] as const)('catch up %s: of what was missed while no node was up', async (catchUp, caught, expected) => {
  const away = await fixture.open(schedule({ every: '10m', catchUp }))
  await away.close()
  fixture.clock.now += minutes(35)
  const scheduler = await fixture.open(...fixture.active)
  const late = await fixture.runDue()
  expect(planned(late)).toEqual(caught.map((n) => n * 60))
  expect(late.every(({ payload }) => payload.late === true)).toBe(true)
  await fixture.move(scheduler, minutes(5))
  expect(planned(await fixture.runDue())).toEqual([40 * 60])
  await scheduler.check()
  expect(await ticks(scheduler)).toEqual(
    expected.map((one) => one.replace(/^\d+/, (n) => String(Number(n) * 60))),
  )
})

test('a first working day that fell into a downtime is told: in the log, and beside its schedule', async () => {
  const day = 86_400_000
  const away = await fixture.open(schedule({ cron: '0 8 * * 1-5' }))
  await away.close()
  // Thursday and Friday: the clock begins at a Thursday, 0 o'clock.
  fixture.clock.now += day + 9 * 3_600_000
  const scheduler = await fixture.open(...fixture.active)
  expect(planned(await fixture.runDue())).toEqual([(day + 8 * 3_600_000) / 1000])
  const first = start + 8 * 3_600_000
  const lost = new Date(first).toISOString()
  expect(fixture.log.at(-1)).toMatchObject({
    level: 'warn',
    message: expect.stringContaining(
      `Never started: ${lost}. Where one of them matters, run the schedule by hand`,
    ),
  })
  const { records } = await scheduler.searchSchedules(search({ limit: 10 }))
  expect(records).toMatchObject([{ lost_at: first / 1000 }])
})

test('a start right at a tick is on time for it, and the missed ones before count as missed', async () => {
  const away = await fixture.open(schedule({ every: '10m', catchUp: 'none' }))
  await away.close()
  fixture.clock.now += minutes(20) + seconds(2)
  await fixture.open(...fixture.active)
  expect(planned(await fixture.runDue())).toEqual([20 * 60])
})

test('after a month of seconds only the last thousand are looked at', async () => {
  const away = await fixture.open(schedule({ every: '1s' }))
  await away.close()
  fixture.clock.now += 30 * 86_400_000
  const scheduler = await fixture.open(...fixture.active)
  expect(planned(await fixture.runDue())).toEqual([30 * 86_400])
  const all = await ticks(scheduler)
  expect(all.length).toBeLessThanOrEqual(1001)
  expect(all.at(-2)).toBe(`${30 * 86_400 - 1}:skipped`)
})

test('a tick whose job died has failed, and one whose job was cancelled was skipped', async () => {
  const scheduler = await fixture.open(schedule({ every: '10s' }))
  await fixture.move(scheduler, seconds(10))
  await fixture.runDue('fail')
  await fixture.move(scheduler, seconds(10))
  const [job] = (
    await fixture.database.capabilities.jobs.search(
      search({ query: { kind: 'term', field: 'status', value: 'waiting' } }),
    )
  ).records
  await fixture.database.capabilities.jobs.cancel(job?.guid ?? '')
  await fixture.move(scheduler, seconds(10))
  expect(await ticks(scheduler)).toEqual(['10:failed', '20:skipped', '30:planned'])
})

test('next_run is asked again at each run; a date that stays the same fires once', async () => {
  let next: number | undefined = start + seconds(5)
  let asked = 0
  const nextRun = async () => {
    asked++
    return next
  }
  const scheduler = await fixture.open(schedule({ nextRun }))
  expect(asked).toBe(1)
  await fixture.move(scheduler, seconds(4))
  expect(await fixture.runDue()).toEqual([])
  await fixture.move(scheduler, seconds(1))
  expect(planned(await fixture.runDue())).toEqual([5])
  await fixture.move(scheduler, seconds(60))
  expect(await fixture.runDue()).toEqual([])
  next = start + seconds(130)
  const before = asked
  await fixture.move(scheduler, seconds(1))
  await fixture.move(scheduler, seconds(58))
  expect(asked).toBe(before)
  await fixture.move(scheduler, seconds(1))
  expect(await fixture.runDue()).toEqual([])
  await fixture.move(scheduler, seconds(5))
  expect(planned(await fixture.runDue())).toEqual([130])
  next = undefined
  await fixture.move(scheduler, seconds(3600))
  expect(await fixture.runDue()).toEqual([])
})

test('a next_run that cannot be worked out is logged, and asked again', async () => {
  let broken = true
  const nextRun = async () => {
    if (broken) throw new Error('no such document')
    return start + seconds(100)
  }
  const scheduler = await fixture.open(schedule({ nextRun }))
  expect(fixture.log[0]?.message).toMatch(/could not be worked out.*no such document/)
  broken = false
  await fixture.move(scheduler, seconds(60))
  broken = true
  await fixture.move(scheduler, seconds(40))
  expect(planned(await fixture.runDue())).toEqual([100])
})

test('a changed plan counts from the change; a schedule that is no longer active does not fire, nor catches up', async () => {
  const scheduler = await fixture.open(schedule({ every: '10s' }))
  await fixture.move(scheduler, seconds(5))
  fixture.active = [schedule({ every: '1m' })]
  fixture.changed()
  await scheduler.check()
  await fixture.move(scheduler, seconds(5))
  expect(await fixture.runDue()).toEqual([])
  await fixture.move(scheduler, seconds(55))
  expect(planned(await fixture.runDue())).toEqual([65])
  fixture.active = []
  fixture.changed()
  await scheduler.check()
  await fixture.move(scheduler, seconds(600))
  expect((await scheduler.searchSchedules(search())).total).toBe(0)
  fixture.active = [schedule({ every: '1m' })]
  fixture.changed()
  await scheduler.check()
  expect(await fixture.runDue()).toEqual([])
  await fixture.move(scheduler, seconds(60))
  expect(planned(await fixture.runDue())).toEqual([725])
})

test('ticks are kept for 30 days', async () => {
  const scheduler = await fixture.open(schedule({ every: '20d' }))
  await fixture.move(scheduler, 20 * 86_400_000)
  await fixture.runDue()
  await fixture.move(scheduler, 20 * 86_400_000)
  await fixture.runDue()
  await scheduler.check()
  expect(await ticks(scheduler)).toHaveLength(2)
  await fixture.move(scheduler, 11 * 86_400_000)
  expect(await ticks(scheduler)).toEqual([`${40 * 86_400}:done`])
})
