import { expect, test } from 'vitest'
import { sameTime, timeWords } from './block-time.ts'

const time = { block: 'a', passes: 120, p50_us: 400, p95_us: 12_400 }

test('a time is told in the units of people', () => {
  expect(timeWords(time)).toEqual({
    ...{ passes: '×120', median: '0.40 ms', most: '12 ms', used: '' },
    spoken: '120 passes, median 0.40 ms, 95 % below 12 ms',
  })
})

test.each([
  [{ tokens: 12_345, cost: 0.25 }, '12,345 tokens, cost 0.25'],
  [{ tokens: 12_345, cost: 0 }, '12,345 tokens'],
])('what a model used, %j, is told beside the time', (use, used) => {
  expect(timeWords({ ...time, ...use })).toMatchObject({
    used,
    spoken: expect.stringContaining(`12 ms, ${used}`),
  })
})

test.each([
  [time, { ...time }, true],
  [time, { ...time, cost: 1 }, false],
  [undefined, undefined, true],
  [time, undefined, false],
  [time, { ...time, passes: 121 }, false],
  [time, { ...time, p95_us: 1 }, false],
])('%j and %j', (one, other, same) => expect(sameTime(one, other)).toBe(same))
