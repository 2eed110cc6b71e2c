import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import { agentGrantParams, agentGrantSchema } from '../../../shared/api/people/agents.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'

const tags = ['Agents']
const OWN = '/users/me/agents'

/** Agents that the calling user has let in by OAuth. */
export function agentGrantRoutes({ agents }: Access): RouteFamily {
  return (app) => {
    app.get(
      OWN,
      {
        config: { permission: 'signed-in' },
        schema: {
          operationId: 'listMyAgents',
          summary: 'Agents that the calling user has let in',
          tags,
          response: { 200: Type.Array(agentGrantSchema) },
        },
      },
      async (request) => [...(await agents.list(callerOf(request).guid))],
    )
    app.delete(
      `${OWN}/:agent`,
      {
        config: { permission: 'signed-in', errors: ['INSUFFICIENT_PERMISSIONS'] },
        schema: {
          operationId: 'endMyAgent',
          summary: 'End what the calling user has allowed an agent',
          description: 'Its tokens are refused on every node when the reply arrives.',
          tags,
          params: agentGrantParams,
          response: { 200: removedSchema },
        },
      },
      async (request) => {
        await agents.end(request.params.agent, callerOf(request))
        return { guid: request.params.agent, removed: true } as const
      },
    )
  }
}
