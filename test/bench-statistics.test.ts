import { expect, test } from 'vitest'
import { straightLine } from '../bench/growing/straight-line.ts'
import { Latencies } from '../bench/latencies.ts'
import { median, ratioOf } from '../bench/statistics.ts'

test.each([
  [[], Number.NaN],
  [[3], 3],
  [[9, 1, 5], 5],
  [[10, 2, 4, 100], 7],
])('the median of %j is %d', (numbers, middle) => {
  expect(median(numbers)).toBe(middle)
})

test('ratios are taken round by round, not of the medians', () => {
  // The machine was ten times slower in the second round; ours is twice as fast in each.
  expect(ratioOf([200, 20, 220], [100, 10, 110])).toEqual({ median: 2, lowest: 2, highest: 2 })
  expect(ratioOf([1, 3, 2], [1, 1, 1])).toEqual({ median: 2, lowest: 1, highest: 3 })
  expect(ratioOf([1, 2], [1]).median).toBeNaN()
})

test('latencies tell within which time a share of the requests was answered', () => {
  const latencies = new Latencies()
  expect(latencies.within(0.5)).toBeNaN()
  for (let number = 0; number < 100; number++) latencies.note(number)
  expect(latencies.total).toBe(100)
  expect(latencies.within(0.5)).toBeCloseTo(49.01)
  expect(latencies.within(0.99)).toBeCloseTo(98.01)
  expect(latencies.within(1)).toBeCloseTo(99.01)
})

test('latencies of several rounds are one', () => {
  const [first, second] = [new Latencies(), new Latencies()]
  first.note(1)
  second.note(5)
  second.note(70_000)
  first.add(second)
  expect(first.total).toBe(3)
  expect(first.within(0.5)).toBeCloseTo(5.01)
  // Longer than a second counts as a second.
  expect(first.within(1)).toBeCloseTo(1000.01)
})

test('a line goes through the first and the last point, and says how far those between are from it', () => {
  const line = straightLine([
    [1, 10],
    [3, 25],
    [6, 60],
  ])
  expect([line.at(1), line.at(6), line.at(11)]).toEqual([10, 60, 110])
  expect(line.off).toBeCloseTo(0.2)
  expect(
    straightLine([
      [1, 10],
      [3, 30],
      [6, 60],
    ]).off,
  ).toBeCloseTo(0)
  expect(() => straightLine([[1, 10]])).toThrow('two points')
})
