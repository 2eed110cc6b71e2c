import { Type } from 'typebox'
import {
  createBlueprint,
  getBlueprint,
  removeBlueprint,
  updateBlueprint,
} from '../../../flows/blueprints/blueprint-records.ts'
import type { Flows } from '../../../flows/flows.ts'
import { recordStorages } from '../../../records/records.ts'
import {
  blueprintSchema,
  createBlueprintSchema,
  updateBlueprintSchema,
} from '../../../shared/api/blueprints.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { searchSchema } from '../../../shared/api/search.ts'
import { removedSchema } from '../../../shared/api/users.ts'
import { findPage } from '../../../storage/find-page.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchRequest } from '../search-request.ts'

const tags = ['Blueprints']

const searchFields: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'category', type: 'string', text: true },
  { name: 'tags', type: 'string', text: true },
  { name: 'short_id', type: 'string' },
  { name: 'active', type: 'boolean' },
  { name: 'version', type: 'number' },
  ...metaFields,
]

/** The records of blueprints. What runs of them is in `blueprint-deployment.ts`, what is in them in `blueprint-actions.ts`. */
export function blueprintRoutes({ records, random }: Flows): RouteFamily {
  return (app) => {
    app.post(
      '/blueprints/search',
      {
        config: { permission: 'blueprints_view', bodyOptional: true },
        schema: {
          operationId: 'searchBlueprints',
          summary: 'List or search blueprints',
          tags,
          body: searchSchema,
          response: { 200: Type.Array(blueprintSchema) },
        },
      },
      async (request, reply) => {
        const wanted = searchRequest(request.body, searchFields)
        return searchReply(
          reply,
          request.body,
          await findPage(records.database.session(), recordStorages.blueprints, wanted),
        )
      },
    )

    app.post(
      '/blueprints',
      {
        config: { permission: 'blueprints_create' },
        schema: {
          operationId: 'createBlueprint',
          summary: 'Create a blueprint',
          description: 'An empty, inactive one. Add blocks with POST /blueprintactions.',
          tags,
          body: createBlueprintSchema,
          response: { 200: blueprintSchema },
        },
      },
      (request) => createBlueprint(records, random, request.body, actorOf(request)),
    )

    app.get(
      '/blueprints/:guid',
      {
        config: { permission: 'blueprints_view' },
        schema: {
          operationId: 'getBlueprint',
          summary: "One blueprint's metadata",
          tags,
          description: 'By its `_meta.guid` or its `short_id`.',
          params: guidParams,
          response: { 200: blueprintSchema },
        },
      },
      (request) => getBlueprint(records, request.params.guid),
    )

    app.put(
      '/blueprints/:guid',
      {
        config: { permission: 'blueprints_update', errors: ['CONFLICT'] },
        schema: {
          operationId: 'updateBlueprint',
          summary: 'Rename or describe a blueprint',
          tags,
          params: guidParams,
          body: updateBlueprintSchema,
          response: { 200: blueprintSchema },
        },
      },
      (request) => updateBlueprint(records, request.params.guid, request.body, actorOf(request)),
    )

    app.delete(
      '/blueprints/:guid',
      {
        config: { permission: 'blueprints_remove', errors: ['CONFLICT'] },
        schema: {
          operationId: 'removeBlueprint',
          summary: 'Remove a blueprint and its blocks',
          description: 'An active blueprint is refused: set it inactive first.',
          tags,
          params: guidParams,
          response: { 200: removedSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        await removeBlueprint(records, guid, actorOf(request))
        return { guid, removed: true } as const
      },
    )
  }
}
