import type { Identity } from '../access/identity.ts'
import { mayEnter } from '../access/scopes.ts'
import type { CompiledEndpoint } from '../engine/frame.ts'
import type { LiveBlueprint, LiveTable } from '../engine/live-blueprints.ts'
import type { ApiOperation, ApiParameter, ApiSchema, ExtraPaths } from './open-api-document.ts'

/** The custom endpoints that this caller may enter, as OpenAPI paths, grouped by blueprint. */
export function describeEndpoints(table: LiveTable, identity: Identity | undefined): ExtraPaths {
  const paths: Record<string, Record<string, ApiOperation>> = {}
  const tags = new Map<string, { name: string; description: string }>()
  for (const live of table.blueprints.values()) {
    for (const endpoint of live.compiled.endpoints) {
      if (!mayEnter(endpoint.scopes, identity)) continue
      const { method, uri } = endpoint.listening
      const path = `/api/v1/${uri.replace('...}', '}')}`
      paths[path] = { ...paths[path], [method.toLowerCase()]: describe(live, endpoint) }
      tags.set(live.name, { name: live.name, description: `Endpoints of the blueprint "${live.name}".` })
    }
  }
  return { paths, tags: [...tags.values()] }
}

const errorBody: ApiSchema = {
  type: 'object',
  properties: { error: { type: 'string' } },
  required: ['error'],
}

function describe(live: LiveBlueprint, endpoint: CompiledEndpoint): ApiOperation {
  const { method, uri, summary, description, idempotent } = endpoint.listening
  const open = mayEnter(endpoint.scopes, undefined)
  const scopes = open ? '' : `Needs ${endpoint.scopes.map((scope) => `\`${scope}\``).join(' or ')}.`
  const about = [description, scopes].filter((part) => part !== '').join('\n\n')
  const failed = (text: string) => ({
    description: text,
    content: { 'application/json': { schema: errorBody } },
  })
  return {
    operationId: `${method.toLowerCase()}_${uri.replace(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')}`,
    summary: summary || `${method} ${uri}`,
    ...(about === '' ? {} : { description: about }),
    tags: [live.name],
    parameters: parametersOf(endpoint, idempotent),
    ...(method === 'POST' || method === 'PUT'
      ? { requestBody: { content: { 'application/json': { schema: { type: 'object' } } } } }
      : {}),
    responses: {
      '200': { description: 'What the flow replies.', content: { 'application/json': { schema: {} } } },
      '400': failed('Something in the request does not fit; `error` names it.'),
      '404': failed('Not found, or not open to the caller.'),
    },
    ...(open ? {} : { security: [{ bearer: [] }] }),
  }
}

function parametersOf(endpoint: CompiledEndpoint, idempotent: boolean): ApiParameter[] {
  const { uri, method } = endpoint.listening
  const inPath = [...uri.matchAll(/\{([^}.]+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name)
  const inQuery =
    method === 'GET' || method === 'DELETE' ? endpoint.fields.filter((name) => !inPath.includes(name)) : []
  return [
    ...inPath.map((name): ApiParameter => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...inQuery.map((name): ApiParameter => ({ name, in: 'query', schema: { type: 'string' } })),
    ...(idempotent
      ? [{ name: 'idempotency-key', in: 'header', schema: { type: 'string' } } satisfies ApiParameter]
      : []),
  ]
}
