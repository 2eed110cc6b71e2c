import { Type } from 'typebox'
import {
  databaseSchema,
  type Info,
  infoSchema,
  type NodeRecord,
  nodeSchema,
} from '../../../shared/api/operate/nodes.ts'
import type { MaybePromise } from '../../../shared/maybe-promise.ts'
import type { Capabilities } from '../../../storage/capabilities.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** Who is in the cluster. */
export function nodeRoutes(nodes: () => MaybePromise<readonly NodeRecord[]>): RouteFamily {
  return (app) => {
    app.get(
      '/_system/nodes',
      {
        config: { permission: 'nodes_view' },
        schema: {
          operationId: 'listNodes',
          summary: 'List nodes',
          description: 'Live nodes, and those that were live during the last hour, by name.',
          tags: ['Cluster'],
          response: { 200: Type.Array(nodeSchema) },
        },
      },
      async () => [...(await nodes())],
    )
  }
}

/** What the database says of itself. */
export function databaseRoutes({ engine, figures }: Pick<Capabilities, 'engine' | 'figures'>): RouteFamily {
  return (app) => {
    app.get(
      '/_system/database',
      {
        config: { permission: 'nodes_view', entityTag: false },
        schema: {
          operationId: 'readDatabaseFigures',
          summary: 'Size, log, commits, connections and cache of the database',
          tags: ['Cluster'],
          response: { 200: databaseSchema },
        },
      },
      async () => {
        const { sizeBytes, logBytes, commits, connections, cache } = await figures()
        return {
          ...{ engine, size_bytes: sizeBytes, log_bytes: logBytes, commits, connections },
          ...{ cache_hits: cache.hits, cache_misses: cache.misses },
        }
      },
    )
  }
}

/** Public information about the cluster. Nothing that helps an attacker: no paths, no counts of users. */
export function infoRoutes(info: () => MaybePromise<Omit<Info, 'api'>>): RouteFamily {
  return (app) => {
    app.get(
      '/info',
      {
        config: { permission: 'public' },
        schema: {
          operationId: 'getInfo',
          summary: 'Version, flags and host',
          tags: ['Cluster'],
          response: { 200: infoSchema },
        },
      },
      async () => ({ ...(await info()), api: 'v1' as const }),
    )
  }
}
