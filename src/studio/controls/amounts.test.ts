import { describe, expect, it } from 'vitest'
import { bytes, duration, elapsed } from './amounts.ts'

describe('a time as people say it', () => {
  it.each([
    [100, 100, 'now'],
    [95, 100, 'now'],
    [70, 100, '30 sec. ago'],
    [0, 100, '1 min. ago'],
    [0, 7_300, '2 hr. ago'],
    [0, 86_400, 'yesterday'],
    [10_000, 100, 'in 2 hr.'],
    [0, 63_072_000, '2 yr. ago'],
  ])('%i at %i', (time, now, words) => {
    expect(elapsed(time, now, 'en')).toBe(words)
  })
})

describe('how long something took', () => {
  it.each([
    [0.123, '0.12 ms'],
    [3.21, '3.2 ms'],
    [840.4, '840 ms'],
    [3_210, '3.2 s'],
    [240_000, '4 min'],
    [7_200_000, '2.0 h'],
  ])('%f', (input, words) => {
    expect(duration(input)).toBe(words)
  })
})

describe('a size', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KB'],
    [1_572_864, '1.5 MB'],
    [157_286_400, '150 MB'],
    [Number.MAX_SAFE_INTEGER, '8192 TB'],
  ])('%i', (input, words) => {
    expect(bytes(input)).toBe(words)
  })
})
