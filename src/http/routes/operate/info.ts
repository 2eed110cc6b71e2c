import type { Info } from '../../../shared/api/info.ts'
import { infoSchema } from '../../../shared/api/info.ts'
import type { MaybePromise } from '../../../shared/maybe-promise.ts'
import type { RouteFamily } from '../../server/route-family.ts'

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
