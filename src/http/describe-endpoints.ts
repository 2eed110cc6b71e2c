import type { Identity } from '../access/identity.ts'
import { mayEnter } from '../access/scopes.ts'
import type { CompiledEndpoint } from '../engine/frame.ts'
import type { LiveBlueprint, LiveTable } from '../engine/live-blueprints.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import { describeReplies, type FieldsOf } from './describe-replies.ts'
import type { ApiOperation, ApiParameter, ApiResponse, ApiSchema, ExtraPaths } from './open-api-document.ts'

/**
 * The custom endpoints that this caller may enter, as OpenAPI paths, grouped by blueprint. `rulesOf` gives the rules that
 * documents of a storage keep to: their fields are in the replies that send such documents.
 */
export async function describeEndpoints(
  table: LiveTable,
  identity: Identity | undefined,
  rulesOf: (storage: string) => MaybePromise<readonly FieldRule[]> = () => [],
): Promise<ExtraPaths> {
  const fieldsOf = await knownFields(table, rulesOf)
  const paths: Record<string, Record<string, ApiOperation>> = {}
  const tags = new Map<string, { name: string; description: string }>()
  for (const live of table.blueprints.values()) {
    for (const endpoint of live.compiled.endpoints) {
      if (!mayEnter(endpoint.scopes, identity)) continue
      const { method, uri } = endpoint.listening
      const path = `/api/v1/${uri.replace('...}', '}')}`
      paths[path] = { ...paths[path], [method.toLowerCase()]: describe(live, endpoint, fieldsOf) }
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

/** Of a flow without a reply block that could be followed. */
const unknownReply = {
  description: 'What the flow replies.',
  content: { 'application/json': { schema: {} } },
}

/** Of every storage that a blueprint uses, so that describing need not wait. */
async function knownFields(
  table: LiveTable,
  rulesOf: (storage: string) => MaybePromise<readonly FieldRule[]>,
): Promise<FieldsOf> {
  const fields = new Map<string, readonly FieldRule[]>()
  for (const { compiled } of table.blueprints.values())
    for (const name of compiled.needs.keys()) {
      // A field without a storage counts everywhere, which does not say that these documents have it.
      if (!fields.has(name))
        fields.set(
          name,
          (await rulesOf(name)).filter(({ storage }) => storage === name),
        )
    }
  return (storage) => fields.get(storage) ?? []
}

function describe(live: LiveBlueprint, endpoint: CompiledEndpoint, fieldsOf: FieldsOf): ApiOperation {
  const { method, uri, summary, description, idempotent } = endpoint.listening
  const open = mayEnter(endpoint.scopes, undefined)
  const scopes = open ? '' : `Needs ${endpoint.scopes.map((scope) => `\`${scope}\``).join(' or ')}.`
  const replies = describeReplies(endpoint.replies, fieldsOf)
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
      ...(Object.keys(replies).some((status) => /^2|default/.test(status)) ? {} : { '200': unknownReply }),
      ...replies,
      '400': {
        ...failed('Something in the request does not fit; `error` names it.'),
        ...contentOf(replies['400']),
      },
      '404': { ...failed('Not found, or not open to the caller.'), ...contentOf(replies['404']) },
    },
    ...(open ? {} : { security: [{ bearer: [] }] }),
  }
}

/** What the flow itself replies goes before what Quoin would. */
function contentOf(reply: ApiResponse | undefined): Pick<ApiResponse, 'content'> {
  return reply?.content ? { content: reply.content } : {}
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
