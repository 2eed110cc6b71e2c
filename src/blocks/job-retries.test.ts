import { expect, test } from 'vitest'
import { jobRetriesIn } from './job-retries.ts'

test.each(['', 'soon', '0s', '0', '25h', '2d', '-1s'])('back_off %j is refused', (back_off) => {
  expect(() => jobRetriesIn({ attempts: 3, back_off })).toThrow(expect.objectContaining({ pin: 'back_off' }))
})

test.each([
  [3, '1s', undefined],
  [3, '1', undefined],
  [1, '1s', { attempts: 1 }],
  [3, '5m', { backOff: 300_000 }],
  [100, '1d', { attempts: 100, backOff: 86_400_000 }],
])('%i attempts with the back-off %s are %j', (attempts, back_off, retries) => {
  expect(jobRetriesIn({ attempts, back_off })).toEqual(retries)
})
