import type { EnvironmentValues } from '../../../records/environment/environment-values.ts'
import {
  createEnvironmentValueSchema,
  environmentValueSchema,
  updateEnvironmentValueSchema,
} from '../../../shared/api/operate/settings.ts'
import type { Database } from '../../../storage/database.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Environment']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
]

/** Values of the environment: `env.NAME` in expressions. */
export function environmentRoutes(
  values: EnvironmentValues,
  { database }: { readonly database: Database },
): RouteFamily {
  return (app) => {
    const environment = resource(app, {
      path: '/_system/environment',
      scopes: 'environment',
      tags,
      record: environmentValueSchema,
      searchable,
    })
    environment.list(
      {
        operationId: 'searchEnvironmentValues',
        summary: 'List values of the environment',
        description: 'Named values of the cluster that expressions read as `env.NAME`.',
      },
      (requested) => findPage(database.session(), systemStorages.environment, requested),
    )

    environment.create(
      {
        operationId: 'createEnvironmentValue',
        summary: 'Add a value to the environment',
        description: 'Every run that begins after the reply reads it. A cluster holds at most 1,000 values.',
        errors: ['CONFLICT'],
        body: createEnvironmentValueSchema,
      },
      (body, request) => values.create(body, actorOf(request)),
    )

    environment.get(
      {
        operationId: 'getEnvironmentValue',
        summary: 'One value of the environment',
      },
      (guid) => values.get(guid),
    )

    environment.update(
      {
        operationId: 'updateEnvironmentValue',
        summary: 'Change a value of the environment',
        description: 'Every run that begins after the reply reads the new value. No deploy is needed.',
        body: updateEnvironmentValueSchema,
      },
      (guid, body, request) => values.update(guid, body, actorOf(request)),
    )

    environment.remove(
      {
        operationId: 'removeEnvironmentValue',
        summary: 'Remove a value of the environment',
        description: 'In runs that begin after the reply it is nothing.',
      },
      (guid, request) => values.remove(guid, actorOf(request)),
    )
  }
}
