import type { Samples } from '../../../flows/samples/samples.ts'
import { blockTimesSchema } from '../../../shared/api/blocks/block-times.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** How often and how long blocks run. */
export function blockTimeRoutes(samples: Pick<Samples, 'read'>): RouteFamily {
  return (app) => {
    app.get(
      '/blueprints/:guid/block-times',
      {
        config: { permission: 'blueprints_view', alsoNeeds: ['blueprintactions_view'], entityTag: false },
        schema: {
          operationId: 'getBlockTimes',
          summary: 'Times of the blocks of a blueprint',
          description:
            'From sampled runs of the deployed version: the first run of each trigger in a second, on each node. Only times are kept, no values. Runs of other nodes are at most ten seconds late.',
          tags: ['Runs'],
          params: guidParams,
          response: { 200: blockTimesSchema },
        },
      },
      (request) => samples.read(request.params.guid),
    )
  }
}
