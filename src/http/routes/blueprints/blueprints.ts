import {
  createBlueprint,
  getBlueprint,
  removeBlueprint,
  updateBlueprint,
} from '../../../flows/blueprints/blueprint-records.ts'
import type { Flows } from '../../../flows/flows.ts'
import {
  blueprintSchema,
  createBlueprintSchema,
  updateBlueprintSchema,
} from '../../../shared/api/blueprints/blueprints.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Blueprints']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'category', type: 'string', text: true },
  { name: 'tags', type: 'string', text: true },
  { name: 'short_id', type: 'string' },
  { name: 'active', type: 'boolean' },
  { name: 'version', type: 'number' },
]

/** The records of blueprints. What runs of them is in `blueprint-deployment.ts`, what is in them in `blueprint-actions.ts`. */
export function blueprintRoutes({ records, random }: Flows): RouteFamily {
  return (app) => {
    const blueprints = resource(app, {
      path: '/blueprints',
      scopes: 'blueprints',
      tags,
      record: blueprintSchema,
      searchable,
    })
    blueprints.list(
      {
        operationId: 'searchBlueprints',
        summary: 'List or search blueprints',
      },
      (requested) => findPage(records.database.session(), systemStorages.blueprints, requested),
    )

    blueprints.create(
      {
        operationId: 'createBlueprint',
        summary: 'Create a blueprint',
        description: 'It is empty and inactive. Add blocks with POST /blueprintactions.',
        body: createBlueprintSchema,
      },
      (body, request) => createBlueprint(records, random, body, actorOf(request)),
    )

    blueprints.get(
      {
        operationId: 'getBlueprint',
        summary: "One blueprint's metadata",
        description: 'By its `_meta.guid` or its `short_id`.',
      },
      (guid) => getBlueprint(records, guid),
    )

    blueprints.update(
      {
        operationId: 'updateBlueprint',
        summary: 'Rename or describe a blueprint',
        errors: ['CONFLICT'],
        body: updateBlueprintSchema,
      },
      (guid, body, request) => updateBlueprint(records, guid, body, actorOf(request)),
    )

    blueprints.remove(
      {
        operationId: 'removeBlueprint',
        summary: 'Remove a blueprint and its blocks',
        description: 'An active blueprint is refused: set it inactive first.',
        errors: ['CONFLICT'],
      },
      (guid, request) => removeBlueprint(records, guid, actorOf(request)),
    )
  }
}
