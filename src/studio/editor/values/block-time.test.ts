import { expect, test } from 'vitest'
import { sameTime, timeWords } from './block-time.ts'

const time = { block: 'a', passes: 120, p50_us: 400, p95_us: 12_400 }

test('a time is told in the units of people', () => {
  expect(timeWords(time)).toEqual({
    ...{ passes: '×120', median: '0.40 ms', most: '12 ms' },
    spoken: '120 passes, median 0.40 ms, 95 % below 12 ms',
  })
})

test.each([
  [time, { ...time }, true],
  [undefined, undefined, true],
  [time, undefined, false],
  [time, { ...time, passes: 121 }, false],
  [time, { ...time, p95_us: 1 }, false],
])('%j and %j', (one, other, same) => expect(sameTime(one, other)).toBe(same))
