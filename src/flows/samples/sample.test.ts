import { expect, test } from 'vitest'
import { addTime, addTimes, countOf, type StepTimes, timeAt } from './sample.ts'

const timesOf = (...all: number[]): StepTimes => {
  const times: StepTimes = new Map()
  for (const one of all) addTime(times, one)
  return times
}

test.each<[string, number[], number, number]>([
  ['nothing', [], 0.5, 0],
  ['one', [1_000], 0.5, 1_000],
  ['the lower half', [10, 10, 1_000, 1_000], 0.5, 10],
  [
    'the slow ones',
    [...Array.from({ length: 90 }, () => 10), ...Array.from({ length: 10 }, () => 5_000)],
    0.95,
    5_000,
  ],
  [
    '5 of 100 do not count',
    [...Array.from({ length: 95 }, () => 10), ...Array.from({ length: 5 }, () => 5_000)],
    0.95,
    10,
  ],
  ['as long as a run may take', [30_000_000], 0.95, 30_000_000],
])('%s', (_, all, share, expected) => {
  const found = timeAt(timesOf(...all), share)
  expect(found).toBeGreaterThanOrEqual(Math.floor(expected * 0.9))
  expect(found).toBeLessThanOrEqual(Math.ceil(expected * 1.1))
})

test.each([0, -1, 0.2])('%d µs is as short as it gets', (one) => expect(timeAt(timesOf(one), 0.5)).toBe(0))

test('the number of steps is bounded, and counts are added up', () => {
  const times = timesOf(...Array.from({ length: 20_000 }, (_, at) => at ** 2), 1e300)
  expect(times.size).toBeLessThan(102)
  addTimes(times, [...times])
  expect(countOf(times)).toBe(40_002)
})
