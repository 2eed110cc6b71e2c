import { expect, test } from 'vitest'
import type { FailedPlace } from './lockout.ts'
import { lockedUntil, withFailure, withoutPlace } from './lockout.ts'

const limits = { lockoutAttempts: 3, lockoutSeconds: 900 }
const home = { key: '203.0.113.7', known: true }
const stranger = { key: '198.51.100.0/24', known: false }
const other = { key: '192.0.2.0/24', known: false }

function failed(place: typeof home, times: number, places: readonly FailedPlace[] = [], now = 1_000) {
  let after = places
  for (let count = 0; count < times; count++) after = withFailure(after, place, now, limits)
  return after
}

test('each place is locked by its own failures, and unknown ones by ten times as many together', () => {
  expect(lockedUntil(failed(home, 2), home)).toBe(0)
  expect(lockedUntil(failed(home, 3), home)).toBe(1_900)
  expect(lockedUntil(failed(home, 300), stranger)).toBe(0)
  expect(lockedUntil(failed(stranger, 3), stranger)).toBe(1_900)
  expect(lockedUntil(failed(stranger, 29), other)).toBe(0)
  expect(lockedUntil(failed(stranger, 30), other)).toBe(1_900)
  expect(lockedUntil(failed(stranger, 30), home)).toBe(0)
})

test('a success ends the failures of its place only', () => {
  const places = failed(stranger, 2, failed(home, 2))
  expect(withoutPlace(places, home).map(({ place }) => place)).toEqual([stranger.key, '*'])
  expect(withoutPlace(places, stranger).map(({ place }) => place)).toEqual([home.key, '*'])
  expect(withoutPlace(places, other)).toBe(places)
})

test('a lock that is over, and a day without failures, start the count again', () => {
  const [again] = failed(home, 1, failed(home, 3), 1_900)
  expect(again).toEqual({ place: home.key, failed: 1, locked_until: 0, until: 1_900 + 86_400 })
  expect(failed(home, 1, failed(home, 2), 1_000 + 86_399)[0]?.failed).toBe(3)
  expect(failed(home, 1, failed(home, 2), 1_000 + 86_400)[0]?.failed).toBe(1)
  // Those of unknown networks together count from the first one.
  const halfADay = failed(stranger, 1, failed(stranger, 1), 1_000 + 43_200)
  expect(failed(stranger, 1, halfADay, 1_000 + 86_400)).toMatchObject([
    { place: stranger.key, failed: 3 },
    { place: '*', failed: 1 },
  ])
})

test('at most 150 places are kept: those that are locked, and those that failed last', () => {
  const many = { lockoutAttempts: 100, lockoutSeconds: 900 }
  const place = (index: number) => ({ key: `198.19.${index}.0/24`, known: false })
  let places: readonly FailedPlace[] = [
    { place: 'locked', failed: 100, locked_until: 2_000, until: 2_000 },
    { place: 'over', failed: 100, locked_until: 1_000, until: 2_000 },
  ]
  for (let index = 0; index < 170; index++) places = withFailure(places, place(index), 1_000 + index, many)
  expect(places).toHaveLength(150)
  const kept = places.map(({ place: name }) => name)
  expect(kept).toEqual(expect.arrayContaining(['*', 'locked', place(22).key, place(169).key]))
  for (const gone of ['over', place(0).key, place(21).key]) expect(kept).not.toContain(gone)
  expect(places).toContainEqual(expect.objectContaining({ place: '*', failed: 170 }))
})
