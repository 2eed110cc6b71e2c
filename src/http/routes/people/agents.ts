import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import { agentGrantParams, agentGrantSchema, agentOfUserParams } from '../../../shared/api/people/agents.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'

const tags = ['Agents']
const OWN = '/users/me/agents'
const OF_USER = '/users/:guid/agents'

/** Agents that users have let in by OAuth. Each route exists twice: under `me` and under a guid. */
export function agentGrantRoutes(access: Access): RouteFamily {
  return (app) => {
    ownRoutes(app, access)
    otherRoutes(app, access)
  }
}

function ownRoutes(app: App, { agents }: Access): void {
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

function otherRoutes(app: App, { agents, sessions }: Access): void {
  app.get(
    OF_USER,
    {
      config: { permission: 'users_view' },
      schema: {
        operationId: 'listAgentsOfUser',
        summary: 'Agents that a user has let in',
        tags,
        params: guidParams,
        response: { 200: Type.Array(agentGrantSchema) },
      },
    },
    async (request) => [...(await agents.list(request.params.guid))],
  )
  app.delete(
    `${OF_USER}/:agent`,
    {
      config: { permission: 'users_update' },
      schema: {
        operationId: 'endAgentOfUser',
        summary: 'End what a user has allowed an agent',
        description: 'Its tokens are refused on every node when the reply arrives.',
        tags,
        params: agentOfUserParams,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const { guid, agent } = request.params
      await sessions.endAgent(guid, agent, callerOf(request))
      return { guid: agent, removed: true } as const
    },
  )
}
