/**
 * Values by key, bounded by their sizes together. What was used longest ago goes first, not one by one but by halves: there
 * are two, and what is found in the old half moves to the young one. When the young one is full, the old one is forgotten
 * and the young one is the old. So finding costs one or two look-ups in a Map, where keeping everything in the order of
 * its use would cost two changes of one.
 */
export interface RecentMemory<T> {
  get(key: string): T | undefined
  /** `size`: in whatever `most` counts. More than half of `most` is not kept. */
  set(key: string, value: T, size: number): void
}

interface Kept<T> {
  readonly value: T
  readonly size: number
}

export function recentMemory<T>(most: number): RecentMemory<T> {
  const half = most / 2
  let young = new Map<string, Kept<T>>()
  let old = new Map<string, Kept<T>>()
  let size = 0

  function add(key: string, kept: Kept<T>): void {
    if (size + kept.size > half) {
      old = young
      young = new Map()
      size = 0
    }
    young.set(key, kept)
    size += kept.size
  }

  return {
    get(key) {
      const known = young.get(key)
      if (known) return known.value
      const kept = old.get(key)
      if (kept) add(key, kept)
      return kept?.value
    },
    set(key, value, newSize) {
      const former = young.get(key)
      if (former) {
        young.delete(key)
        size -= former.size
      }
      old.delete(key)
      if (newSize <= half) add(key, { value, size: newSize })
    },
  }
}
