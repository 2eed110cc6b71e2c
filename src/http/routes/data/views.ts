import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { holds } from '../../../access/scopes.ts'
import { createView, removeView, updateView, type Viewer, viewsOf } from '../../../records/saved-views.ts'
import { type StorageContext, storageNamed } from '../../../records/storage-records.ts'
import { createViewSchema, updateViewSchema, viewParams, viewSchema } from '../../../shared/api/data/views.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../search-reply.ts'

const tags = ['Storages']
const path = '/_system/storages/:guid/views'
const config = { permission: 'storages_view' } as const

/** Saved views of the studio: those of the caller, and shared ones. */
export function viewRoutes(context: StorageContext): RouteFamily {
  const shared = sharedParts(context)
  return (app) => {
    listViewsRoute(app, shared)
    createViewRoute(app, shared)
    updateViewRoute(app, shared)
    removeViewRoute(app, shared)
  }
}

type SharedParts = ReturnType<typeof sharedParts>

/** What the routes share. */
function sharedParts(context: StorageContext) {
  const { database } = context.records
  const placeOf = async ({ params }: { readonly params: { guid: string; view: string } }) => ({
    storage: await storageNamed(context, params.guid),
    view: params.view,
  })
  return { context, database, placeOf }
}

function listViewsRoute(app: App, { database, context }: SharedParts): void {
  app.get(
    path,
    {
      config,
      schema: {
        operationId: 'listViews',
        summary: 'List the views of a storage',
        description: 'Those of the caller and shared ones, by name.',
        tags,
        params: guidParams,
        response: { 200: Type.Array(viewSchema) },
      },
    },
    async (request) => viewsOf(database, await storageNamed(context, request.params.guid), viewerOf(request)),
  )
}

function createViewRoute(app: App, { context, database }: SharedParts): void {
  app.post(
    path,
    {
      config: { ...config, errors: ['CONFLICT'] },
      schema: {
        operationId: 'createView',
        summary: 'Save a view of a storage',
        description: 'A user has at most 50 of a storage.',
        tags,
        params: guidParams,
        body: createViewSchema,
        response: { 200: viewSchema },
      },
    },
    async (request) => {
      const storage = await storageNamed(context, request.params.guid)
      return createView(database, storage, request.body, viewerOf(request))
    },
  )
}

function updateViewRoute(app: App, { database, placeOf }: SharedParts): void {
  app.put(
    `${path}/:view`,
    {
      config,
      schema: {
        operationId: 'updateView',
        summary: 'Change a view',
        description: 'An own one; shared ones of others need the scope `storages_update`.',
        tags,
        params: viewParams,
        body: updateViewSchema,
        response: { 200: viewSchema },
      },
    },
    async (request) => updateView(database, await placeOf(request), request.body, viewerOf(request)),
  )
}

function removeViewRoute(app: App, { database, placeOf }: SharedParts): void {
  app.delete(
    `${path}/:view`,
    {
      config,
      schema: {
        operationId: 'removeView',
        summary: 'Delete a view',
        description: 'An own one; shared ones of others need the scope `storages_update`.',
        tags,
        params: viewParams,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      await removeView(database, await placeOf(request), viewerOf(request))
      return { guid: request.params.view, removed: true } as const
    },
  )
}

function viewerOf(request: FastifyRequest): Viewer {
  return { ...actorOf(request), manages: holds(callerOf(request).scopes, 'storages_update') }
}
