import { type LiveBlueprints, usersOf } from '../../../flows/live/live-blueprints.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import {
  countDocuments,
  createStorage,
  getStorage,
  removeStorage,
  type StorageContext,
  searchStorages,
  updateStorage,
} from '../../../records/storage-records.ts'
import { createStorageSchema, storageSchema, updateStorageSchema } from '../../../shared/api/data/storages.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { countSchema } from '../../../shared/api/search.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'
import { asCaller, checkMaySetRules } from './as-caller.ts'

const tags = ['Storages']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'history', type: 'boolean' },
  { name: 'created_by.username', type: 'string' },
]

/** Storages: the collections of documents that builders make. */
export function storageRoutes(
  context: StorageContext,
  live: LiveBlueprints,
  permissions: Permissions,
): RouteFamily {
  return (app) => {
    const storages = storageResource(app)
    createStorageRoute(storages, context)
    storages.list({ operationId: 'searchStorages', summary: 'List storages' }, (requested) =>
      searchStorages(context, requested),
    )
    storages.get({ operationId: 'getStorage', summary: 'One storage' }, (guid) => getStorage(context, guid))
    countDocumentsRoute(app, context, permissions)
    updateStorageRoute(storages, context)
    removeStorageRoute(storages, context, live)
  }
}

type Storages = ReturnType<typeof storageResource>

function storageResource(app: App) {
  return resource(app, {
    path: '/_system/storages',
    scopes: 'storages',
    tags,
    record: storageSchema,
    searchable,
  })
}

function createStorageRoute(storages: Storages, context: StorageContext): void {
  storages.create(
    {
      operationId: 'createStorage',
      summary: 'Create a storage',
      errors: ['CONFLICT'],
      body: createStorageSchema,
    },
    (body, request) => {
      if (body.rules) checkMaySetRules(request)
      return createStorage(context, body, actorOf(request))
    },
  )
}

function countDocumentsRoute(app: App, context: StorageContext, permissions: Permissions): void {
  app.get(
    '/_system/storages/:guid/count',
    {
      config: { permission: 'storages_view' },
      schema: {
        operationId: 'countDocuments',
        summary: 'Count the documents of a storage',
        description: 'Removed documents are not counted.',
        tags,
        params: guidParams,
        response: { 200: countSchema },
      },
    },
    async (request) => ({
      count: await countDocuments(asCaller(context, permissions, request), request.params.guid),
    }),
  )
}

function updateStorageRoute(storages: Storages, context: StorageContext): void {
  storages.update(
    {
      operationId: 'updateStorage',
      summary: 'Change a storage',
      description: 'Changes the given fields. The name cannot change: blueprints refer to it.',
      body: updateStorageSchema,
    },
    (guid, body, request) => {
      if (body.rules !== undefined) checkMaySetRules(request)
      return updateStorage(context, guid, body, actorOf(request))
    },
  )
}

function removeStorageRoute(storages: Storages, context: StorageContext, live: LiveBlueprints): void {
  storages.remove(
    {
      operationId: 'removeStorage',
      confirmed: true,
      summary: 'Delete a storage with its documents',
      description: 'Permanently. Refused while an active blueprint uses it.',
      errors: ['CONFLICT'],
    },
    (guid, request) => removeStorage(context, (name) => usersOf(live.table(), name), guid, actorOf(request)),
  )
}
