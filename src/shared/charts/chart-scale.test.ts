import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaleOver } from './chart-scale.ts'

test.each([
  [[], [0, 1]],
  [[0], [0, 1]],
  [
    [1, 2],
    [0, 1, 2],
  ],
  [[10], [0, 5, 10]],
  [[0.9], [0, 0.25, 0.5, 0.75, 1]],
  [
    [3, 7],
    [0, 2, 4, 6, 8],
  ],
  [[60_700], [0, 20_000, 40_000, 60_000, 80_000]],
  [
    [-40, 100],
    [-50, 0, 50, 100],
  ],
  [[-3], [-3, -2, -1, 0]],
])('over %j the axis has %j', (values, ticks) => {
  expect(scaleOver(values).ticks).toEqual(ticks)
})

test('every value and zero lie between the ends, on a few ticks that grow', () => {
  const value = fc
    .double({ min: -1e12, max: 1e12, noNaN: true })
    .filter((one) => one === 0 || Math.abs(one) > 1e-9)
  fc.assert(
    fc.property(fc.array(value, { maxLength: 20 }), (values) => {
      const { ticks, place, low, high } = scaleOver(values)
      for (const one of [0, ...values]) {
        expect(place(one)).toBeGreaterThanOrEqual(-1e-9)
        expect(place(one)).toBeLessThanOrEqual(1 + 1e-9)
      }
      expect([ticks.length >= 2, ticks.length <= 8, high > low]).toEqual([true, true, true])
      expect(ticks).toEqual([...new Set(ticks)].sort((a, b) => a - b))
    }),
  )
})
