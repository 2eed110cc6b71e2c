import type { Cache } from '../../blocks/context.ts'
import { boundedMap } from '../../shared/bounded-map.ts'
import type { Clock } from '../../shared/clock.ts'

interface Entry {
  readonly value: unknown
  readonly until: number
}

const ENTRIES = 10_000
const BYTES = 64 * 1024 * 1024
/** What the key and the entry themselves take, roughly. */
const OVERHEAD = 200

/** Of one node: what it deletes is gone at once. */
export interface NodeCache extends Cache {
  delete(key: string): number
}

/** Values by key on this node. Each counts with at least its share of the bytes, so that the number is bounded too. */
export function runCache(
  clock: Clock,
  bounds: { entries: number; bytes: number } = { entries: ENTRIES, bytes: BYTES },
): NodeCache {
  const entries = boundedMap<string, Entry>(bounds.bytes)
  const least = Math.floor(bounds.bytes / bounds.entries)
  let deletions = 0

  return {
    get deletions() {
      return deletions
    },
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.until <= clock()) {
        entries.delete(key)
        return undefined
      }
      return entry.value
    },
    set(key, value, seconds, size) {
      const bytes = size + 2 * key.length + OVERHEAD
      entries.set(key, { value, until: clock() + seconds * 1000 }, Math.max(bytes, least))
    },
    delete(key) {
      deletions++
      if (!key.endsWith('*')) return entries.delete(key) ? 1 : 0
      const prefix = key.slice(0, -1)
      const found = [...entries.keys()].filter((known) => known.startsWith(prefix))
      for (const known of found) entries.delete(known)
      return found.length
    },
  }
}
