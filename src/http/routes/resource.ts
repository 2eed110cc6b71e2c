/**
 * The five routes that management resources have in common: list, create, get, update, remove. What one resource has
 * besides (another route, a condition) stands in its own file.
 */
import type { FastifyRequest } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { removedSchema } from '../../shared/api/people/users.ts'
import { guidParams } from '../../shared/api/record-schemas.ts'
import { searchSchema } from '../../shared/api/search.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import type { ManagementResource } from '../../shared/management-scopes.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Search } from '../../shared/query.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import type { App } from '../server/route-family.ts'
import { searchReply } from './search-reply.ts'
import { metaFields, type SearchField, searchRequest } from './search-request.ts'

interface ResourceDefinition {
  /** After `/api/v1`: `/users`. */
  readonly path: string
  /** The scopes are this and `_view`, `_create`, `_update`, `_remove`. */
  readonly scopes: ManagementResource
  readonly tags: readonly string[]
  /** Schema of the record that every route but `remove` replies. */
  readonly record: TSchema
  /** What lists filter and sort by, besides the fields of `_meta`. */
  readonly searchable: readonly SearchField[]
}

/** What the OpenAPI document says about one route. */
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  /** Errors of this route beside those that follow from its permission, body and path. */
  readonly errors?: readonly ErrorCode[]
  /** As in the config of a route. */
  readonly confirmed?: true
  /** Most bytes of the body; as in the config of a route. */
  readonly bodyBytes?: 'setting' | number
}

type WithBody<B extends TSchema> = Operation & { readonly body: B }

/** The body as Fastify's type provider gives it, written alike so that the compiler sees the same type. */
type BodyOf<B> = UndefinedToUnknown<B extends TSchema ? Static<B> : unknown>
type UndefinedToUnknown<T> = [T] extends [undefined] ? unknown : T

export interface Resource {
  /** `POST <path>/search` */
  list(operation: Operation, find: (requested: Search) => MaybePromise<RecordPage>): void
  /** `POST <path>` */
  create<B extends TSchema>(
    operation: WithBody<B>,
    create: (body: BodyOf<B>, request: FastifyRequest) => MaybePromise<unknown>,
  ): void
  /** `GET <path>/:guid` */
  get(operation: Operation, read: (guid: string) => MaybePromise<unknown>): void
  /** `PUT <path>/:guid` */
  update<B extends TSchema>(
    operation: WithBody<B>,
    update: (guid: string, body: BodyOf<B>, request: FastifyRequest) => MaybePromise<unknown>,
  ): void
  /** `DELETE <path>/:guid` */
  remove(operation: Operation, remove: (guid: string, request: FastifyRequest) => MaybePromise<unknown>): void
}

type Verb = 'view' | 'create' | 'update' | 'remove'

function describedIn(tags: readonly string[], { operationId, summary, description }: Operation) {
  return { operationId, summary, ...(description !== undefined && { description }), tags }
}

function configOf(scopes: ManagementResource, verb: Verb, { errors, confirmed, bodyBytes }: Operation) {
  return {
    permission: `${scopes}_${verb}` as const,
    ...(errors && { errors }),
    ...(confirmed && { confirmed }),
    ...(bodyBytes !== undefined && { bodyBytes }),
  }
}

function listRoute(
  app: App,
  { path, scopes, tags, record, searchable }: ResourceDefinition,
  operation: Operation,
  find: Parameters<Resource['list']>[1],
): void {
  const fields = [...searchable, ...metaFields]
  const response = { 200: Type.Array(record) }
  app.post(
    `${path}/search`,
    {
      config: { ...configOf(scopes, 'view', operation), bodyOptional: true },
      schema: { ...describedIn(tags, operation), body: searchSchema, response },
    },
    async ({ body }, reply) => searchReply(reply, body, await find(searchRequest(body, fields))),
  )
}

/** Adds the routes of one resource to `app`, one for each method that is called. */
export function resource(app: App, definition: ResourceDefinition): Resource {
  const { path, scopes, tags, record } = definition
  const one = `${path}/:guid`
  const response = { 200: record }
  const described = (operation: Operation) => describedIn(tags, operation)
  const config = (verb: Verb, operation: Operation) => configOf(scopes, verb, operation)

  return {
    list: (operation, find) => listRoute(app, definition, operation, find),
    create(operation, create) {
      app.post(
        path,
        {
          config: config('create', operation),
          schema: { ...described(operation), body: operation.body, response },
        },
        async (request) => create(request.body, request),
      )
    },
    get(operation, read) {
      app.get(
        one,
        {
          config: config('view', operation),
          schema: { ...described(operation), params: guidParams, response },
        },
        async (request) => read(request.params.guid),
      )
    },
    update(operation, update) {
      app.put(
        one,
        {
          config: config('update', operation),
          schema: { ...described(operation), params: guidParams, body: operation.body, response },
        },
        async (request) => update(request.params.guid, request.body, request),
      )
    },
    remove(operation, remove) {
      app.delete(
        one,
        {
          config: config('remove', operation),
          schema: { ...described(operation), params: guidParams, response: { 200: removedSchema } },
        },
        async (request) => {
          const { guid } = request.params
          await remove(guid, request)
          return { guid, removed: true } as const
        },
      )
    },
  }
}
