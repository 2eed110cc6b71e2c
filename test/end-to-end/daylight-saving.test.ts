/** A schedule whose time does not exist on the night when the clocks go forward. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const HOUR = 3_600_000

/** The next last Sunday of March, 01:00 UTC: then it is 02:00 in Amsterdam, and 03:00 at once. */
function nextGap(now: number): number {
  const year = new Date(now).getUTCFullYear()
  for (const each of [year, year + 1]) {
    const last = new Date(Date.UTC(each, 2, 31, 1))
    const gap = last.getTime() - last.getUTCDay() * 24 * HOUR
    if (gap > now + 48 * HOUR) return gap
  }
  throw new Error('There is a gap every year.')
}

let fixture: TestQuoin

beforeAll(async () => {
  fixture = await openTestQuoin()
})
afterAll(() => fixture.close())

test('fires once, as soon as the night goes on, and is planned at its time again for the next one', async () => {
  const gap = nextGap(Date.now())
  // An hour before: however slow the machine is, nothing is due while the schedule is installed and looked at.
  fixture.advance(gap - HOUR - Date.now())
  await fixture.install('Every night at half past two', {
    store: { type: 'storage', fields: { storage: 'nights' } },
    tick: {
      type: 'schedule_repeating_event',
      in: { cron: '30 2 * * *', time_zone: 'Europe/Amsterdam' },
    },
    set: { type: 'mutations_set_custom_field', in: { field: 'planned', value: '@tick.planned_at' } },
    write: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@tick.flow', storage: '@store.storage', mutations: '@set.mutations' },
    },
  })
  const next = async () =>
    objectsOf(await fixture.manage('GET', '/queue/schedules')).map(({ next_at }) => next_at)
  const fired = async () =>
    (await fixture.documents('nights')).map(({ planned }) => new Date(String(planned)).getTime())
  expect(await next()).toEqual([gap / 1000])
  expect(await fired()).toEqual([])
  fixture.advance(HOUR)
  // The scheduler sleeps in real time, and looks at its clock again when a blueprint is deployed.
  await fixture.install('Another blueprint', { store: { type: 'storage', fields: { storage: 'nights' } } })
  await expect.poll(fired, { timeout: 10_000 }).toEqual([gap])
  await expect.poll(next, { timeout: 10_000 }).toEqual([(gap + 23.5 * HOUR) / 1000])
  expect(await fired()).toEqual([gap])
})
