import type { LiveBlueprints } from '../../../flows/live/live-blueprints.ts'
import { adviseStorage } from '../../../flows/live/storage-advice.ts'
import type { StorageContext } from '../../../records/storage-records.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { storageAdviceSchema } from '../../../shared/api/storage-advice.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** Which searches on a storage were slow, and which index would help them. */
export function storageAdviceRoutes(context: StorageContext, live: LiveBlueprints): RouteFamily {
  return (app) => {
    app.get(
      '/_system/storages/:guid/advice',
      {
        config: { permission: 'storages_view' },
        schema: {
          operationId: 'adviseStorage',
          summary: 'Slow searches of a storage, and indexes that would help',
          description:
            'Searches that were slow and read many documents since this process started: fields and operators (never values), count, and the index that would help, or why none can. Each process has its own list.',
          tags: ['Storages'],
          params: guidParams,
          response: { 200: storageAdviceSchema },
        },
      },
      (request) => adviseStorage(context, live, request.params.guid),
    )
  }
}
