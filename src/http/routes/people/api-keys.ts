import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import type { ShownKey } from '../../../access/keys/api-keys.ts'
import {
  apiKeyOfUserParams,
  apiKeyParams,
  apiKeySchema,
  createApiKeySchema,
  rotateApiKeySchema,
  shownApiKeySchema,
  updateApiKeySchema,
} from '../../../shared/api/people/api-keys.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'

const tags = ['API keys']
const OWN = '/users/me/keys'
const OF_USER = '/users/:guid/keys'
const DAY = 86_400

const once = 'The reply has the secret in `key`. It is not stored and cannot be shown again.'
const rotation =
  'Gives the key a new secret and keeps the present one valid for `overlap` seconds, so that programs can change over. The key keeps its guid, name and scopes.'
const atOnce = 'The key is refused on every node when the reply arrives.'

/** API keys of the caller, and those of other users for administrators. Each route exists twice: under `me` and under a guid. */
export function apiKeyRoutes(access: Access): RouteFamily {
  return (app) => {
    listRoutes(app, access)
    createRoutes(app, access)
    updateRoutes(app, access)
    rotateRoutes(app, access)
    removeRoutes(app, access)
  }
}

function listRoutes(app: App, { keys }: Access): void {
  const response = { 200: Type.Array(apiKeySchema) }
  app.get(
    OWN,
    {
      config: { permission: 'signed-in' },
      schema: { operationId: 'listMyApiKeys', summary: 'API keys of the calling user', tags, response },
    },
    async (request) => [...(await keys.list(callerOf(request).guid))],
  )
  app.get(
    OF_USER,
    {
      config: { permission: 'users_view' },
      schema: {
        operationId: 'listApiKeys',
        summary: 'API keys of a user',
        tags,
        params: guidParams,
        response,
      },
    },
    async (request) => [...(await keys.list(request.params.guid))],
  )
}

function createRoutes(app: App, { keys }: Access): void {
  const shared = { tags, body: createApiKeySchema, response: { 200: shownApiKeySchema } }
  app.post(
    OWN,
    {
      config: {
        permission: 'signed-in',
        confirmed: true,
        errors: ['CONFLICT', 'INSUFFICIENT_PERMISSIONS'],
      },
      schema: {
        ...shared,
        operationId: 'createMyApiKey',
        summary: 'Create an API key for the calling user',
        description: once,
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      return shown(reply, await keys.create(caller.guid, request.body, caller))
    },
  )
  app.post(
    OF_USER,
    {
      config: { permission: 'users_update', confirmed: true, errors: ['CONFLICT'] },
      schema: {
        ...shared,
        operationId: 'createApiKey',
        summary: 'Create an API key for a user',
        description: once,
        params: guidParams,
      },
    },
    async (request, reply) =>
      shown(reply, await keys.create(request.params.guid, request.body, callerOf(request))),
  )
}

function updateRoutes(app: App, { keys }: Access): void {
  const shared = { tags, body: updateApiKeySchema, response: { 200: apiKeySchema } }
  app.put(
    `${OWN}/:key`,
    {
      config: {
        permission: 'signed-in',
        confirmed: true,
        errors: ['CONFLICT', 'INSUFFICIENT_PERMISSIONS'],
      },
      schema: {
        ...shared,
        operationId: 'updateMyApiKey',
        summary: 'Change an API key of the calling user',
        params: apiKeyParams,
      },
    },
    (request) => {
      const caller = callerOf(request)
      return keys.update(caller.guid, request.params.key, request.body, caller)
    },
  )
  app.put(
    `${OF_USER}/:key`,
    {
      config: { permission: 'users_update', confirmed: true, errors: ['CONFLICT'] },
      schema: {
        ...shared,
        operationId: 'updateApiKey',
        summary: 'Change an API key of a user',
        params: apiKeyOfUserParams,
      },
    },
    (request) => {
      const { guid, key } = request.params
      return keys.update(guid, key, request.body, callerOf(request))
    },
  )
}

function rotateRoutes(app: App, { keys }: Access): void {
  const shared = {
    tags,
    description: `${rotation} ${once}`,
    body: rotateApiKeySchema,
    response: { 200: shownApiKeySchema },
  }
  app.post(
    `${OWN}/:key/rotate`,
    {
      config: {
        permission: 'signed-in',
        confirmed: true,
        bodyOptional: true,
        errors: ['INSUFFICIENT_PERMISSIONS'],
      },
      schema: {
        ...shared,
        operationId: 'rotateMyApiKey',
        summary: 'Rotate an API key of the calling user',
        params: apiKeyParams,
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { overlap = DAY, expiry } = request.body
      const requested = { overlap, ...(expiry !== undefined && { expiry }) }
      return shown(reply, await keys.rotate(caller.guid, request.params.key, requested, caller))
    },
  )
  app.post(
    `${OF_USER}/:key/rotate`,
    {
      config: { permission: 'users_update', confirmed: true, bodyOptional: true },
      schema: {
        ...shared,
        operationId: 'rotateApiKey',
        summary: 'Rotate an API key of a user',
        params: apiKeyOfUserParams,
      },
    },
    async (request, reply) => {
      const { guid, key } = request.params
      const { overlap = DAY, expiry } = request.body
      const requested = { overlap, ...(expiry !== undefined && { expiry }) }
      return shown(reply, await keys.rotate(guid, key, requested, callerOf(request)))
    },
  )
}

function removeRoutes(app: App, { keys }: Access): void {
  const shared = { tags, description: atOnce, response: { 200: removedSchema } }
  app.delete(
    `${OWN}/:key`,
    {
      config: {
        permission: 'signed-in',
        confirmed: true,
        errors: ['INSUFFICIENT_PERMISSIONS'],
      },
      schema: {
        ...shared,
        operationId: 'removeMyApiKey',
        summary: 'Remove an API key of the calling user',
        params: apiKeyParams,
      },
    },
    async (request) => {
      const caller = callerOf(request)
      await keys.remove(caller.guid, request.params.key, caller)
      return { guid: request.params.key, removed: true } as const
    },
  )
  app.delete(
    `${OF_USER}/:key`,
    {
      config: { permission: 'users_update', confirmed: true },
      schema: {
        ...shared,
        operationId: 'removeApiKey',
        summary: 'Remove an API key of a user',
        params: apiKeyOfUserParams,
      },
    },
    async (request) => {
      const { guid, key } = request.params
      await keys.remove(guid, key, callerOf(request))
      return { guid: key, removed: true } as const
    },
  )
}

/** No proxy and no browser may store the secret. */
function shown(reply: FastifyReply, { record, secret }: ShownKey) {
  reply.header('cache-control', 'no-store')
  return { ...record, key: secret }
}
