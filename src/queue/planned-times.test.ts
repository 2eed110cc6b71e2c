import { describe, expect, test } from 'vitest'
import { QuoinError } from '../shared/errors.ts'
import { plannedTimes, type TimedSchedule } from './planned-times.ts'

type PartialSchedule = Partial<TimedSchedule>

function times(input: PartialSchedule, after: string, count: number): string[] {
  const planned = plannedTimes({ timeZone: 'UTC', ...input })
  const found: string[] = []
  let time = planned?.next(Date.parse(after))
  while (time !== undefined && found.length < count) {
    found.push(new Date(time).toISOString().slice(0, 19))
    time = planned?.next(time)
  }
  return found
}

describe('what makes no sense is refused', () => {
  test.each<PartialSchedule>([
    { cron: '' },
    { cron: '* * * *' },
    { cron: '61 * * * *' },
    { cron: '2026-01-01T00:00:00' },
    { cron: '* * * * *', timeZone: 'Mars/Olympus' },
    { every: '' },
    { every: '0s' },
    { every: '0.5s' },
    { every: '-5m' },
    { every: 'often' },
  ])('%o', (input) => {
    expect(() => plannedTimes({ timeZone: 'UTC', ...input })).toThrow(QuoinError)
  })

  test('a schedule that asks for its next run has no times of its own', () => {
    expect(plannedTimes({ timeZone: 'UTC' })).toBeUndefined()
  })
})

test.each<[name: string, given: PartialSchedule, after: string, expected: string[]]>([
  [
    'each minute',
    { cron: '* * * * *' },
    '2026-01-01T00:00:00Z',
    ['2026-01-01T00:01:00', '2026-01-01T00:02:00'],
  ],
  [
    'each second',
    { cron: '* * * * * *' },
    '2026-01-01T00:00:59Z',
    ['2026-01-01T00:01:00', '2026-01-01T00:01:01'],
  ],
  [
    'not before its start, and at it',
    { cron: '0 * * * *', startAt: Date.parse('2026-01-01T05:00:00Z') },
    '2026-01-01T00:00:00Z',
    ['2026-01-01T05:00:00', '2026-01-01T06:00:00'],
  ],
  [
    'the gap: right after it, once',
    { cron: '30 2 * * *', timeZone: 'Europe/Amsterdam' },
    '2026-03-28T00:00:00Z',
    ['2026-03-28T01:30:00', '2026-03-29T01:00:00', '2026-03-30T00:30:00'],
  ],
  [
    'the gap: two times in it are one',
    { cron: '0,30 2 * * *', timeZone: 'Europe/Amsterdam' },
    '2026-03-28T02:00:00Z',
    ['2026-03-29T01:00:00', '2026-03-30T00:00:00', '2026-03-30T00:30:00'],
  ],
  [
    'the hour that comes twice: the first time only',
    { cron: '30 2 * * *', timeZone: 'Europe/Amsterdam' },
    '2026-10-24T12:00:00Z',
    ['2026-10-25T00:30:00', '2026-10-26T01:30:00'],
  ],
  [
    'each hour goes on through the hour that comes twice',
    { cron: '0 * * * *', timeZone: 'Europe/Amsterdam' },
    '2026-10-24T23:30:00Z',
    ['2026-10-25T00:00:00', '2026-10-25T01:00:00', '2026-10-25T02:00:00'],
  ],
  [
    'a gap of half an hour',
    { cron: '15 2 * * *', timeZone: 'Australia/Lord_Howe' },
    '2026-10-03T00:00:00Z',
    ['2026-10-03T15:30:00', '2026-10-04T15:15:00'],
  ],
  [
    'a midnight that does not exist',
    { cron: '0 0 * * *', timeZone: 'America/Sao_Paulo' },
    '2018-11-03T12:00:00Z',
    ['2018-11-04T03:00:00', '2018-11-05T02:00:00'],
  ],
  ['a day that never comes', { cron: '0 0 30 2 *' }, '2026-01-01T00:00:00Z', []],
  [
    'an interval from when it was seen',
    { every: '90s' },
    '2026-01-01T00:00:00.400Z',
    ['2026-01-01T00:01:31', '2026-01-01T00:03:01'],
  ],
  [
    'an interval from its start',
    { every: '1d', startAt: Date.parse('2026-01-01T09:00:00Z') },
    '2025-06-01T00:00:00Z',
    ['2026-01-01T09:00:00', '2026-01-02T09:00:00'],
  ],
  [
    'an interval whose start is long ago',
    { every: '7m', startAt: Date.parse('2020-01-01T00:00:00Z') },
    '2020-01-01T00:14:00Z',
    ['2020-01-01T00:21:00', '2020-01-01T00:28:00'],
  ],
  [
    'a time that clocks leave out in the only year of its pattern',
    { cron: '0 30 23 28 3 * 2026', timeZone: 'America/Nuuk' },
    '2026-01-01T00:00:00Z',
    ['2026-03-29T01:00:00'],
  ],
])('%s', (_name, input, after, expected) => {
  expect(times(input, after, Math.max(1, expected.length))).toEqual(expected)
})

test.each<PartialSchedule>([
  { cron: '*/5 * * * *', timeZone: 'Europe/Amsterdam' },
  { every: '5m' },
  { every: '5m', startAt: Date.parse('2026-01-01T00:00:00Z') },
])('the last of many: %o', (input) => {
  const planned = plannedTimes({ timeZone: 'UTC', ...input })
  const now = Date.parse('2026-10-25T03:00:00Z')
  const from = planned?.recent(100, now) ?? 0
  const found = []
  for (let time: number | undefined = from; time !== undefined && time <= now; time = planned?.next(time))
    found.push(time)
  expect(found.length).toBeGreaterThanOrEqual(99)
  expect(found.length).toBeLessThanOrEqual(101)
})

test('through five years, in zones of all kinds, times only go on', () => {
  for (const timeZone of ['Europe/Amsterdam', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'])
    for (const cron of ['30 2 * * *', '0 0 * * 1', '0 */6 * * *']) {
      const planned = plannedTimes({ cron, timeZone })
      let time = Date.parse('2024-01-01T00:00:00Z')
      for (let n = 0; n < 300; n++) {
        const next = planned?.next(time) ?? 0
        expect(next).toBeGreaterThan(time)
        time = next
      }
    }
})

test.each([
  ['Europe/Berlin', '2026-03-29', '2026-10-25'],
  ['America/New_York', '2026-03-08', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05', '2026-10-04'],
  ['Africa/Cairo', '2026-04-24', '2026-10-30'],
  ['America/Santiago', '2026-04-05', '2026-09-06'],
  ['Antarctica/Troll', '2026-03-29', '2026-10-25'],
  // From 23:00 to midnight.
  ['America/Nuuk', '2026-03-28', '2026-10-24'],
])('a time of the wall clock comes once for each day, when clocks change in %s', (timeZone, ...days) => {
  for (const day of days)
    for (const time of ['0 0', '30 0', '0 1', '30 1', '0 2', '30 2', '0 3', '0 23', '30 23', '59 23']) {
      const noon = Temporal.PlainDateTime.from(`${day}T12:00`)
      const at = (by: number) => noon.add({ days: by }).toZonedDateTime(timeZone).epochMilliseconds
      const planned = plannedTimes({ cron: `${time} * * *`, timeZone })
      const found: number[] = []
      for (let next = planned?.next(at(-2)); next !== undefined && next < at(3); next = planned?.next(next))
        found.push(next)
      expect([day, time, found.length]).toEqual([day, time, 5])
      expect(found).toEqual([...new Set(found)].sort())
    }
})
