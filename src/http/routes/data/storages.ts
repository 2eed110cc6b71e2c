import { Type } from 'typebox'
import { type LiveBlueprints, usersOf } from '../../../flows/live/live-blueprints.ts'
import {
  countDocuments,
  createStorage,
  getStorage,
  removeStorage,
  type StorageContext,
  searchStorages,
  updateStorage,
} from '../../../records/storage-records.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { countSchema, searchSchema } from '../../../shared/api/search.ts'
import { createStorageSchema, storageSchema, updateStorageSchema } from '../../../shared/api/storages.ts'
import { removedSchema } from '../../../shared/api/users.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchRequest } from '../search-request.ts'

const tags = ['Storages']

const searchFields: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'history', type: 'boolean' },
  { name: 'created_by.username', type: 'string' },
  ...metaFields,
]

/** Storages: the collections of documents that builders make. */
export function storageRoutes(context: StorageContext, live: LiveBlueprints): RouteFamily {
  return (app) => {
    app.post(
      '/_system/storages',
      {
        config: { permission: 'storages_create', errors: ['CONFLICT'] },
        schema: {
          operationId: 'createStorage',
          summary: 'Create a storage',
          tags,
          body: createStorageSchema,
          response: { 200: storageSchema },
        },
      },
      (request) => createStorage(context, request.body, actorOf(request)),
    )

    app.post(
      '/_system/storages/search',
      {
        config: { permission: 'storages_view', bodyOptional: true },
        schema: {
          operationId: 'searchStorages',
          summary: 'List storages',
          tags,
          body: searchSchema,
          response: { 200: Type.Array(storageSchema) },
        },
      },
      async (request, reply) => {
        const wanted = searchRequest(request.body, searchFields)
        return searchReply(reply, request.body, await searchStorages(context, wanted))
      },
    )

    app.get(
      '/_system/storages/:guid',
      {
        config: { permission: 'storages_view' },
        schema: {
          operationId: 'getStorage',
          summary: 'One storage',
          tags,
          params: guidParams,
          response: { 200: storageSchema },
        },
      },
      (request) => getStorage(context, request.params.guid),
    )

    app.get(
      '/_system/storages/:guid/count',
      {
        config: { permission: 'storages_view' },
        schema: {
          operationId: 'countDocuments',
          summary: 'How many documents a storage has',
          description: 'Removed ones are not counted.',
          tags,
          params: guidParams,
          response: { 200: countSchema },
        },
      },
      async (request) => ({ count: await countDocuments(context, request.params.guid) }),
    )

    app.put(
      '/_system/storages/:guid',
      {
        config: { permission: 'storages_update' },
        schema: {
          operationId: 'updateStorage',
          summary: 'Change a storage',
          description: 'Changes what is given. The name stays: blueprints know the storage by it.',
          tags,
          params: guidParams,
          body: updateStorageSchema,
          response: { 200: storageSchema },
        },
      },
      (request) => updateStorage(context, request.params.guid, request.body, actorOf(request)),
    )

    app.delete(
      '/_system/storages/:guid',
      {
        config: { permission: 'storages_remove', errors: ['CONFLICT'] },
        schema: {
          operationId: 'removeStorage',
          summary: 'Delete a storage with its documents',
          description: 'For good. Refused while an active blueprint uses it.',
          tags,
          params: guidParams,
          response: { 200: removedSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        await removeStorage(context, (name) => usersOf(live.table(), name), guid, actorOf(request))
        return { guid, removed: true } as const
      },
    )
  }
}
