import { expect, test } from 'vitest'
import { backOff } from './back-off.ts'

const lowest = (bytes: Uint8Array) => void bytes.fill(0)
const highest = (bytes: Uint8Array) => void bytes.fill(255)

test.each([
  [0, 500, 1_000],
  [1, 500, 1_000],
  [2, 1_000, 2_000],
  [3, 2_000, 4_000],
  [12, 1_024_000, 2_048_000],
  [13, 1_800_000, 3_600_000],
  [100, 1_800_000, 3_600_000],
  [5_000, 1_800_000, 3_600_000],
])('after attempt %i it waits from %i to %i ms', (attempt, least, most) => {
  expect(backOff(attempt, lowest)).toBe(least)
  expect(backOff(attempt, highest)).toBe(most)
})

test.each([
  [1, 60_000, 60_000],
  [2, 60_000, 120_000],
  [7, 60_000, 3_600_000],
  [1, 86_400_000, 86_400_000],
  [9, 86_400_000, 86_400_000],
])(
  'after attempt %i with a back-off of %i ms it waits %i ms at most, and half of it at least',
  (attempt, first, most) => {
    expect(backOff(attempt, lowest, first)).toBe(most / 2)
    expect(backOff(attempt, highest, first)).toBe(most)
  },
)
