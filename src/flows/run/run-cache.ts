import type { Cache } from '../../blocks/context.ts'
import type { Clock } from '../../shared/clock.ts'

interface Entry {
  readonly value: unknown
  readonly until: number
  readonly bytes: number
}

const ENTRIES = 10_000
const BYTES = 64 * 1024 * 1024
/** What the key and the entry themselves take, roughly. */
const OVERHEAD = 200

/** Of one node: what it deletes is gone at once. */
export interface NodeCache extends Cache {
  delete(key: string): number
}

/**
 * Values by key on this node. When there are too many, or they are too large together, those that were used longest ago
 * go first: a Map keeps the order in which keys were put in, and reading a key puts it back at the end.
 */
export function runCache(
  clock: Clock,
  bounds: { entries: number; bytes: number } = { entries: ENTRIES, bytes: BYTES },
): NodeCache {
  const entries = new Map<string, Entry>()
  let held = 0
  let deletions = 0

  function forget(key: string): boolean {
    const entry = entries.get(key)
    if (!entry) return false
    held -= entry.bytes
    return entries.delete(key)
  }

  return {
    get deletions() {
      return deletions
    },
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.until <= clock()) {
        forget(key)
        return undefined
      }
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, seconds, size) {
      forget(key)
      const bytes = size + 2 * key.length + OVERHEAD
      if (bytes > bounds.bytes) return
      entries.set(key, { value, until: clock() + seconds * 1000, bytes })
      held += bytes
      for (const oldest of entries.keys()) {
        if (entries.size <= bounds.entries && held <= bounds.bytes) return
        forget(oldest)
      }
    },
    delete(key) {
      deletions++
      if (!key.endsWith('*')) return forget(key) ? 1 : 0
      const prefix = key.slice(0, -1)
      const found = [...entries.keys()].filter((known) => known.startsWith(prefix))
      for (const known of found) forget(known)
      return found.length
    },
  }
}
