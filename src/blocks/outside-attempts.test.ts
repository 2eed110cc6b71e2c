import { describe, expect, test } from 'vitest'
import { type Attempts, attemptsIn, mayTryAgain, withAttempts } from './outside-attempts.ts'

const { signal } = new AbortController()
const circumstances = { signal, deadline: 5_000, now: () => 1_000 }

test.each(['soon', '0', '0s', '0ms', '31s', '1m', '-1s', '1.5s'])('back_off %j is refused', (back_off) => {
  const wrong = () => attemptsIn({ attempts: 3, back_off }, circumstances)
  expect(wrong).toThrow(expect.objectContaining({ pin: 'back_off' }))
})

test.each([
  [undefined, undefined, 1, 200],
  [4, '', 4, 200],
  [2, '500ms', 2, 500],
  [2, ' 3 ', 2, 3_000],
  [10, '30s', 10, 30_000],
])(
  'attempts %j and back_off %j are %i attempts, the second after %i ms',
  (attempts, back_off, most, backOff) => {
    expect(attemptsIn({ attempts, back_off }, circumstances)).toMatchObject({ most, backOff, until: 5_000 })
  },
)

describe('attempts', () => {
  const attempts = (changes: Partial<Attempts> = {}): Attempts => ({
    ...{ most: 3, backOff: 2, until: Number.POSITIVE_INFINITY, now: Date.now, signal },
    ...changes,
  })
  const lost = new Error('lost')
  const failing = (times: number, error = lost) => {
    let done = 0
    const work = async () => {
      done += 1
      if (done <= times) throw error
      return done
    }
    return { work, count: () => done }
  }
  const isLost = (error: unknown) => error === lost

  test('go on until one succeeds', async () => {
    const { work, count } = failing(2)
    expect(await withAttempts(attempts(), isLost, work)).toBe(3)
    expect(count()).toBe(3)
  })

  test('end with the failure of the last one', async () => {
    const { work, count } = failing(9)
    await expect(withAttempts(attempts(), isLost, work)).rejects.toBe(lost)
    expect(count()).toBe(3)
  })

  test('end with a failure that another attempt would not mend', async () => {
    const { work, count } = failing(1, new Error('wrong'))
    await expect(withAttempts(attempts(), isLost, work)).rejects.toThrow('wrong')
    expect(count()).toBe(1)
  })

  test('pause twice as long each time, less up to half of it, 30 s at most', async () => {
    const paused: number[] = []
    for (const [done, chance] of [
      [1, 0],
      [1, 0.999],
      [2, 1],
      [3, 1],
      [9, 1],
    ] as const) {
      // The longest deadline that refuses the pause tells how long it is.
      let [shortest, longest] = [0, 40_000]
      while (shortest < longest) {
        const until = Math.floor((shortest + longest) / 2)
        const ended = AbortSignal.abort(new Error('over'))
        const one = attempts({
          most: 10,
          backOff: 1_000,
          until,
          now: () => 0,
          chance: () => chance,
          signal: ended,
        })
        if (await mayTryAgain(one, done).catch(() => true)) longest = until
        else shortest = until + 1
      }
      paused.push(shortest - 1)
    }
    expect(paused).toEqual([500, 999, 2_000, 4_000, 30_000])
  })

  test('do not begin after the deadline of the run, and say at once what failed', async () => {
    const { work, count } = failing(9)
    const began = Date.now()
    const late = attempts({ backOff: 4_000, until: began + 1_000 })
    await expect(withAttempts(late, isLost, work)).rejects.toBe(lost)
    expect([count(), Date.now() - began < 900]).toEqual([1, true])
  })

  test('stop with the run', async () => {
    const ends = new AbortController()
    const { work, count } = failing(9)
    const asked = withAttempts(attempts({ backOff: 20_000, signal: ends.signal }), isLost, work)
    await expect.poll(count).toBe(1)
    ends.abort(new Error('over'))
    await expect(asked).rejects.toThrow('over')
  })
})
