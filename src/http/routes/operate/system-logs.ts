import { Type } from 'typebox'
import type { Flows } from '../../../flows/flows.ts'
import { systemLogSchema } from '../../../shared/api/operate/system-logs.ts'
import { searchSchema } from '../../../shared/api/search.ts'
import { findPage } from '../../../storage/find-page.ts'
import { ownStorages } from '../../../storage/own-storages.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchRequest } from '../search-request.ts'

const searchFields: readonly SearchField[] = [
  { name: 'level', type: 'string' },
  { name: 'message', type: 'string', text: true },
  { name: 'run', type: 'string' },
  { name: 'blueprint', type: 'string' },
  { name: 'block', type: 'string' },
  { name: 'pin', type: 'string' },
  ...metaFields,
]

/** What the cluster and its flows logged. */
export function systemLogRoutes({ records, log }: Pick<Flows, 'records' | 'log'>): RouteFamily {
  return (app) => {
    app.post(
      '/_system/systemlogs/search',
      {
        config: { permission: 'systemlogs_view', bodyOptional: true },
        schema: {
          operationId: 'searchSystemLogs',
          summary: 'Read cluster system logs',
          description: 'Free text searches `message`. Filter by `run` to list the records of one run.',
          tags: ['Logs'],
          body: searchSchema,
          response: { 200: Type.Array(systemLogSchema) },
        },
      },
      async (request, reply) => {
        const wanted = searchRequest(request.body, searchFields)
        // Entries wait for their batch; a client that asks for a run expects its entries.
        await log.flush()
        return searchReply(
          reply,
          request.body,
          await findPage(records.database.session(), ownStorages.systemLogs, wanted),
        )
      },
    )
  }
}
