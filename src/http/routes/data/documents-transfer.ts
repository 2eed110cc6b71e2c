import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { currencyOfField } from '../../../blocks/field-currency.ts'
import { auditTransfer } from '../../../records/audited-documents.ts'
import {
  csvLines,
  type ExportColumns,
  exportDocuments,
  exportSheet,
} from '../../../records/documents/document-export.ts'
import { referringSearch } from '../../../records/documents/referred-documents.ts'
import { rulesIn } from '../../../records/fields/field-rules.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import { type StorageContext, storageNamed } from '../../../records/storage-records.ts'
import { exportQuery, exportResponse } from '../../../shared/api/data/documents.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { fieldNameProblem } from '../../../shared/field-path.ts'
import { CSV, NDJSON, XLSX } from '../../../shared/files/file-types.ts'
import { matchAll } from '../../../shared/query.ts'
import type { Session } from '../../../storage/database.ts'
import { namingFields } from '../../../storage/reference/reference-by-name.ts'
import { type Reference, referencesIn } from '../../../storage/reference/references.ts'
import { transact } from '../../../storage/transact.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../search-reply.ts'
import { searchBodyFromQuery } from '../search-request.ts'
import { asCaller } from './as-caller.ts'
import { documentSearch } from './document-search.ts'

/** Documents of a storage as NDJSON, CSV or XLSX, streamed. */
export function documentTransferRoutes(context: StorageContext, permissions: Permissions): RouteFamily {
  return (app) => {
    app.get(
      '/_system/storages/:guid/documents/export',
      {
        config: { permission: 'storages_view', entityTag: false, errors: ['INVALID_QUERY'] },
        schema: {
          operationId: 'exportDocuments',
          summary: 'Export documents of a storage',
          description:
            'All of them, or those that `filters` and `query` find, as a search by GET. NDJSON has one document per line; CSV has the fields of `columns`, lists and objects as JSON, and an apostrophe before text that a spreadsheet would take for a formula. XLSX has the same columns in one sheet, numbers, conditions and dates as such, lists with semicolons, and at most 1,048,575 rows. Oldest first unless `sort` is given. Removed documents are omitted.',
          tags: ['Documents'],
          params: guidParams,
          querystring: exportQuery,
          response: { 200: exportResponse },
        },
      },
      async (request, reply) => {
        const name = await storageNamed(context, request.params.guid)
        const { database } = asCaller(context, permissions, request).records
        const session = database.session()
        const requested = documentSearch(searchOf(request.query))
        const { query, sort } = await referringSearch(session, name, requested)
        const columns = await columnsOf(session, name, request.query)
        const isSheet = request.query.format === 'xlsx'
        const asked = request.method === 'HEAD' ? 0 : await session.count(name, query ?? matchAll)
        const content = isSheet
          ? await exportSheet(database, name, { query, sort }, { columns, count: asked })
          : await exportDocuments(database, name, {
              query,
              sort,
              ...(columns.fields.length > 0 && { columns, lines: csvLines(columns) }),
            })
        // Before the first byte, so that no document leaves without its record.
        if (request.method !== 'HEAD')
          await transact(
            database,
            (audited) => auditTransfer(context.audit, audited, name, 'exported', asked),
            { user: actorOf(request) },
          )
        const pieces = request.method === 'HEAD' ? [] : content
        return sendFile(request, reply, name, Readable.from(pieces, { objectMode: false }))
      },
    )
  }
}

function sendFile(
  request: FastifyRequest<{ Querystring: Static<typeof exportQuery> }>,
  reply: FastifyReply,
  name: string,
  content: Readable,
): FastifyReply {
  const { format = 'ndjson' } = request.query
  return reply
    .type(format === 'xlsx' ? XLSX : `${format === 'csv' ? CSV : NDJSON}; charset=utf-8`)
    .header('content-disposition', `attachment; filename="${name}.${format}"`)
    .send(content)
}

function searchOf({ format, columns, references, ...search }: Static<typeof exportQuery>) {
  return searchBodyFromQuery(search)
}

/** None for NDJSON, which has whole documents. */
async function columnsOf(
  session: Session,
  name: string,
  { format = 'ndjson', columns, references: by = 'guid' }: Static<typeof exportQuery>,
): Promise<ExportColumns> {
  if (format === 'ndjson') return { fields: [], references: [] }
  const rules = await rulesIn(session, name)
  const fields = columns === undefined ? rules.map((rule) => rule.name) : listed(columns)
  if (fields.length === 0)
    throw new QuoinError('INVALID_QUERY', 'The storage has no fields. Give columns: a JSON list of fields.', {
      fields: ['columns'],
    })
  const currencies: (string | undefined)[] = []
  if (format === 'xlsx') {
    const rulesOf = (storage: string) => (storage === name ? rules : rulesIn(session, storage))
    for (const field of fields) currencies.push(await currencyOfField(name, field, rulesOf))
  }
  const references = referencesIn(rules).of(name)
  const names = by === 'name' ? await namesOf(session, references) : new Map<string, string>()
  const typed = fields.map((field) => rules.find((rule) => rule.name === field))
  return { fields, references, currencies, names, rules: typed }
}

/** The first unique text field of each storage that is referred to: what an import finds its documents by. */
async function namesOf(session: Session, references: readonly Reference[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const { field, storage } of references) {
    const [name] = namingFields(await rulesIn(session, storage))
    if (name !== undefined) names.set(field, name)
  }
  return names
}

/** Columns of a table. */
const MOST_COLUMNS = 500

function listed(text: string): readonly string[] {
  const names = parsed(text)
  const isList = Array.isArray(names) && names.length > 0 && names.length <= MOST_COLUMNS
  if (isList && names.every((name): name is string => typeof name === 'string' && !fieldNameProblem(name)))
    return names
  throw new QuoinError('INVALID_QUERY', `columns must be a JSON list of 1 to ${MOST_COLUMNS} fields.`, {
    fields: ['columns'],
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
