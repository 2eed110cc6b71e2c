/**
 * Values by key, bounded by their weights together: the entry that was used longest ago goes first. The one way in which
 * Quoin bounds what it remembers; each use says in its own file what a weight is and why `most` is enough.
 *
 * Entries are linked in the order of their use. Putting a used one back at the end of a Map would do the same, and takes two
 * changes of a Map for each use: 3 % of a cached reply.
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

interface Entry<K, V> {
  readonly key: K
  readonly value: V
  readonly weight: number
  older: Entry<K, V> | undefined
  newer: Entry<K, V> | undefined
}

export function boundedMap<K, V>(most: number): BoundedMap<K, V> {
  const entries = new Map<K, Entry<K, V>>()
  let held = 0
  let oldest: Entry<K, V> | undefined
  let newest: Entry<K, V> | undefined

  function append(entry: Entry<K, V>): void {
    entry.older = newest
    entry.newer = undefined
    if (newest) newest.newer = entry
    else oldest = entry
    newest = entry
  }

  function unlink({ older, newer }: Entry<K, V>): void {
    if (older) older.newer = newer
    else oldest = newer
    if (newer) newer.older = older
    else newest = older
  }

  function remove(key: K): boolean {
    const entry = entries.get(key)
    if (entry === undefined) return false
    held -= entry.weight
    unlink(entry)
    return entries.delete(key)
  }

  function* inOrder(): Generator<Entry<K, V>> {
    for (let entry = oldest; entry; entry = entry.newer) yield entry
  }

  return {
    get size() {
      return entries.size
    },
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      if (entry !== newest) {
        unlink(entry)
        append(entry)
      }
      return entry.value
    },
    has: (key) => entries.has(key),
    set(key, value, weight = 1) {
      remove(key)
      if (weight > most) return
      const entry = { key, value, weight, older: undefined, newer: undefined }
      entries.set(key, entry)
      append(entry)
      held += weight
      while (held > most && oldest) remove(oldest.key)
    },
    delete: remove,
    clear() {
      entries.clear()
      oldest = undefined
      newest = undefined
      held = 0
    },
    *keys() {
      for (const { key } of inOrder()) yield key
    },
    *values() {
      for (const { value } of inOrder()) yield value
    },
  }
}
