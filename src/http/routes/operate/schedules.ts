import { Type } from 'typebox'
import { scheduleSchema, tickSchema } from '../../../shared/api/operate/queues.ts'
import { searchQuerySchema, searchSchema } from '../../../shared/api/search.ts'
import type { Search } from '../../../shared/query.ts'
import type { RecordPage } from '../../../shared/record-page.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchBodyFromQuery, searchRequest } from '../search-request.ts'

/** What plans, as far as these routes look at it. */
export interface PlannedSchedules {
  searchSchedules(requested: Search): Promise<RecordPage>
  searchTicks(requested: Search): Promise<RecordPage>
  isRunning(schedule: string): Promise<boolean>
}

const whose: readonly SearchField[] = [
  { name: 'schedule', type: 'string' },
  { name: 'blueprint', type: 'string' },
  { name: 'block', type: 'string' },
]

const scheduleFields: readonly SearchField[] = [
  ...whose,
  { name: 'title', type: 'string', text: true },
  { name: 'cron', type: 'string' },
  { name: 'every', type: 'string' },
  { name: 'time_zone', type: 'string' },
  { name: 'overlap', type: 'string' },
  { name: 'catch_up', type: 'string' },
  { name: 'next_at', type: 'number' },
  { name: 'last_at', type: 'number' },
  { name: 'lost_at', type: 'number' },
  ...metaFields,
]

const tickFields: readonly SearchField[] = [
  ...whose,
  { name: 'planned_at', type: 'number' },
  { name: 'late', type: 'boolean' },
  { name: 'state', type: 'string' },
  { name: 'job', type: 'string' },
  ...metaFields,
]

const tags = ['Queue']

/** Planned times and their results. */
export function scheduleRoutes(planned: PlannedSchedules): RouteFamily {
  return (app) => {
    app.get(
      '/queue/schedules',
      {
        config: { permission: 'queue_view' },
        schema: {
          operationId: 'listSchedules',
          summary: 'List schedules of active blueprints, with their next time',
          tags,
          querystring: searchQuerySchema,
          response: { 200: Type.Array(scheduleSchema) },
        },
      },
      async (request, reply) => {
        const body = searchBodyFromQuery(request.query)
        return searchReply(reply, body, await planned.searchSchedules(searchRequest(body, scheduleFields)))
      },
    )

    app.post(
      '/queue/schedules/ticks/search',
      {
        config: { permission: 'queue_view', bodyOptional: true },
        schema: {
          operationId: 'searchScheduleTicks',
          summary: 'Results of the planned times of schedules',
          description: 'The last 30 days, newest first. Filter by `schedule` to list those of one.',
          tags,
          body: searchSchema,
          response: { 200: Type.Array(tickSchema) },
        },
      },
      async (request, reply) =>
        searchReply(reply, request.body, await planned.searchTicks(searchRequest(request.body, tickFields))),
    )
  }
}
