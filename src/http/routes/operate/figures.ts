import { readFigures } from '../../../records/figures/read-figures.ts'
import { figuresQuery, figuresSchema } from '../../../shared/api/operate/figures.ts'
import type { Clock } from '../../../shared/clock.ts'
import type { Database } from '../../../storage/database.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** What the cluster served over time. */
export function figureRoutes({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: Clock
}): RouteFamily {
  return (app) => {
    app.get(
      '/_system/figures',
      {
        config: { permission: 'nodes_view', entityTag: false },
        schema: {
          operationId: 'readFigures',
          summary: 'Requests, failures, latency and queues over time',
          description:
            'Kept for a week in steps of ten minutes, and for a day in minutes. A minute is stored when it is over.',
          tags: ['Cluster'],
          querystring: figuresQuery,
          response: { 200: figuresSchema },
        },
      },
      async ({ query: { range = 'day', until = Math.floor(clock() / 1000), node } }) =>
        readFigures(database, { range, until, node }),
    )
  }
}
