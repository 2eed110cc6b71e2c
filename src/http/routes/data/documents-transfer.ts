import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { auditTransfer } from '../../../records/audited-documents.ts'
import { exportDocuments } from '../../../records/documents/document-export.ts'
import type { DocumentImports } from '../../../records/documents/document-import.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import { type StorageContext, storageNamed } from '../../../records/storage-records.ts'
import { exportResponse, importedSchema, NDJSON } from '../../../shared/api/documents.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { matchAll } from '../../../shared/query.ts'
import { transact } from '../../../storage/transact.ts'
import { allowSlowBody } from '../../limits/slow-body.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'
import { asCaller } from './as-caller.ts'

const tags = ['Documents']

/** Whole storages in and out as NDJSON, streamed both ways. */
export function documentTransferRoutes(
  context: StorageContext,
  imports: DocumentImports,
  permissions: Permissions,
): RouteFamily {
  return (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(NDJSON, (_request, payload, done) => done(null, payload))

    app.get(
      '/_system/storages/:guid/documents/export',
      {
        config: { permission: 'storages_view', entityTag: false },
        schema: {
          operationId: 'exportDocuments',
          summary: 'Export all documents of a storage',
          description: 'NDJSON: one document per line, oldest first. Removed documents are omitted.',
          tags,
          params: guidParams,
          response: { 200: exportResponse },
        },
      },
      async (request, reply) => {
        const name = await storageNamed(context, request.params.guid)
        const { database } = asCaller(context, permissions, request).records
        // Before the first byte, so that no document leaves without its record.
        if (request.method !== 'HEAD')
          await transact(
            database,
            async (session) =>
              auditTransfer(context.audit, session, name, 'exported', await session.count(name, matchAll)),
            { user: actorOf(request) },
          )
        reply
          .type(`${NDJSON}; charset=utf-8`)
          .header('content-disposition', `attachment; filename="${name}.ndjson"`)
        if (request.method === 'HEAD') return reply.send(Readable.from([]))
        return reply.send(Readable.from(exportDocuments(database, name), { objectMode: false }))
      },
    )

    app.post(
      '/_system/storages/:guid/documents/import',
      {
        config: { permission: 'storages_create', errors: ['CONFLICT', 'STORAGE_FULL', 'DENIED_BY_RULE'] },
        onRequest: allowSlowBody(),
        schema: {
          operationId: 'importDocuments',
          summary: 'Import documents into a storage',
          description:
            'NDJSON: one document per line. All or none: an error names the line, and nothing is imported. Valid values of `_meta.guid`, `created` and `expiry` are kept. The path accepts the name of the storage instead of its guid.',
          tags,
          params: guidParams,
          consumes: [NDJSON],
          body: Type.Unsafe<AsyncIterable<Buffer>>({ description: 'One document per line.' }),
          response: { 200: importedSchema },
        },
      },
      async (request, reply) => {
        const { limit } = imports
        const length = request.headers['content-length']
        if (length !== undefined && Number(length) > limit) {
          reply.header('connection', 'close')
          throw new QuoinError('FILE_TOO_BIG', `An import has at most ${limit} bytes. Send it in parts.`)
        }
        const name = await storageNamed(context, request.params.guid)
        try {
          const origin = { user: actorOf(request) }
          const imported = await imports.run(name, request.body, origin, {
            database: asCaller(context, permissions, request).records.database,
            whenWritten: (session, count) => auditTransfer(context.audit, session, name, 'imported', count),
          })
          return { imported }
        } catch (error) {
          if (error instanceof QuoinError || request.raw.complete) throw error
          throw new QuoinError('INVALID_BODY', 'The body is cut off. Nothing was imported.', { cause: error })
        }
      },
    )
  }
}
