import type { IncomingMessage } from 'node:http'
import Type from 'typebox'
import { fetchDocument } from '../../../flows/fetch-document.ts'
import type { Flows } from '../../../flows/flows.ts'
import { MOST_DOCUMENT_BYTES, packedDocument } from '../../../records/operations/operations-thread.ts'
import {
  documentRecord,
  documentText,
  removeDocument,
  replaceDocument,
  wholeOperation,
} from '../../../records/operations/stored-operations.ts'
import { getRecord } from '../../../records/records.ts'
import {
  apiDocumentSchema,
  fetchDocumentSchema,
  listedOperationSchema,
  replacedDocumentSchema,
  wholeOperationSchema,
} from '../../../shared/api/operate/operations.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import type { Database } from '../../../storage/database.ts'
import { textIn } from '../../../storage/document-fields.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { wholeBody } from '../../bodies/json-body.ts'
import { allowSlowBody } from '../../limits/slow-body.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf, leftBy } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Connections']
const path = '/_system/connections/:guid/document'
const consumes = ['application/json', 'application/octet-stream', 'text/plain']

const searchable: readonly SearchField[] = [
  { name: 'connection', type: 'string' },
  { name: 'operation', type: 'string', text: true },
  { name: 'title', type: 'string', text: true },
  { name: 'method', type: 'string' },
  { name: 'path', type: 'string', text: true },
  { name: 'group', type: 'string', text: true },
]

interface Parts {
  readonly flows: Pick<Flows, 'connections' | 'environment'>
  readonly database: Database
}

/** OpenAPI documents of connections, and the operations in them. */
export function connectionDocumentRoutes(flows: Parts['flows'], database: Database): RouteFamily {
  const parts = { flows, database }
  return async (app) => {
    await app.register(async (scope: App) => sentRoute(scope, parts))
    fetchedRoute(app, parts)
    readRoutes(app, parts)
    operationRoutes(app, database)
  }
}

const errors = ['NOT_FOUND'] as const

/** In a scope of its own: no other route takes a body as it is. */
function sentRoute(scope: App, { flows, database }: Parts): void {
  scope.removeAllContentTypeParsers()
  for (const type of consumes)
    scope.addContentTypeParser(type, (_request, payload, done) => done(null, payload))
  scope.put(
    path,
    {
      config: { permission: 'connections_update', errors: [...errors, 'UNAVAILABLE'] },
      onRequest: allowSlowBody(),
      schema: {
        operationId: 'setConnectionDocument',
        summary: 'Give a connection its OpenAPI document',
        description:
          'The document is the body: OpenAPI 3.0 or 3.1 as JSON or YAML, at most 32 MiB. One in YAML is stored as the same in JSON. Its operations are then offered as blocks. Nothing that it refers to outside of itself is opened. Blocks that are there stay as they are.',
        tags,
        consumes,
        params: guidParams,
        body: Type.Unsafe<IncomingMessage>({ description: 'The document.' }),
        response: { 200: replacedDocumentSchema },
      },
    },
    async (request, reply) => {
      const left = leftBy(reply)
      const name = await nameOf(flows, request.params.guid)
      const packed = await packedDocument(await wholeBody(request.body, MOST_DOCUMENT_BYTES), left)
      return replaceDocument(database, name, packed, '', actorOf(request))
    },
  )
}

function fetchedRoute(app: App, { flows, database }: Parts): void {
  app.post(
    `${path}/fetch`,
    {
      config: { permission: 'connections_update', errors: [...errors, 'UNAVAILABLE'], bodyOptional: true },
      schema: {
        operationId: 'fetchConnectionDocument',
        summary: 'Fetch the OpenAPI document of a connection',
        description:
          'A GET request without sign-in to the address, to hosts that flows may reach, within 30 s. Without an address the present document is fetched again from where it was.',
        tags,
        params: guidParams,
        body: fetchDocumentSchema,
        response: { 200: replacedDocumentSchema },
      },
    },
    async (request, reply) => {
      const name = await nameOf(flows, request.params.guid)
      const url = request.body.url ?? textIn((await documentRecord(database, name))?.source)
      if (url === '')
        throw invalidField('url', 'url is needed: the connection has no document that was fetched.')
      const left = leftBy(reply)
      const packed = await packedDocument(await fetchDocument(flows.environment, url, left), left)
      return replaceDocument(database, name, packed, url, actorOf(request))
    },
  )
}

function readRoutes(app: App, { flows, database }: Parts): void {
  const found = async (guid: string) => {
    const record = await documentRecord(database, await nameOf(flows, guid))
    if (record) return record
    throw new QuoinError('NOT_FOUND', 'The connection has no OpenAPI document.')
  }
  app.get(
    path,
    {
      config: { permission: 'connections_view', errors },
      schema: {
        operationId: 'getConnectionDocument',
        summary: 'What the OpenAPI document of a connection offers',
        tags,
        params: guidParams,
        response: { 200: apiDocumentSchema },
      },
    },
    async ({ params }) => found(params.guid),
  )
  app.get(
    `${path}/text`,
    {
      config: { permission: 'connections_view', errors },
      schema: {
        operationId: 'downloadConnectionDocument',
        summary: 'The OpenAPI document of a connection as it was sent',
        tags,
        params: guidParams,
        response: { 200: Type.Unknown({ description: 'The document.' }) },
      },
    },
    async ({ params }, reply) => {
      const text = await documentText(await found(params.guid))
      return reply.type('application/json; charset=utf-8').serializer(String).send(text)
    },
  )
  app.delete(
    path,
    {
      config: { permission: 'connections_update', errors },
      schema: {
        operationId: 'removeConnectionDocument',
        summary: 'Remove the OpenAPI document of a connection',
        description: 'Its operations are no longer offered. Blocks that are there stay as they are.',
        tags,
        params: guidParams,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const { guid } = request.params
      await found(guid)
      await removeDocument(database, await nameOf(flows, guid), actorOf(request))
      return { guid, removed: true } as const
    },
  )
}

function operationRoutes(app: App, database: Database): void {
  const listed = {
    path: '/_system/operations',
    scopes: 'connections',
    ...{ tags, searchable },
    record: listedOperationSchema,
  } as const
  resource(app, listed).list(
    {
      operationId: 'searchOperations',
      summary: 'List operations of other APIs',
      description: 'Those of the OpenAPI documents of connections.',
    },
    async (requested) => {
      if (!database.has(systemStorages.apiOperations)) return { records: [], total: 0, next: undefined }
      return findPage(database.session(), systemStorages.apiOperations, requested)
    },
  )
  resource(app, { ...listed, record: wholeOperationSchema }).get(
    {
      operationId: 'getOperation',
      summary: 'One operation of another API',
      description: 'With what a block `call_operation` holds of it, and the types of its body and replies.',
    },
    async (guid) => {
      if (!database.has(systemStorages.apiOperations))
        throw new QuoinError('NOT_FOUND', `There is no operation ${guid}.`)
      return wholeOperation(
        await getRecord(database.session(), systemStorages.apiOperations, guid, 'operation'),
      )
    },
  )
}

async function nameOf({ connections }: Parts['flows'], guid: string): Promise<string> {
  return textIn((await connections.get(guid)).name)
}
