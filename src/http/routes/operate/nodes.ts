import { Type } from 'typebox'
import { type NodeRecord, nodeSchema } from '../../../shared/api/operate/nodes.ts'
import type { MaybePromise } from '../../../shared/maybe-promise.ts'
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
