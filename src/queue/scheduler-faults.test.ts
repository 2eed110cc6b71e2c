import { expect, test } from 'vitest'
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
import type { Schedule } from '../flows/background/schedules.ts'
import { QuoinError } from '../shared/errors.ts'
import { type Query, search } from '../shared/query.ts'
import type { Job } from '../storage/job.ts'
import { wrappedDatabase } from '../storage/wrapped-session.ts'

let fixture: SchedulerFixture
eachWithSchedulers((opened) => {
  fixture = opened
})

test('what cannot be stored leaves neither tick nor job, and is done when it can be', async () => {
  const scheduler = await fixture.open(schedule({ every: '10s' }))
  const end = fixture.database.observe('_schedule_ticks', () => {
    throw new Error('the disk is full')
  })
  await fixture.move(scheduler, seconds(10))
  expect(await fixture.runDue()).toEqual([])
  expect(fixture.log.at(-1)?.message).toMatch(/the disk is full/)
  const query: Query = { kind: 'term', field: 'queue', value: '_schedules' }
  expect((await fixture.database.capabilities.jobs.search(search({ query }))).total).toBe(0)
  end()
  await scheduler.check()
  expect(planned(await fixture.runDue())).toEqual([10])
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
    const scheduler = await fixture.open(schedule({ ...plan, catchUp: 'all' }))
    const runs = async (hours: number) => {
      const jobs: Job[] = []
      for (let hour = 0; hour < hours; hour++) {
        await fixture.move(scheduler, minutes(60))
        jobs.push(...(await fixture.runDue()))
      }
      return jobs.map(({ payload }) => Math.round((Number(payload.planned_at) - present) / minutes(60)) + 0)
    }
    expect(await runs(8)).toEqual([-1, 0, 1, 2, 3, 4, 5, 6])
    fixture.clock.now = present
    await scheduler.check()
    expect(
      fixture.log.map(({ level, message }) => [level, message.includes('because the clock was set back')]),
    ).toEqual([['warn', true]])
    // The records of times that are over stay.
    expect(await ticks(scheduler)).toHaveLength(2)
    expect(await runs(6)).toEqual([1, 2, 3, 4, 5, 6])
    expect(fixture.log).toHaveLength(1)
  },
)

test('a clock that is set back by less than a minute fires no time twice, and waits for the next one', async () => {
  fixture.clock.now = Math.ceil(Date.now() / minutes(60)) * minutes(60) + minutes(60_000)
  const scheduler = await fixture.open(schedule({ every: '10s' }))
  await fixture.move(scheduler, seconds(10))
  expect(await fixture.runDue()).toHaveLength(1)
  await fixture.move(scheduler, seconds(-50))
  await fixture.move(scheduler, seconds(50))
  expect(await fixture.runDue()).toEqual([])
  await fixture.move(scheduler, seconds(10))
  expect(await fixture.runDue()).toHaveLength(1)
  expect(fixture.log).toEqual([])
})

test('a time that has fired before the clock was set back does not stop a schedule that is planned again', async () => {
  const hour = Math.ceil(Date.now() / minutes(60)) * minutes(60) + minutes(60_000)
  fixture.clock.now = hour
  const times = (jobs: readonly Job[]) =>
    jobs.map(({ payload }) => (Number(payload.planned_at) - hour) / 1000)
  const scheduler = await fixture.open(schedule({ cron: '*/10 * * * * *' }))
  await fixture.move(scheduler, seconds(10))
  expect(times(await fixture.runDue())).toEqual([0])
  await fixture.move(scheduler, seconds(10))
  expect(times(await fixture.runDue())).toEqual([20])
  fixture.active = []
  await scheduler.check()
  fixture.active = [schedule({ cron: '*/5 * * * * *' })]
  fixture.clock.now = hour - seconds(5)
  await scheduler.check()
  const ran: number[] = []
  for (let second = 0; second < 30; second++) {
    ran.push(...times(await fixture.runDue()))
    await fixture.move(scheduler, seconds(1))
    expect(fixture.looks.at(-1)).toBeGreaterThan(0)
  }
  expect(ran).toEqual([-5, 5, 15])
  expect(fixture.log).toEqual([])
})

test('a record that another node writes each time first is looked at again a second later, and not in a loop', async () => {
  const scheduler = await fixture.open(schedule({ every: '10s' }))
  const end = fixture.database.observe('_schedules', () => {
    throw new QuoinError('CONFLICT', 'Another node was faster.')
  })
  await fixture.move(scheduler, seconds(10))
  expect(fixture.looks.at(-1)).toBe(0)
  await scheduler.check()
  expect(fixture.looks.at(-1)).toBe(seconds(1))
  end()
  await fixture.move(scheduler, seconds(1))
  expect(planned(await fixture.runDue())).toEqual([10])
  expect(fixture.log).toEqual([])
})

test('in a space whose jobs are full a schedule waits longer and longer, is logged once, and fires when there is room', async () => {
  let isFull = true
  let refused = 0
  const scheduler = await fixture.open(
    schedule({ every: '10s', catchUp: 'all' }),
    schedule({ id: 'b1 a2', every: '1h' }),
  )
  const end = fixture.database.observe('_schedule_ticks', () => {
    if (!isFull) return
    refused++
    throw new QuoinError('QUOTA_EXCEEDED', 'The space has 1 jobs that wait or run, as many as it may.')
  })
  await fixture.move(scheduler, seconds(10))
  expect(fixture.looks.at(-1)).toBe(seconds(1))
  for (let second = 0; second < 30; second++) await fixture.move(scheduler, seconds(1))
  // Behind 1, 3, 7 and 15 seconds.
  expect(refused).toBe(5)
  expect(fixture.log.map(({ level }) => level)).toEqual(['error'])
  expect(await ticks(scheduler)).toEqual([])
  isFull = false
  await fixture.move(scheduler, seconds(1))
  expect(planned(await fixture.runDue())).toEqual([10, 20, 30, 40])
  isFull = true
  await fixture.move(scheduler, seconds(10))
  expect(fixture.log.filter(({ level }) => level === 'error')).toHaveLength(2)
  end()
})

test('a node that is fenced fires nothing, and what it missed when it is back', async () => {
  let alive = true
  const nodes = async () => []
  const cluster = { self: 'n', alive: () => alive, wentBack: () => false, nodes }
  const others = { notify: async () => undefined, send: async () => undefined }
  const wrapped = wrappedDatabase(fixture.database, { session: (origin) => fixture.database.session(origin) })
  const capabilities = { ...fixture.database.capabilities, cluster: { ...cluster, ...others } }
  const scheduler = await fixture.openOn({ ...wrapped, capabilities }, schedule({ every: '10s' }))
  await scheduler.check()
  alive = false
  await fixture.move(scheduler, seconds(10))
  expect([fixture.looks.at(-1), await ticks(scheduler)]).toEqual([seconds(1), []])
  alive = true
  await fixture.move(scheduler, seconds(1))
  expect(planned(await fixture.runDue())).toEqual([10])
})
