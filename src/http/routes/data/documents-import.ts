import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { auditMany, auditTransfer } from '../../../records/audited-documents.ts'
import type { DocumentImports, Imported as DoneImport } from '../../../records/documents/document-import.ts'
import { undoDoneImport } from '../../../records/documents/import-journal.ts'
import type { ImportPreview } from '../../../records/documents/import-preview.ts'
import { sentProblem } from '../../../records/documents/import-problems.ts'
import { rowsOf } from '../../../records/documents/table-import-rows.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import { notFound } from '../../../records/records.ts'
import { type StorageContext, storageNamed } from '../../../records/storage-records.ts'
import {
  importedSchema,
  importParams,
  importQuery,
  previewQuery,
  previewSchema,
  undoneSchema,
} from '../../../shared/api/data/documents.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import { CSV, NDJSON, XLSX } from '../../../shared/files/file-types.ts'
import { isGuid } from '../../../shared/guid.ts'
import type { RecognizedFormat } from '../../../shared/rows/recognized-table.ts'
import { transact } from '../../../storage/transact.ts'
import { allowSlowBody } from '../../limits/slow-body.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../search-reply.ts'
import { asCaller } from './as-caller.ts'
import { type FileQuery, fileReading } from './import-file.ts'

const tags = ['Documents']
const consumes = [NDJSON, CSV, XLSX]
const path = '/_system/storages/:guid/documents/import'

interface Parts {
  readonly context: StorageContext
  readonly imports: DocumentImports
  readonly permissions: Permissions
}

/** Documents from files: NDJSON, CSV and XLSX, streamed. */
export function documentImportRoutes(
  context: StorageContext,
  imports: DocumentImports,
  permissions: Permissions,
): RouteFamily {
  return (app) => {
    app.removeAllContentTypeParsers()
    for (const type of consumes)
      app.addContentTypeParser(type, (_request, payload, done) => done(null, payload))
    const parts = { context, imports, permissions }
    importRoute(app, parts)
    previewRoute(app, parts)
    undoRoute(app, parts)
  }
}

function importRoute(app: App, { context, imports, permissions }: Parts): void {
  app.post(
    path,
    {
      config: {
        permission: 'storages_create',
        errors: ['CONFLICT', 'STORAGE_FULL', 'DENIED_BY_RULE', 'INVALID_QUERY'],
      },
      onRequest: allowSlowBody(),
      schema: {
        operationId: 'importDocuments',
        summary: 'Import documents into a storage',
        description:
          'NDJSON: one document per line, or with `rows=arrays` an array of cells, the first with the names of columns. CSV and XLSX: names of columns in the first line, or in line `header`; cells are converted to the types of the fields, empty ones are left out. All or none: an error names the first line that is refused and lists the first 100 as `details.lines`, and nothing is imported; `skip_invalid` imports the others. With `wrong_cells` they come with their cells and what is wrong with each field, up to 1,000. Valid values of `_meta.guid`, `created` and `expiry` are kept. The path accepts the name of the storage instead of its guid.',
        tags,
        params: guidParams,
        querystring: importQuery,
        consumes,
        body: Type.Unsafe<AsyncIterable<Buffer>>({ description: 'One document per line.' }),
        response: { 200: importedSchema },
      },
    },
    async (request, reply) => {
      refuseLong(request, reply, imports.limit)
      const name = await storageNamed(context, request.params.guid)
      const {
        skip_invalid: skip = false,
        undo: canUndo = false,
        wrong_cells: detailed,
        id,
        ...file
      } = request.query
      if (id !== undefined && !isGuid(id)) throw invalidField('id', 'The id must be a UUIDv7.')
      const reading = await readingOf(context, name, request, file)
      return whole(request, async () => {
        const { undo, ...done } = await imports.run(
          name,
          request.body,
          { user: actorOf(request) },
          {
            database: asCaller(context, permissions, request).records.database,
            whenWritten: (session, count) => auditTransfer(context.audit, session, name, 'imported', count),
            rows: rowsOf(reading),
            skip,
            undo: canUndo,
            ...(detailed && { detailed }),
            ...(id !== undefined && { named: { id, user: actorOf(request).guid } }),
          },
        )
        const { imported } = done
        return { imported, ...(skip && refusedReply(done)), ...(undo !== undefined && { undo }) }
      })
    },
  )
}

function refusedReply({ refused, problems, refusedLines, columns }: Omit<DoneImport, 'undo'>) {
  return {
    refused,
    problems: problems.map(sentProblem),
    ...(refused > problems.length && { refused_lines: refusedLines }),
    ...(columns.length > 0 && { columns: columns.map((one) => ({ ...one })) }),
  }
}

function previewRoute(app: App, { context, imports, permissions }: Parts): void {
  app.post(
    `${path}/preview`,
    {
      config: { permission: 'storages_create', errors: ['INVALID_QUERY'] },
      onRequest: allowSlowBody(),
      schema: {
        operationId: 'previewImport',
        summary: 'Show what an import would store',
        description:
          'The first 20 rows, each as it would be stored or with what is wrong with it. With `recognize` also the line of the names, and how columns write numbers and days. Stores nothing. Send the file, or its beginning with `beginning`, at most 4 MiB; of XLSX the whole file.',
        tags,
        params: guidParams,
        querystring: previewQuery,
        consumes,
        body: Type.Unsafe<AsyncIterable<Buffer>>({ description: 'One document per line.' }),
        response: { 200: previewSchema },
      },
    },
    async (request) => {
      const name = await storageNamed(context, request.params.guid)
      const { recognize = false, beginning, ...file } = request.query
      const reading = { ...(await readingOf(context, name, request, file)), isBeginning: beginning }
      const preview = await whole(request, () =>
        imports.preview(
          name,
          request.body,
          { user: actorOf(request) },
          {
            database: asCaller(context, permissions, request).records.database,
            reading,
            recognize,
          },
        ),
      )
      return previewReply(preview)
    },
  )
}

function previewReply({ columns, rows, header, dialect }: ImportPreview): Static<typeof previewSchema> {
  return {
    ...(dialect && { dialect: dialectReply(dialect) }),
    ...(header !== undefined && { header }),
    columns: columns.map(({ format, ...column }) => ({
      ...column,
      ...(format && { format: formatReply(format) }),
    })),
    rows: rows.map(({ problem, cells, ...row }) => ({
      ...row,
      ...(cells && { cells: [...cells] }),
      ...(problem && { problem: sentProblem(problem) }),
    })),
  }
}

function dialectReply({ sheets, ...dialect }: NonNullable<ImportPreview['dialect']>) {
  return { ...dialect, ...(sheets && { sheets: [...sheets] }) }
}

function formatReply({ format, sample, readings }: RecognizedFormat) {
  return { ...(format && { format }), sample, readings: readings.map((one) => ({ ...one })) }
}

function undoRoute(app: App, { context, permissions }: Parts): void {
  app.delete(
    '/_system/storages/:guid/documents/imports/:import',
    {
      config: { permission: 'storages_remove', errors: ['DENIED_BY_RULE'] },
      schema: {
        operationId: 'undoImport',
        summary: 'Undo an import',
        description:
          'Deletes the documents that it has created permanently. Those that were changed or removed since, or that others refer to, stay.',
        tags,
        params: importParams,
        response: { 200: undoneSchema },
      },
    },
    async (request) => {
      const { guid, import: id } = request.params
      const storage = await storageNamed(context, guid)
      const { database } = context.records
      const permitted = asCaller(context, permissions, request).records.database
      const origin = { user: actorOf(request) }
      const undone = await database.capabilities.withClusterLock(`undo ${id}`, () =>
        undoDoneImport(database, permitted, { storage, id }, origin),
      )
      if (!undone) throw notFound(id, 'import that can be undone')
      const { deleted } = undone
      await transact(
        database,
        (session) =>
          auditMany(
            context.audit,
            session,
            { storage, kind: 'delete', mutations: [] },
            { documents: deleted },
          ),
        origin,
      )
      return { ...undone }
    },
  )
}

function readingOf(context: StorageContext, name: string, request: FastifyRequest, query: FileQuery) {
  return fileReading(context.records.database.session(), name, request.headers['content-type'], query)
}

function refuseLong(request: FastifyRequest, reply: FastifyReply, limit: number): void {
  const length = request.headers['content-length']
  if (length === undefined || Number(length) <= limit) return
  reply.header('connection', 'close')
  throw new QuoinError('FILE_TOO_BIG', `An import has at most ${limit} bytes. Send it in parts.`)
}

async function whole<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Of the disk, and not of the connection.
    const isOfDisk = error instanceof Error && 'syscall' in error && error.syscall !== 'read'
    if (error instanceof QuoinError || request.raw.complete || isOfDisk) throw error
    throw new QuoinError('INVALID_BODY', 'The body is cut off. Nothing was imported.', { cause: error })
  }
}
