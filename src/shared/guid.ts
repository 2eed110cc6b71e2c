import type { Clock } from './clock.ts'

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function isGuid(text: string): boolean {
  return GUID.test(text)
}

/** Fills the array with random bytes; `crypto.getRandomValues` in life, seeded in tests. */
export interface Random {
  (bytes: Uint8Array<ArrayBuffer>): void
  /** Of one that can begin again: another number each time. What was drawn or counted before does not count then. */
  readonly round?: number | undefined
  /** Bytes of their own for a part that draws many, so that what others draw does not change them. */
  readonly stream?: (() => Random) | undefined
}

/**
 * A source of UUIDv7 (RFC 9562): 48 bits of milliseconds, a 12-bit counter, 62 random bits. Two from one source are
 * always in the order they were made, also within one millisecond and when the clock steps back: the counter starts
 * low each millisecond and, when it would overflow, the time runs ahead by one. `before`: a time that all are later than.
 */
export function guidSource(clock: Clock, random: Random, before = -1): () => string {
  let last = before
  /** As if the millisecond before the first one were full. */
  let counter = 0xfff
  /** The 48 bits of `last`, as they are written. */
  let time = ''
  let round = random.round
  const bytes = new Uint8Array(10)
  const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
  const pair = (at: number) => hex[bytes[at] ?? 0] ?? '00'
  return () => {
    random(bytes)
    if (random.round !== round) {
      round = random.round
      last = before
      counter = 0xfff
    }
    const now = clock()
    if (now > last) {
      last = now
      time = written(last)
      counter = ((bytes[8] ?? 0) << 2) | ((bytes[9] ?? 0) & 3)
    } else if (++counter > 0xfff) {
      last += 1
      time = written(last)
      counter = 0
    }
    bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x80
    const count = counter.toString(16).padStart(3, '0')
    return `${time}-7${count}-${pair(0)}${pair(1)}-${pair(2)}${pair(3)}${pair(4)}${pair(5)}${pair(6)}${pair(7)}`
  }
}

function written(milliseconds: number): string {
  const time = milliseconds.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

const POOL = 4096

/**
 * The same bytes in the same order, asked for 4096 at a time: a call of `crypto.getRandomValues` costs 2 µs for any size.
 * For identifiers; secrets are drawn one by one, so that none lies in memory before its time.
 */
export function pooledRandom(source: Random): Random {
  const random = source.stream?.() ?? source
  const pool = new Uint8Array(POOL)
  let used = POOL
  let { round } = random
  const pooled: Random = (bytes) => {
    if (used + bytes.length > POOL || random.round !== round) {
      round = random.round
      random(pool)
      used = 0
    }
    for (let at = 0; at < bytes.length; at++) bytes[at] = pool[used + at] ?? 0
    used += bytes.length
  }
  return Object.defineProperty(pooled, 'round', { get: () => random.round })
}
