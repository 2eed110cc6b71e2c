import { Type } from 'typebox'
import type { RecordContext } from '../../../records/records.ts'
import { auditLogSchema } from '../../../shared/api/operate/audit-logs.ts'
import { searchSchema } from '../../../shared/api/search.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { findPage } from '../../../storage/find-page.ts'
import { ownStorages } from '../../../storage/own-storages.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchRequest } from '../search-request.ts'

const searchFields: readonly SearchField[] = [
  { name: 'category', type: 'string', text: true },
  { name: 'action', type: 'string' },
  { name: 'guid', type: 'string' },
  { name: 'name', type: 'string', text: true },
  { name: 'user.guid', type: 'string' },
  { name: 'user.username', type: 'string', text: true },
  { name: 'changes', type: 'string', text: true },
  ...metaFields,
]

/** Reading the audit log. There is no route that writes it, and there must be none. */
export function auditLogRoutes(records: RecordContext): RouteFamily {
  return (app) => {
    app.post(
      '/_system/auditlogs',
      {
        config: { permission: 'auditlogs_view', bodyOptional: true },
        schema: {
          operationId: 'searchAuditLogs',
          summary: 'Read the audit log',
          description: 'Each management write with user and the values before and after, newest first.',
          tags: ['Logs'],
          body: searchSchema,
          response: { 200: Type.Array(auditLogSchema) },
        },
      },
      async (request, reply) => {
        const page = await findPage(
          records.database.session(),
          ownStorages.auditLogs,
          searchRequest(request.body, searchFields),
        )
        return searchReply(reply, request.body, { ...page, records: page.records.map(withStates) })
      },
    )
  }
}

function withStates({ states, ...record }: JsonObject): JsonObject {
  const [before = null, after = null] = Array.isArray(states) ? states : []
  return { ...record, before, after }
}
