import type { Cache } from '../../blocks/context.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { Clock } from '../../shared/clock.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import type { Database } from '../../storage/database.ts'

interface Entry {
  readonly value: unknown
  readonly until: number
}

const ENTRIES = 10_000
const BYTES = 64 * 1024 * 1024
/** What the key and the entry themselves take, roughly. */
const OVERHEAD = 200

/** Of one node: what it deletes is gone at once. */
interface NodeCache extends Cache {
  delete(key: string): number
}

/** Values by key on this node. Each counts with at least its share of the bytes, so that the number is bounded too. */
export function runCache(
  clock: Clock,
  bounds: { entries: number; bytes: number } = { entries: ENTRIES, bytes: BYTES },
): NodeCache {
  const entries = lruCache<string, Entry>(bounds.bytes)
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

// The cache of a node among others: a deletion is over when every node has done it.

/** What the nodes tell each other under; no storage has such a name. */
const topic = 'cache deletions'

export interface ClusterCache {
  readonly cache: Cache
  close(): void
}

/** Where there is one node, the node's cache itself. */
export function openClusterCache(database: Database, node: NodeCache): ClusterCache {
  const { changes, cluster } = database.capabilities
  if (cluster === undefined) return { cache: node, close: () => undefined }
  const close = changes.watch(topic, (keys) => {
    for (const key of keys ?? ['*']) node.delete(key)
  })
  const cache: Cache = {
    get deletions() {
      return node.deletions
    },
    get: (key) => node.get(key),
    set: (key, value, seconds, bytes) => node.set(key, value, seconds, bytes),
    async delete(key) {
      const deleted = node.delete(key)
      await cluster.notify(topic, [key])
      return deleted
    },
  }
  return { cache, close }
}

/** Longer ones are not kept: most are asked for once, and a client can send 16 KB of them with each request. */
const LONGEST = 1_000

/**
 * What a repeatable flow can read of its request, as text: the path parameters and the query, from the same objects that
 * the flow is handed, in their order. The address itself is not part of it: two requests with one key read equal values,
 * whatever their addresses look like. Undefined when it is too long to be kept.
 *
 * Each name and value stands behind its length, so no value can look like two. JSON would do the same: it takes 1.2 µs for
 * two parameters, this 0.5 µs.
 */
export function addressKey({ path, query }: Pick<RunRequest, 'path' | 'query'>): string | undefined {
  let key = ''
  for (const name in path) key += sized(name) + sized(path[name] ?? '')
  key += '?'
  for (const name in query) {
    const value = query[name] ?? ''
    key += sized(name) + (typeof value === 'string' ? sized(value) : `[${value.map(sized).join('')}]`)
    if (key.length > LONGEST) return undefined
  }
  return key.length > LONGEST ? undefined : key
}

function sized(text: string): string {
  return `${text.length}:${text}`
}
