import { expect, test } from 'vitest'
import { latencyAt, latencySteps } from './figure-row.ts'

test.each<[string, number, readonly number[], number | null]>([
  ['no requests have none', 0.5, [], null],
  ['no requests in any step', 0.95, [0, 0, 0], null],
  ['half of one step', 0.5, [10], 0.5],
  ['between two steps', 0.5, [2, 2], 1],
  ['in the third of four', 0.95, [0, 0, 100], 4.9],
  ['longer than the last step', 0.5, [...latencySteps.map(() => 0), 3], 30_000],
])('%s', (_, share, buckets, milliseconds) => {
  expect(latencyAt(share, buckets)).toBe(milliseconds)
})
