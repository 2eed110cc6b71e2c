/** The cache of a node among others: a deletion is over when every node has done it. */
import type { Cache } from '../../blocks/context.ts'
import type { Database } from '../../storage/database.ts'
import type { NodeCache } from './run-cache.ts'

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
      await cluster.tell(topic, [key])
      return deleted
    },
  }
  return { cache, close }
}
