import { Type } from 'typebox'
import { preparationSchema } from '../../../shared/api/data/preparations.ts'
import type { Indexes } from '../../../storage/capabilities.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** How far the database is with what an activation waits for. */
export function preparationRoutes(indexes: Pick<Indexes, 'preparing'>): RouteFamily {
  return (app) => {
    app.get(
      '/_system/preparations',
      {
        config: { permission: 'blueprints_view' },
        schema: {
          operationId: 'listPreparations',
          summary: 'Progress of index and free text builds',
          description:
            'Indexes, free text and columns being built for storages with many documents, on any node. A deploy or an activation that needs an index or free text replies when it is finished. Columns are filled in the background after an upgrade or a new index, and nothing waits for them. Empty on the embedded engine.',
          tags: ['Storages'],
          response: { 200: Type.Array(preparationSchema) },
        },
      },
      async () => [...(await indexes.preparing())],
    )
  }
}
