import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testClock } from '../../test/temporary-storage.ts'
import { tokenBuckets } from './rate-limit.ts'

describe('token buckets', () => {
  it('gives one second’s worth at once and then says how long to wait', () => {
    const clock = testClock()
    const take = tokenBuckets(clock)
    expect(Array.from({ length: 6 }, () => take('a', 5))).toEqual([0, 0, 0, 0, 0, 0.2])
    clock.now += 200
    expect([take('a', 5), take('a', 5)]).toEqual([0, 0.2])
  })

  it('keeps addresses apart and forgets the oldest of too many', () => {
    const take = tokenBuckets(testClock(), 2)
    expect([take('a', 1), take('b', 1), take('a', 1)]).toEqual([0, 0, 1])
    take('c', 1)
    expect([take('b', 1), take('a', 1)]).toEqual([1, 0])
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
      fc.property(fc.integer({ min: 1, max: 50 }), steps, (perSecond, waits) => {
        const clock = testClock()
        const take = tokenBuckets(clock)
        const start = clock.now
        let passed = 0
        for (const wait of waits) {
          clock.now += wait
          if (take('a', perSecond) === 0) passed += 1
        }
        expect(passed).toBeLessThanOrEqual(perSecond + ((clock.now - start) / 1000) * perSecond + 1e-6)
      }),
    )
  })
})
