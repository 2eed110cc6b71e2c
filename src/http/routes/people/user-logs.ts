import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import { userLogSchema } from '../../../shared/api/people/users.ts'
import { searchQuerySchema } from '../../../shared/api/search.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchBodyFromQuery, searchRequest } from '../search-request.ts'

const searchFields: readonly SearchField[] = [
  { name: 'event', type: 'string' },
  { name: 'user.guid', type: 'string' },
  { name: 'user.username', type: 'string', text: true },
  { name: 'ip', type: 'string', text: true },
  { name: 'agent', type: 'string', text: true },
  { name: 'method', type: 'string' },
  { name: 'path', type: 'string', text: true },
  { name: 'status', type: 'number' },
  { name: 'milliseconds', type: 'number' },
  { name: 'studio', type: 'boolean' },
  ...metaFields,
]

/** Who signed in, failed to, signed out, and what signed-in users asked for. */
export function userLogRoutes(access: Access): RouteFamily {
  return (app) => {
    app.get(
      '/_system/userlogs/search',
      {
        config: { permission: 'userlogs_view' },
        schema: {
          operationId: 'searchUserLogs',
          summary: 'Read user activity logs',
          description:
            'The last `QUOIN_KEEP_LOGS` days, newest first. Accepts the fields of other searches as query parameters.',
          tags: ['Logs'],
          querystring: searchQuerySchema,
          response: { 200: Type.Array(userLogSchema) },
        },
      },
      async (request, reply) => {
        const body = searchBodyFromQuery(request.query)
        return searchReply(reply, body, await access.searchUserLogs(searchRequest(body, searchFields)))
      },
    )
  }
}
