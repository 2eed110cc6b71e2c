import type { Random } from '../../src/shared/guid.ts'
import { seededRandom } from '../seeded-random.ts'

/** Choices that are the same for the same seed and name. */
export interface RandomSource {
  readonly bytes: Random
  /** From 0 to below 1. */
  number(): number
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number
  /** A whole number, both ends included. */
  between(low: number, high: number): number
  /** True that often: 0 = never, 1 = always. */
  chance(share: number): boolean
  oneOf<T>(items: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
}

/** `name` keeps parts apart: another part beside it does not change what this one draws. */
export function randomSource(seed: number, name: string): RandomSource {
  const bytes = seededRandom(
    [...name].reduce((mixed, letter) => Math.imul(mixed, 31) + letter.charCodeAt(0), seed),
  )
  const four = new Uint8Array(4)
  const view = new DataView(four.buffer)
  const number = () => {
    bytes(four)
    return view.getUint32(0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(number() * limit)
  return {
    bytes,
    number,
    below,
    between: (low, high) => low + below(high - low + 1),
    chance: (share) => number() < share,
    oneOf<T>(items: readonly T[]): T {
      const at = below(items.length)
      const [item] = items.slice(at, at + 1)
      if (items.length === 0 || item === undefined) throw new RangeError('There is nothing to choose from.')
      return item
    },
    shuffled: (items) =>
      items
        .map((item) => ({ item, place: number() }))
        .sort((a, b) => a.place - b.place)
        .map(({ item }) => item),
  }
}
