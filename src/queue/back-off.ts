import type { Random } from '../shared/guid.ts'

const FIRST = 1_000
const LONGEST = 3_600_000

/**
 * Milliseconds to wait before a job is tried again, after it was begun `attempt` times: `first`, doubled each time, at most an
 * hour, or `first` if that is longer. Half of it is chance, so that jobs that failed together do not come back together.
 */
export function backOff(attempt: number, random: Random, first = FIRST): number {
  const longest = Math.min(Math.max(LONGEST, first), first * 2 ** (Math.max(1, attempt) - 1))
  const bytes = new Uint8Array(2)
  random(bytes)
  const chance = (((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)) / 65_535
  return Math.round((longest * (1 + chance)) / 2)
}
