import type { Random } from '../src/shared/guid.ts'

/** Bytes that are the same in each run (mulberry32). For tests only. */
export function seededRandom(seed: number): Random {
  let state = seed
  return (bytes) => {
    for (let index = 0; index < bytes.length; index++) {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      bytes[index] = (mixed ^ (mixed >>> 14)) & 0xff
    }
  }
}
