import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { errorSchema } from '../../shared/api/record-schemas.ts'
import { countSchema, searchQuerySchema, searchSchema } from '../../shared/api/search.ts'
import { type ErrorCode, errorTable } from '../../shared/errors.ts'
import { isScope, neededScopes } from '../server/permission.ts'
import type { ApiDocument, ApiTag } from './open-api-document.ts'

/** The groups of management operations, in the order in which the reference shows them. */
const apiTags: ApiTag[] = [
  { name: 'Sign-in', description: 'Access tokens.' },
  { name: 'Users', description: 'Users, their scopes, and the account of the caller.' },
  { name: 'API keys', description: 'Secrets of users for programs that call in.' },
  { name: 'Passkeys', description: 'Keys of devices, with which users sign in.' },
  { name: 'Sessions', description: 'Where users are signed in.' },
  { name: 'Authentication groups', description: 'Named sets of scopes for users.' },
  { name: 'Cluster', description: 'Version, flags and nodes.' },
  {
    name: 'Alerts',
    description: 'Rules that tell people by mail and webhook of failures, queues and disks.',
  },
  {
    name: 'Blueprints',
    description: 'Flows of blocks: deploy, activate, versions, and explain a path.',
  },
  { name: 'Blocks', description: 'The blocks of a blueprint and their staged changes; all block types.' },
  { name: 'Fields', description: 'Fields of documents and the rules for their values.' },
  { name: 'Runs', description: 'Traced runs: record, watch, pause and replay.' },
  { name: 'Templates', description: 'Layout, navigation and style of pages.' },
  {
    name: 'Validation rules',
    description: 'Rules that every blueprint is checked against when it is deployed.',
  },
  {
    name: 'Secrets',
    description: 'Named, encrypted texts that only pins of the type `secret` use. No reply contains a value.',
  },
  {
    name: 'Extensions',
    description: 'Blocks that are not part of Quoin: what they may do, and which are on.',
  },
  { name: 'Connections', description: 'Servers that flows call by name, with how requests are signed in.' },
  { name: 'Environment', description: 'Named values of the cluster that expressions read as `env.NAME`.' },
  { name: 'Storages', description: 'Collections of documents.' },
  {
    name: 'Documents',
    description: 'Documents of a storage: search, change, restore, history, import and export.',
  },
  { name: 'Assets', description: 'Uploaded files.' },
  { name: 'Queue', description: 'Background jobs, queues and schedules.' },
  { name: 'Logs', description: 'System log, audit log and user log.' },
]

type Schema = NonNullable<RouteOptions['schema']>

/**
 * Draws the OpenAPI 3.1 document from the routes themselves. What a route says once (its permission, that it takes a
 * body, that its path has parameters) also says who may call it and which errors it gives, so no list of errors is kept
 * by hand.
 */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  app.addSchema(errorSchema)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Quoin',
        version,
        description:
          'The API of a Quoin cluster: its management endpoints, and the endpoints that active blueprints register.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      // Of this server, wherever it is reached.
      servers: [{ url: '/' }],
      tags: apiTags,
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'The access_token of POST /api/v1/auth/signin, or an API key (`qk_…`).',
          },
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'x-api-key',
            description: 'An API key (`qk_…`) of POST /api/v1/users/me/keys.',
          },
        },
      },
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
    // A path template has a name for what the wildcard stands for.
    transform: ({ schema, url, route }) => ({
      url: url.replace(/\*$/, ':path'),
      schema: describeRoute(schema, route),
    }),
  })
}

/** The document of the routes that the server was opened with; the same object each time. */
export function managementDocument(app: FastifyInstance): () => ApiDocument {
  let document: ApiDocument | undefined
  return () => {
    // Through JSON text, as clients get it; what the plugin gives is typed for all versions of OpenAPI at once.
    document ??= JSON.parse(JSON.stringify(app.swagger())) as ApiDocument
    return document
  }
}

function describeRoute(schema: Schema | undefined, route: RouteOptions): Schema {
  const { config } = route
  const permission = config?.permission ?? 'public'
  const shown: Schema = { ...schema }
  // What the trigger decides is described by the blueprints, not by the route they share.
  if (permission === 'by-trigger') return { ...shown, hide: true }
  shown.security = permission === 'public' ? [] : [{ bearer: [] }, { apiKey: [] }]
  const scopes = neededScopes(config ?? {}).map((scope) => `\`${scope}\``)
  if (scopes.length > 0) {
    const needs = `Needs the ${scopes.length > 1 ? 'scopes' : 'scope'} ${scopes.join(' and ')}.`
    shown.description = shown.description === undefined ? needs : `${shown.description}\n\n${needs}`
  }
  const input = typeof shown.response === 'object' && shown.response !== null ? shown.response : {}
  shown.response = {
    ...described(input),
    ...(isSearch(shown) && searchReplies(input)),
    ...errorsOf(shown, route),
  }
  return shown
}

/** Where a route does not say what its reply is, its schema may; the plugin would write "Default Response". */
function described(responses: object): Record<string, object> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, schema]: [string, object]) => {
      const description = 'description' in schema ? String(schema.description) : 'The reply.'
      return [status, { ...schema, description }]
    }),
  )
}

function isSearch(schema: Schema): boolean {
  return schema.body === searchSchema || schema.querystring === searchQuerySchema
}

/** What every search replies, around the route's array of records. */
function searchReplies(input: object): object {
  if (!('200' in input)) return input
  return {
    200: {
      description:
        'The records; with `count: true`, their number. The header `x-total-count` is the number of all matches. Send `x-next-cursor` as `after` for the next page.',
      headers: {
        'x-total-count': { type: 'integer', description: 'Number of matching records.' },
        'x-next-cursor': {
          type: 'string',
          description: 'Value of `after` for the next page; absent on the last one.',
        },
      },
      anyOf: [input[200], countSchema],
    },
  }
}

/** A parameter of the path that is more than text: what does not fit is told, not just missing. */
function canMisfit(params: unknown): boolean {
  const properties =
    typeof params === 'object' && params !== null && 'properties' in params ? params.properties : {}
  return Object.values(properties ?? {}).some((one) => one.type !== 'string' || 'pattern' in one)
}

function errorsOf(schema: Schema, route: RouteOptions): Record<number, object> {
  const permission = route.config?.permission ?? 'public'
  const codes: ErrorCode[] = [...(route.config?.errors ?? [])]
  if (schema.body) {
    codes.push('INVALID_BODY', 'FILE_TOO_BIG', 'UNSUPPORTED_MEDIA_TYPE')
    if (!route.config?.bodyOptional) codes.push('NO_BODY_GIVEN')
  }
  if (schema.querystring || isSearch(schema) || canMisfit(schema.params)) codes.push('INVALID_QUERY')
  if (isSearch(schema)) codes.push('SEARCH_TOO_COSTLY')
  if (permission === 'public') codes.push('RATE_LIMITED')
  else codes.push('INVALID_ACCESS_TOKEN')
  if (isScope(permission)) codes.push('INSUFFICIENT_PERMISSIONS')
  if (route.config?.confirmed) codes.push('CONFIRMATION_REQUIRED')
  if (schema.params) codes.push('NOT_FOUND')
  codes.push('INTERNAL', 'UNAVAILABLE')
  const byStatus = new Map<number, string[]>()
  // A route may name one that its schema brings anyway.
  for (const code of new Set(codes)) {
    const { status, summary } = errorTable[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), `\`${code}\`: ${summary}`])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, lines]) => [status, { description: lines.join('\n\n'), $ref: 'Error#' }]),
  )
}
