import { databaseSchema } from '../../../shared/api/operate/database.ts'
import type { Capabilities } from '../../../storage/capabilities.ts'
import type { RouteFamily } from '../../server/route-family.ts'

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
