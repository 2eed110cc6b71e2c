import { expect, test } from 'vitest'
import { listenTo } from '../../../test/run-block.ts'
import block from './schedule_repeating_event.ts'

test.each([
  [{}, 'cron', 'is empty: set one of cron, every and next_run'],
  [{ cron: ' ', every: '' }, 'cron', 'is empty: set one of'],
  [{ cron: '* * * * *', every: '5m' }, 'cron', 'must be set alone'],
  [{ every: '5m', next_run: '2026-02-01' }, 'every', 'must be set alone'],
  [{ cron: 'daily' }, 'cron', 'must have five fields'],
  [{ cron: '2026-01-31T09:00:00Z' }, 'cron', 'must have five fields'],
  [{ cron: '0 0 * * * * 2030' }, 'cron', 'must have five fields'],
  [{ cron: '@sometimes' }, 'cron', 'must be a cron expression'],
  [{ cron: '61 * * * *' }, 'cron', 'Invalid value for minute: 61'],
  [{ cron: '0 0 30 2 *' }, 'cron', 'names a time that never occurs'],
  [{ cron: `${'1,'.repeat(150)}1 * * * *` }, 'cron', 'must be at most 200'],
  [{ every: '5' }, 'every', 'must be an interval'],
  [{ every: '0s' }, 'every', 'must be an interval'],
  [{ every: '400d' }, 'every', 'must be an interval'],
  [{ every: '1h30m' }, 'every', 'must be an interval'],
  [{ next_run: 'tomorrow' }, 'next_run', 'must be a date'],
  [{ every: '1d', start_at: 'x' }, 'start_at', 'must be a date'],
  [{ every: '1d', time_zone: 'Berlin' }, 'time_zone', 'must be the name of a time zone'],
  [{ every: '1d', time_zone: '+02:00' }, 'time_zone', 'must be the name of a time zone'],
  [{ every: '1d', overlap: 'both' }, 'overlap', 'must be one of skip, queue, allow'],
  [{ every: '1d', catch_up: 'some' }, 'catch_up', 'must be one of last, all, none'],
])('%j is refused at %s: %s', (inputs, pin, message) => {
  expect(() => listenTo(block, { inputs })).toThrow(
    expect.objectContaining({ pin, message: expect.stringContaining(message) }),
  )
})

const plain = {
  cron: undefined,
  every: undefined,
  asksNextRun: false,
  startAt: undefined,
  timeZone: 'UTC',
  overlap: 'skip',
  catchUp: 'last',
}

test.each([
  [{ cron: ' 0 9 * * MON-FRI ' }, { cron: '0 9 * * MON-FRI' }],
  [{ cron: '*/10 * * * * *' }, { cron: '*/10 * * * * *' }],
  [{ cron: '0 0 29 2 *' }, { cron: '0 0 29 2 *' }],
  [
    { cron: '@daily', time_zone: 'Europe/Berlin', overlap: 'queue', catch_up: 'all' },
    { cron: '@daily', timeZone: 'Europe/Berlin', overlap: 'queue', catchUp: 'all' },
  ],
  [{ every: ' 5 m ' }, { every: '5m' }],
  [
    { every: '1d', start_at: '2026-02-01' },
    { every: '1d', startAt: new Date('2026-02-01T00:00:00Z') },
  ],
  [{ next_run: '2026-02-01' }, { asksNextRun: true }],
])('%j is a schedule', (inputs, changes) => {
  expect(listenTo(block, { inputs })).toEqual({ ...plain, ...changes })
})

test('it gives its tick', () => {
  const plannedAt = new Date(0)
  expect(block.start({ plannedAt, tick: 't' })).toEqual({ planned_at: plannedAt, tick: 't' })
})
