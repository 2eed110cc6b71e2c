import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  createDocument,
  getDocument,
  removeDocument,
  restoreDocument,
  searchDocuments,
  updateDocument,
} from '../../../records/documents/documents.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import { type StorageContext, storageNamed } from '../../../records/storage-records.ts'
import {
  createDocumentQuery,
  documentFieldsSchema,
  documentParams,
  documentSchema,
  documentSearchSchema,
  getDocumentQuery,
  historyQuery,
  historySchema,
  removeDocumentQuery,
  updateDocumentQuery,
} from '../../../shared/api/data/documents.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { JsonObject } from '../../../shared/json.ts'
import type { StoredJson } from '../../../storage/stored-json.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf, searchReply } from '../search-reply.ts'
import { asCaller, callerSubject } from './as-caller.ts'
import { documentSearch, historyFor } from './document-search.ts'

const tags = ['Documents']
const path = '/_system/storages/:guid/documents'
const onePath = `${path}/:document` as const

/** Documents of builders' storages, for those who manage them. */
export function documentRoutes(context: StorageContext, permissions: Permissions): RouteFamily {
  const shared = sharedParts(context, permissions)
  return (app) => {
    searchDocumentsRoute(app, shared)
    createDocumentRoute(app, shared)
    getDocumentRoute(app, shared)
    updateDocumentRoute(app, shared)
    removeDocumentRoute(app, shared)
    restoreDocumentRoute(app, shared)
    getDocumentHistoryRoute(app, shared)
  }
}

type SharedParts = ReturnType<typeof sharedParts>

/** What the routes share. */
function sharedParts(context: StorageContext, permissions: Permissions) {
  const as = (request: FastifyRequest) => asCaller(context, permissions, request)
  return { context, permissions, as }
}

function searchDocumentsRoute(app: App, { as }: SharedParts): void {
  app.post(
    `${path}/search`,
    {
      config: { permission: 'storages_view', bodyOptional: true, errors: ['INVALID_QUERY'] },
      schema: {
        operationId: 'searchDocuments',
        summary: 'Search the documents of a storage',
        description:
          'Filter and sort by any field; a filter such as `customer.name` leads through a reference, a sort does not. The header `x-total-count` is the number of all matches; send `x-next-cursor` as `after`.',
        tags,
        params: guidParams,
        body: documentSearchSchema,
        response: { 200: Type.Array(documentSchema) },
      },
    },
    async (request, reply) => {
      const requested = documentSearch(request.body)
      const { expand, count } = request.body
      const { guid } = request.params
      const { documents, total, next } = await searchDocuments(as(request), guid, requested, expand)
      if (count) return searchReply(reply, request.body, { records: [], total, next })
      reply.header('x-total-count', String(total))
      if (next !== undefined) reply.header('x-next-cursor', next)
      return sendStored(reply, documents)
    },
  )
}

function createDocumentRoute(app: App, { as }: SharedParts): void {
  app.post(
    path,
    {
      config: {
        permission: 'storages_create',
        bodyBytes: 'setting',
        documentBody: true,
        errors: ['CONFLICT', 'INVALID_QUERY', 'DENIED_BY_RULE'],
      },
      schema: {
        operationId: 'createDocument',
        summary: 'Create a document',
        tags,
        params: guidParams,
        querystring: createDocumentQuery,
        body: documentFieldsSchema,
        response: { 200: documentSchema },
      },
    },
    async (request, reply) => {
      const { guid } = request.params
      const { expiry } = request.query
      const fields = withoutMeta(request.body)
      return sendStored(reply, await createDocument(as(request), guid, fields, expiry, actorOf(request)))
    },
  )
}

function getDocumentRoute(app: App, { as }: SharedParts): void {
  app.get(
    onePath,
    {
      config: { permission: 'storages_view', errors: ['INVALID_QUERY'] },
      schema: {
        operationId: 'getDocument',
        summary: 'One document',
        tags,
        params: documentParams,
        querystring: getDocumentQuery,
        response: { 200: documentSchema },
      },
    },
    async (request, reply) => {
      const { expand } = request.query
      const names = expand?.split(',').map((name) => name.trim())
      return sendStored(reply, await getDocument(as(request), request.params, names))
    },
  )
}

function updateDocumentRoute(app: App, { as }: SharedParts): void {
  app.put(
    onePath,
    {
      config: {
        permission: 'storages_update',
        bodyBytes: 'setting',
        documentBody: true,
        errors: ['CONFLICT', 'INVALID_QUERY', 'DENIED_BY_RULE'],
      },
      schema: {
        operationId: 'updateDocument',
        summary: 'Change a document',
        description: 'Changes the given fields.',
        tags,
        params: documentParams,
        querystring: updateDocumentQuery,
        body: documentFieldsSchema,
        response: { 200: documentSchema },
      },
    },
    async (request, reply) => {
      const fields = withoutMeta(request.body)
      const { update_hash: hash } = request.query
      return sendStored(
        reply,
        await updateDocument(as(request), request.params, fields, hash, actorOf(request)),
      )
    },
  )
}

function removeDocumentRoute(app: App, { as }: SharedParts): void {
  app.delete(
    onePath,
    {
      config: { permission: 'storages_remove', errors: ['INVALID_QUERY', 'DENIED_BY_RULE'] },
      schema: {
        operationId: 'removeDocument',
        summary: 'Remove a document',
        description: 'It can be restored, unless `hard` is true.',
        tags,
        params: documentParams,
        querystring: removeDocumentQuery,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      await removeDocument(as(request), request.params, request.query.hard ?? false, actorOf(request))
      return { guid: request.params.document, removed: true } as const
    },
  )
}

function restoreDocumentRoute(app: App, { as }: SharedParts): void {
  app.post(
    `${onePath}/restore`,
    {
      config: { permission: 'storages_update', errors: ['CONFLICT', 'DENIED_BY_RULE'] },
      schema: {
        operationId: 'restoreDocument',
        summary: 'Restore a removed document',
        tags,
        params: documentParams,
        response: { 200: documentSchema },
      },
    },
    async (request, reply) =>
      sendStored(reply, await restoreDocument(as(request), request.params, actorOf(request))),
  )
}

function getDocumentHistoryRoute(app: App, { context, permissions }: SharedParts): void {
  app.get(
    `${onePath}/history`,
    {
      config: { permission: 'storages_view', errors: ['INVALID_QUERY'] },
      schema: {
        operationId: 'getDocumentHistory',
        summary: 'History of a document',
        description:
          'User, time and changed fields of each write, newest first; available after its deletion too. Empty unless the storage keeps history.',
        tags,
        params: documentParams,
        querystring: historyQuery,
        response: { 200: Type.Array(historySchema) },
      },
    },
    async (request, reply) => {
      const { guid, document } = request.params
      const name = await storageNamed(context, guid)
      const { limit = 50, offset = 0, after } = request.query
      const page = { limit, offset, ...(after !== undefined && { after }) }
      const subject = callerSubject(request)
      const found = await historyFor(context, permissions, { name, document, page }, subject)
      return searchReply(reply, {}, found)
    },
  )
}

/** The text as it is stored, or without what is hidden: it need not be written again. */
function sendStored(reply: FastifyReply, stored: StoredJson): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(stored.text)
}

/** So that a document can be fetched, changed and sent back. */
function withoutMeta({ _meta, ...fields }: JsonObject): JsonObject {
  return fields
}
