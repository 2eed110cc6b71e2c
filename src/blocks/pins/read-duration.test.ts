import { expect, test } from 'vitest'
import { readDuration } from './read-duration.ts'

test.each(['', ' ', '-1', '1.5h', '5 min', '5M', '1w', 'm', '1d2h', '99999999999', '5  m'])(
  '%j is no duration',
  (text) => {
    expect(readDuration(text)).toBeUndefined()
  },
)

test.each([
  ['0', 0],
  ['90', 90_000],
  ['30s', 30_000],
  [' 5 m ', 300_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
])('%j is %d ms', (text, milliseconds) => {
  expect(readDuration(text)).toBe(milliseconds)
})
