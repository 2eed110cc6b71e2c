import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import {
  endedSchema,
  sessionOfUserParams,
  sessionParams,
  sessionSchema,
} from '../../../shared/api/people/auth.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'

const tags = ['Sessions']
const OWN = '/users/me/sessions'
const OF_USER = '/users/:guid/sessions'
const atOnce = 'Its access token is refused on every node when the reply arrives.'

/** Where a user is signed in: each access token is a session. Each route exists twice: under `me` and under a guid. */
export function sessionRoutes(access: Access): RouteFamily {
  return (app) => {
    listRoutes(app, access)
    ownEndRoutes(app, access)
    otherEndRoutes(app, access)
  }
}

function listRoutes(app: App, { sessions }: Access): void {
  const response = { 200: Type.Array(sessionSchema) }
  app.get(
    OWN,
    {
      config: { permission: 'signed-in' },
      schema: { operationId: 'listMySessions', summary: 'Sessions of the calling user', tags, response },
    },
    async (request) => {
      const { guid, tokenGuid } = callerOf(request)
      return [...(await sessions.list(guid, tokenGuid))]
    },
  )
  app.get(
    OF_USER,
    {
      config: { permission: 'users_view' },
      schema: {
        operationId: 'listSessions',
        summary: 'Sessions of a user',
        tags,
        params: guidParams,
        response,
      },
    },
    async (request) => [...(await sessions.list(request.params.guid, callerOf(request).tokenGuid))],
  )
}

function ownEndRoutes(app: App, { sessions }: Access): void {
  const config = { permission: 'signed-in', errors: ['INSUFFICIENT_PERMISSIONS'] } as const
  app.delete(
    OWN,
    {
      config,
      schema: {
        operationId: 'endMyOtherSessions',
        summary: 'End all other sessions of the calling user',
        description: 'All except the session of this request.',
        tags,
        response: { 200: endedSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      return { ended: await sessions.endAll(caller.guid, caller, caller.tokenGuid) }
    },
  )
  app.delete(
    `${OWN}/:session`,
    {
      config,
      schema: {
        operationId: 'endMySession',
        summary: 'End a session of the calling user',
        description: atOnce,
        tags,
        params: sessionParams,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      await sessions.end(caller.guid, request.params.session, caller)
      return { guid: request.params.session, removed: true } as const
    },
  )
}

function otherEndRoutes(app: App, { sessions }: Access): void {
  const config = { permission: 'users_update' } as const
  app.delete(
    OF_USER,
    {
      config,
      schema: {
        operationId: 'endSessions',
        summary: 'End all sessions of a user',
        description: 'Signs the user out everywhere. API keys stay.',
        tags,
        params: guidParams,
        response: { 200: endedSchema },
      },
    },
    async (request) => ({ ended: await sessions.endAll(request.params.guid, callerOf(request)) }),
  )
  app.delete(
    `${OF_USER}/:session`,
    {
      config,
      schema: {
        operationId: 'endSession',
        summary: 'End a session of a user',
        description: atOnce,
        tags,
        params: sessionOfUserParams,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const { guid, session } = request.params
      await sessions.end(guid, session, callerOf(request))
      return { guid: session, removed: true } as const
    },
  )
}
