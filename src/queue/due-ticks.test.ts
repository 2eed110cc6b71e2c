/** Which planned times are due, and which of them run. */
import { expect, test } from 'vitest'
import { type DueTick, dueTick, dueTimes, missedTicks } from './due-ticks.ts'
import { plannedTimes } from './planned-times.ts'

const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const times = plannedTimes({ timeZone: 'UTC', every: '1m', startAt: START })
const due = (from: number, now: number) => (times ? dueTimes(times, from, now) : [])

test.each<[string, number, number, readonly number[]]>([
  ['a time to come is not due', START, START - 1, []],
  ['a time is due at its moment', START, START, [0]],
  ['and all before it that have not run', START, START + 2 * MINUTE, [0, 1, 2]],
  ['not the one after now', START, START + 2 * MINUTE + 59_999, [0, 1, 2]],
  ['from the next one on', START + MINUTE, START + 2 * MINUTE, [1, 2]],
])('%s', (_what, from, now, minutes) => {
  expect(due(from, now)).toEqual(minutes.map((minute) => START + minute * MINUTE))
})

test('of more than 1,000 missed times the last 1,000 are due', () => {
  expect(due(START, START + 999 * MINUTE)).toHaveLength(1_000)
  const missed = due(START, START + 5_000 * MINUTE)
  expect([missed.length, missed[0], missed.at(-1)]).toEqual([
    1_000,
    START + 4_001 * MINUTE,
    START + 5_000 * MINUTE,
  ])
})

test.each([
  ['all', true, true],
  ['last', false, true],
  ['none', false, false],
] as const)('with catchUp %s a late tick runs: %s, and the last one: %s', (catchUp, each, last) => {
  const at = { last: START + MINUTE, now: START + 10 * MINUTE, open: 0 }
  const runs = (plannedAt: number) => dueTick({ overlap: 'skip', catchUp }, plannedAt, at)
  expect(runs(START)).toEqual({ plannedAt: START, late: true, runs: each })
  expect(runs(START + MINUTE)).toEqual({ plannedAt: START + MINUTE, late: true, runs: last })
})

test.each([
  ['skip', 0, true],
  ['skip', 1, false],
  ['queue', 1, true],
  ['allow', 1, true],
] as const)(
  'with overlap %s and %i ticks that wait or run, a tick on time runs: %s',
  (overlap, open, runs) => {
    // Up to 10 s old.
    for (const now of [START, START + 10_000])
      expect(dueTick({ overlap, catchUp: 'none' }, START, { last: START, now, open })).toEqual({
        ...{ plannedAt: START, late: false, runs },
      })
    const late = dueTick({ overlap, catchUp: 'none' }, START, { last: START, now: START + 10_001, open })
    expect(late).toEqual({ plannedAt: START, late: true, runs: false })
  },
)

test.each<[readonly DueTick[], RegExp]>([
  [
    [{ plannedAt: START, late: true, runs: true }],
    /^A planned time of "Report" at 2026-01-01T00:00:00\.000Z passed .* late for each of them/,
  ],
  [
    [
      { plannedAt: START, late: true, runs: false },
      { plannedAt: START + MINUTE, late: true, runs: true },
      { plannedAt: START + 2 * MINUTE, late: false, runs: true },
    ],
    /^2 planned times of "Report" from 2026-01-01T00:00:00\.000Z to 2026-01-01T00:01:00\.000Z passed .* Never started: 2026-01-01T00:00:00\.000Z\./,
  ],
])(
  'times that are missed are named, one by its moment and several by the first and last',
  (ticks, message) => {
    const schedule = {
      ...{ id: 'b a', blueprint: 'b', block: 'a', title: 'Report', timeZone: 'UTC' },
      ...({ overlap: 'skip', catchUp: 'last' } as const),
    }
    expect(missedTicks(schedule, ticks, START)?.message).toMatch(message)
  },
)
