import type { Random } from './guid.ts'

const POOL = 4096

/**
 * The same bytes in the same order, asked for 4096 at a time: a call of `crypto.getRandomValues` costs 2 µs for any size.
 * For identifiers; secrets are drawn one by one, so that none lies in memory before its time.
 */
export function pooledRandom(random: Random): Random {
  const pool = new Uint8Array(POOL)
  let used = POOL
  return (bytes) => {
    if (used + bytes.length > POOL) {
      random(pool)
      used = 0
    }
    for (let at = 0; at < bytes.length; at++) bytes[at] = pool[used + at] ?? 0
    used += bytes.length
  }
}
