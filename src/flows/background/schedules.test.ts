import { afterEach, beforeEach, expect, test } from 'vitest'
import { ada, type JobFixture, openJobFixture } from '../../../test/job-fixture.ts'
import { liveSchedules, type Schedule } from './schedules.ts'

let fixture: JobFixture
let schedules: () => readonly Schedule[]
beforeEach(async () => {
  fixture = await openJobFixture()
  schedules = liveSchedules(fixture.flows, fixture.runs)
})
afterEach(() => fixture.close())

const log = { type: 'function_console_log', in: { flow: '@plan.flow', value: '@plan.planned_at' } }
const plan = (pins: object) => ({ plan: { type: 'schedule_repeating_event', in: pins }, log })

test.each([
  [{}, 'cron'],
  [{ cron: '* * * * *', every: '5m' }, 'cron'],
  [{ cron: '61 * * * *' }, 'cron'],
])('%j is refused when it is activated, at %s', async (pins, pin) => {
  await expect(fixture.install(plan(pins))).rejects.toMatchObject({
    code: 'VALIDATION_FAILED',
    problems: [{ pin }],
  })
  expect(schedules()).toEqual([])
})

test('only next_run may depend on a run', async () => {
  const params = { params: { type: 'httpconnection_get_params', in: { field: 'x' } } }
  await expect(fixture.install({ ...plan({ every: '@params.value' }), ...params })).rejects.toMatchObject({
    problems: [{ pin: 'every', message: expect.stringContaining('must not depend on a run') }],
  })
})

test('nothing is scheduled until it is active, and no longer than that', async () => {
  expect(schedules()).toEqual([])
  const blueprint = await fixture.install(plan({ cron: '0 9 * * *', time_zone: 'Europe/Berlin' }))
  const [schedule] = schedules()
  expect(schedule).toEqual({
    id: `${blueprint} ${schedule?.block}`,
    blueprint,
    block: expect.stringMatching(/./),
    title: expect.stringMatching(/^\w+ · Test$/),
    cron: '0 9 * * *',
    timeZone: 'Europe/Berlin',
    overlap: 'skip',
    catchUp: 'last',
  })
  expect(schedules()).toBe(schedules())
  await fixture.flows.deployments.deactivate(blueprint, ada)
  expect(schedules()).toEqual([])
})

test('an interval with its start, and every policy', async () => {
  await fixture.install(plan({ every: '5m', start_at: '2026-02-01', overlap: 'allow', catch_up: 'none' }))
  expect(schedules()).toMatchObject([
    { every: '5m', startAt: Date.UTC(2026, 1, 1), overlap: 'allow', catchUp: 'none', timeZone: 'UTC' },
  ])
  expect(schedules()[0]).not.toHaveProperty('nextRun')
})

test('a constant next_run is asked for like any other', async () => {
  await fixture.install(plan({ next_run: '2026-02-01T10:00:00Z' }))
  const [schedule] = schedules()
  expect(schedule).not.toHaveProperty('cron')
  expect(await schedule?.nextRun?.()).toBe(Date.UTC(2026, 1, 1, 10))
})

test('a next_run that depends on a run is worked out each time', async () => {
  const blocks = {
    ...plan({ next_run: '@date.value' }),
    params: { type: 'httpconnection_get_params', in: { field: 'x' } },
    date: { type: 'value_default', in: { value: '@params.value', default: '2026-03-01' } },
  }
  await fixture.install(blocks)
  const [schedule] = schedules()
  expect(await schedule?.nextRun?.()).toBe(Date.UTC(2026, 2, 1))
  expect(await schedule?.nextRun?.()).toBe(Date.UTC(2026, 2, 1))
})

test('a next_run that gives no date is never, and the log says why', async () => {
  await fixture.install({
    ...plan({ next_run: '@date.value' }),
    params: { type: 'httpconnection_get_params', in: { field: 'x' } },
    date: { type: 'value_default', in: { value: '@params.value', default: 'soon' } },
  })
  expect(await schedules()[0]?.nextRun?.()).toBeUndefined()
  expect(await fixture.logged()).toEqual([expect.stringMatching(/^The pin next_run must be a date/)])
})
