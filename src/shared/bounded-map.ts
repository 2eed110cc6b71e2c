/**
 * Values by key, bounded by their weights together: the entry that was used longest ago goes first. The one way in which
 * Quoin bounds what it remembers; each use says in its own file what a weight is and why `most` is enough.
 *
 * A Map iterates in the order in which keys were put in, so using an entry puts it back at the end: two changes of a Map,
 * about 0.2 µs. The entry that was used last stays where it is.
 */
export interface BoundedMap<K, V> {
  readonly size: number
  /** Counts as a use. */
  get(key: K): V | undefined
  has(key: K): boolean
  /** `weight`: 1 if not given. What is heavier than `most` is not kept; what had its key before goes all the same. */
  set(key: K, value: V, weight?: number): void
  delete(key: K): boolean
  clear(): void
  keys(): Iterable<K>
  values(): Iterable<V>
}

interface Entry<V> {
  readonly value: V
  readonly weight: number
}

export function boundedMap<K, V>(most: number): BoundedMap<K, V> {
  const entries = new Map<K, Entry<V>>()
  let held = 0
  let newest: K | undefined

  function remove(key: K): boolean {
    const entry = entries.get(key)
    if (entry === undefined) return false
    held -= entry.weight
    return entries.delete(key)
  }

  return {
    get size() {
      return entries.size
    },
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      if (key !== newest) {
        entries.delete(key)
        entries.set(key, entry)
        newest = key
      }
      return entry.value
    },
    has: (key) => entries.has(key),
    set(key, value, weight = 1) {
      remove(key)
      if (weight > most) return
      entries.set(key, { value, weight })
      newest = key
      held += weight
      for (const oldest of entries.keys()) {
        if (held <= most) return
        remove(oldest)
      }
    },
    delete: remove,
    clear() {
      entries.clear()
      held = 0
    },
    keys: () => entries.keys(),
    *values() {
      for (const { value } of entries.values()) yield value
    },
  }
}
