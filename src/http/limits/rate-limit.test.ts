import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testClock } from '../../../test/test-database.ts'
import { tokenBuckets } from './rate-limit.ts'

describe('token buckets', () => {
  it('gives one second’s worth at once and then says how long to wait', () => {
    const clock = testClock()
    const take = tokenBuckets(clock)
    expect(Array.from({ length: 6 }, () => take('a', 5))).toEqual([0, 0, 0, 0, 0, 0.2])
    clock.now += 200
    expect([take('a', 5), take('a', 5)]).toEqual([0, 0.2])
  })

  it.each([
    [0.5, 2_000],
    [0.1, 10_000],
  ])('at %d a second lets one through at once and then one every %d ms', (perSecond, pause) => {
    const clock = testClock()
    const take = tokenBuckets(clock)
    for (let round = 0; round < 3; round++) {
      expect([take('a', perSecond), take('a', perSecond)]).toEqual([0, pause / 1000])
      clock.now += pause / 2
      expect(take('a', perSecond)).toBeCloseTo(pause / 2000)
      clock.now += pause / 2
    }
    clock.now += 100 * pause
    expect([take('a', perSecond), take('a', perSecond)]).toEqual([0, pause / 1000])
  })

  it('keeps addresses apart and forgets, of too many, the one that asked the longest time ago', () => {
    const take = tokenBuckets(testClock(), 2)
    expect([take('a', 1), take('b', 1), take('a', 1)]).toEqual([0, 0, 1])
    take('c', 1)
    expect([take('a', 1), take('b', 1)]).toEqual([1, 0])
  })

  it('is not emptied by a clock that steps back', () => {
    const clock = testClock()
    const take = tokenBuckets(clock)
    take('a', 2)
    clock.now -= 60_000
    expect(take('a', 2)).toBe(0)
  })

  it('never lets more through than the burst and the time allow', () => {
    const steps = fc.array(fc.nat({ max: 400 }), { maxLength: 200 })
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constantFrom(0.1, 0.5, 1.5)),
        steps,
        (perSecond, waits) => {
          const clock = testClock()
          const take = tokenBuckets(clock)
          const start = clock.now
          let passed = 0
          for (const wait of waits) {
            clock.now += wait
            if (take('a', perSecond) === 0) passed += 1
          }
          expect(passed).toBeLessThanOrEqual(
            Math.max(1, perSecond) + ((clock.now - start) / 1000) * perSecond + 1e-6,
          )
        },
      ),
    )
  })
})
