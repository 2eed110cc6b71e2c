import { Type } from 'typebox'
import type { LiveBlueprints } from '../../../flows/live/live-blueprints.ts'
import { adviseStorage } from '../../../flows/live/storage-advice.ts'
import { createTextIndex, type StorageContext } from '../../../records/storage-records.ts'
import { preparationSchema, storageAdviceSchema, textIndexSchema } from '../../../shared/api/data/storages.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { Indexes } from '../../../storage/capabilities.ts'
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
            'Searches that were slow and read many documents since this node started: fields and operators (never values), count, and the index that would help, or why none can. Each node has its own list.',
          tags: ['Storages'],
          params: guidParams,
          response: { 200: storageAdviceSchema },
        },
      },
      (request) => adviseStorage(context, live, request.params.guid),
    )

    app.post(
      '/_system/storages/:guid/text-index',
      {
        config: { permission: 'storages_update' },
        schema: {
          operationId: 'createTextIndex',
          summary: 'Create the index for free text of a storage',
          description:
            'Replies when it is finished, which takes a while for many documents; one that exists is left as it is. Searches for words then read what they find instead of every document. Each write keeps it current. It stays until the storage is deleted.',
          tags: ['Storages'],
          params: guidParams,
          response: { 200: textIndexSchema },
        },
      },
      async (request) => {
        await createTextIndex(context, request.params.guid)
        return { text_index: true as const }
      },
    )
  }
}

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
