import type { Flows } from '../../../flows/flows.ts'
import { tryConnection } from '../../../flows/try-connection.ts'
import { removeDocument } from '../../../records/operations/stored-operations.ts'
import {
  connectionSchema,
  createConnectionSchema,
  triedConnectionSchema,
  tryConnectionSchema,
  updateConnectionSchema,
} from '../../../shared/api/operate/connections.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { Database } from '../../../storage/database.ts'
import { textIn } from '../../../storage/document-fields.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { type Resource, resource } from '../resource.ts'
import { actorOf, deployerOf, leftBy } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Connections']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'base_url', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
]

/** Servers that flows call by name. */
export function connectionRoutes(
  { connections, environment }: Pick<Flows, 'connections' | 'environment'>,
  { database }: { readonly database: Database },
): RouteFamily {
  return (app) => {
    const connection = resource(app, {
      path: '/_system/connections',
      scopes: 'connections',
      tags,
      record: connectionSchema,
      searchable,
    })
    connection.list(
      {
        operationId: 'searchConnections',
        summary: 'List connections',
        description: 'Servers that flows call by name: base address, headers and how requests are signed in.',
      },
      (requested) => findPage(database.session(), systemStorages.connections, requested),
    )

    connection.create(
      {
        operationId: 'createConnection',
        summary: 'Add a connection',
        description:
          'A secret is named, never contained; to name one, the caller needs `secrets_update` too. A cluster holds at most 1,000 connections.',
        errors: ['CONFLICT'],
        confirmed: true,
        body: createConnectionSchema,
      },
      (body, request) => connections.create(body, actorOf(request), deployerOf(request).lacks),
    )

    connection.get({ operationId: 'getConnection', summary: 'One connection' }, (guid) =>
      connections.get(guid),
    )

    connection.update(
      {
        operationId: 'updateConnection',
        summary: 'Change a connection',
        description:
          'Every request that begins after the reply uses it. No deploy is needed. To name a secret, and to change the address or the sign-in of a connection that has one, the caller needs `secrets_update` too.',
        confirmed: true,
        body: updateConnectionSchema,
      },
      (guid, body, request) => connections.update(guid, body, actorOf(request), deployerOf(request).lacks),
    )

    removeRoute(connection, connections, database)
    tryRoute(app, connections, environment)
  }
}

function removeRoute(connection: Resource, connections: Flows['connections'], database: Database): void {
  connection.remove(
    {
      operationId: 'removeConnection',
      summary: 'Remove a connection',
      description: 'With its OpenAPI document. Blocks that name it fail from then on.',
    },
    async (guid, request) => {
      const { name } = await connections.get(guid)
      await connections.remove(guid, actorOf(request))
      await removeDocument(database, textIn(name), actorOf(request))
    },
  )
}

function tryRoute(app: App, connections: Flows['connections'], environment: Flows['environment']): void {
  app.post(
    '/_system/connections/:guid/try',
    {
      config: { permission: 'connections_update', errors: ['NOT_FOUND'] },
      schema: {
        operationId: 'tryConnection',
        summary: 'Send one request over a connection',
        description:
          'A GET request to the base address or a path below it, signed in as those of flows, within 10 s. The reply says the status code, or why there was none; what the other server sent is not shown.',
        tags,
        params: guidParams,
        body: tryConnectionSchema,
        response: { 200: triedConnectionSchema },
      },
    },
    async ({ params, body }, reply) => {
      const left = leftBy(reply)
      const { name } = await connections.get(params.guid)
      return tryConnection(environment, textIn(name), body.path ?? '', left)
    },
  )
}
