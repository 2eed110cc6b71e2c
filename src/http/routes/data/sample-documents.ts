import { addSampleDocuments } from '../../../records/documents/sample-documents.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import type { StorageContext } from '../../../records/storage-records.ts'
import { importedSchema, samplesSchema } from '../../../shared/api/data/documents.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../search-reply.ts'
import { asCaller } from './as-caller.ts'

/** Documents that come with a blueprint file. */
export function sampleDocumentRoutes(context: StorageContext, permissions: Permissions): RouteFamily {
  return (app) => {
    app.post(
      '/_system/storages/samples',
      {
        config: {
          bodyBytes: 'setting',
          permission: 'storages_create',
          errors: ['CONFLICT', 'DENIED_BY_RULE'],
        },
        schema: {
          operationId: 'addSampleDocuments',
          summary: 'Add the documents of a blueprint file',
          description:
            'All or none, and only into a storage that never held a document: else 0 are imported. The storage is created if it is missing.',
          tags: ['Documents'],
          body: samplesSchema,
          response: { 200: importedSchema },
        },
      },
      async (request) => ({
        imported: await addSampleDocuments(
          context,
          asCaller(context, permissions, request).records.database,
          request.body,
          actorOf(request),
        ),
      }),
    )
  }
}
