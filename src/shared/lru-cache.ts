/**
 * Values by key, bounded by their weights together: the entry that was used longest ago goes first. The one way in which
 * Quoin bounds what it remembers; each use says in its own file what a weight is and why `most` is enough.
 *
 * Entries are linked in the order of their use. Putting a used one back at the end of a Map would do the same, and takes two
 * changes of a Map for each use: 3 % of a cached reply.
 */
export interface LruCache<K, V> {
  readonly size: number
  /** Counts as a use. */
  get(key: K): V | undefined
  has(key: K): boolean
  /** `weight`: 1 if not given. What is heavier than `most` is not kept; what had its key before goes all the same. */
  set(key: K, value: V, weight?: number): void
  /** Another weight for what has grown or shrunk, if it is there. No use of it; what is heavier than `most` goes. */
  weigh(key: K, weight: number): void
  delete(key: K): boolean
  clear(): void
  keys(): Iterable<K>
  values(): Iterable<V>
  /** The one used longest ago comes first. */
  entries(): Iterable<readonly [K, V]>
}

interface Bounds<V> {
  /** Entries at most, whatever they weigh. */
  readonly entries?: number
  /** Told of a value that has made room for others; not of one that was deleted or replaced. */
  readonly evicted?: (value: V) => void
}

interface Entry<K, V> {
  readonly key: K
  readonly value: V
  weight: number
  older: Entry<K, V> | undefined
  newer: Entry<K, V> | undefined
}

export function lruCache<K, V>(most: number, bounds: Bounds<V> = {}): LruCache<K, V> {
  return new LinkedEntries(most, bounds)
}

class LinkedEntries<K, V> implements LruCache<K, V> {
  readonly #most: number
  readonly #mostEntries: number
  readonly #evicted: Bounds<V>['evicted']
  readonly #entries = new Map<K, Entry<K, V>>()
  #held = 0
  #oldest: Entry<K, V> | undefined
  #newest: Entry<K, V> | undefined

  constructor(most: number, { entries = Infinity, evicted }: Bounds<V>) {
    this.#most = most
    this.#mostEntries = entries
    this.#evicted = evicted
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry !== this.#newest) {
      this.#unlink(entry)
      this.#append(entry)
    }
    return entry.value
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  set(key: K, value: V, weight = 1): void {
    this.delete(key)
    if (weight > this.#most) return
    const entry = { key, value, weight, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#append(entry)
    this.#held += weight
    this.#makeRoom()
  }

  weigh(key: K, weight: number): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#held += weight - entry.weight
    entry.weight = weight
    if (weight > this.#most) this.#evict(entry)
    else this.#makeRoom()
  }

  delete(key: K): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined) return false
    this.#held -= entry.weight
    this.#unlink(entry)
    return this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#oldest = undefined
    this.#newest = undefined
    this.#held = 0
  }

  *keys(): Generator<K> {
    for (let entry = this.#oldest; entry; entry = entry.newer) yield entry.key
  }

  *values(): Generator<V> {
    for (let entry = this.#oldest; entry; entry = entry.newer) yield entry.value
  }

  *entries(): Generator<readonly [K, V]> {
    for (let entry = this.#oldest; entry; entry = entry.newer) yield [entry.key, entry.value]
  }

  #makeRoom(): void {
    while (this.#oldest && (this.#held > this.#most || this.#entries.size > this.#mostEntries))
      this.#evict(this.#oldest)
  }

  #evict({ key, value }: Entry<K, V>): void {
    this.delete(key)
    this.#evicted?.(value)
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest) this.#newest.newer = entry
    else this.#oldest = entry
    this.#newest = entry
  }

  #unlink({ older, newer }: Entry<K, V>): void {
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
  }
}
