import type { Identity } from '../../access/identity-cache.ts'
import { mayEnter } from '../../access/scopes.ts'
import type { CompiledEndpoint } from '../../flows/compile/frame.ts'
import { type EndpointMethod, endpointMethods } from '../../flows/compile/read-triggers.ts'
import type { LiveBlueprint, LiveTable } from '../../flows/live/live-blueprints.ts'
import { pauses } from '../../shared/cooperative.ts'
import type { FieldRule, FieldsOf } from '../../shared/field-rule.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { PlacedField } from '../../shared/request-field.ts'
import { type DocumentSchemas, describeReplies, documentSchemas } from './describe-replies.ts'
import { endpointFailures, hasBody } from './endpoint-failures.ts'
import type { ApiOperation, ApiParameter, ApiSchema, ExtraPaths } from './open-api-document.ts'
import { bodySchemaName, requestBodySchema, requestFieldSchema } from './request-schemas.ts'

/**
 * Names of custom endpoints in the OpenAPI document, which clients are generated from: `get_tasks_guid`. No two are the
 * same, also after a generator has changed their case and dropped their punctuation (`get_a-b` and `get_a/b` become
 * `getAB`): those that would be get a suffix made of their address, so that neither depends on the order of the other.
 *
 * @param endpoints all of the live table, not only those a caller may see: a name is the same for every caller
 * @param taken names of the management operations
 */
function operationIds(
  endpoints: readonly CompiledEndpoint[],
  taken: Iterable<string>,
): ReadonlyMap<CompiledEndpoint, string> {
  const counts = new Map<string, number>()
  for (const id of taken) counts.set(folded(id), 1)
  for (const endpoint of endpoints) {
    const key = folded(plainId(endpoint))
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return new Map(
    endpoints.map((endpoint) => {
      const id = plainId(endpoint)
      return [endpoint, counts.get(folded(id)) === 1 ? id : `${id}_${suffix(endpoint)}`]
    }),
  )
}

function plainId({ listening: { method, uri } }: CompiledEndpoint): string {
  return `${method.toLowerCase()}_${uri.replace(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')}`
}

const folded = (id: string): string => id.replace(/[^A-Za-z0-9]/g, '').toLowerCase()

/** FNV-1a of method and URI, 32 bits: eight hexadecimal digits. */
function suffix({ listening: { method, uri } }: CompiledEndpoint): string {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(`${method} ${uri}`)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}

export interface EndpointSight {
  readonly table: LiveTable
  readonly identity: Identity | undefined
  /** Names of the management operations, which no custom endpoint gets. */
  readonly managementIds?: ReadonlySet<string>
  /** The rules that documents of a storage keep to: their fields are in the replies that send such documents. */
  readonly rulesOf?: (storage: string) => MaybePromise<readonly FieldRule[]>
}

/** The custom endpoints that this caller may enter, as OpenAPI paths, grouped by blueprint. */
export async function describeEndpoints(sight: EndpointSight): Promise<ExtraPaths> {
  const { table, identity, managementIds = [], rulesOf = () => [] } = sight
  const fieldsOf = await knownFields(table, rulesOf)
  const documents = documentSchemas(fieldsOf)
  const blueprints = [...table.blueprints.values()]
  const all = blueprints.flatMap(({ compiled }) => compiled.endpoints)
  const ids = operationIds(all, managementIds)
  const methodsOf = endpointMethods(all)
  const paths: Record<string, Record<string, ApiOperation>> = {}
  const schemas: Record<string, ApiSchema> = {}
  const tags = new Map<string, { name: string; description: string }>()
  const pause = pauses()
  for (const live of blueprints) {
    for (const endpoint of live.compiled.endpoints) {
      await pause()
      if (!mayEnter(endpoint.scopes, identity)) continue
      const { method: listened, uri } = endpoint.listening
      const path = `/api/v1/${uri.replace('...}', '}')}`
      const id = ids.get(endpoint) ?? ''
      for (const method of methodsOf(endpoint)) {
        const operationId = listened === 'ANY' ? `${id}_${method.toLowerCase()}` : id
        const operation = { operationId, ...describe(live, endpoint, method, operationId, documents) }
        const body = hasBody(method) ? requestBodySchema(endpoint, fieldsOf) : undefined
        if (body) schemas[bodySchemaName(operationId)] = body
        paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
      }
      tags.set(live.name, { name: live.name, description: `Endpoints of the blueprint "${live.name}".` })
    }
  }
  return { paths, schemas: { ...schemas, ...documents.schemas }, tags: [...tags.values()] }
}

/** Of a flow that replies with the messages of a channel. */
const streamReply = {
  description: 'What the flow replies.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
}

/** Where no block of the flow itself replies: it may only store something, or wait. */
const noReply = { description: 'The flow ended, or waits, without a reply.' }

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
  async function read(name: string): Promise<readonly FieldRule[]> {
    // A field without a storage counts everywhere, which does not say that these documents have it.
    const own = fields.get(name) ?? (await rulesOf(name)).filter(({ storage }) => storage === name)
    fields.set(name, own)
    return own
  }
  // A reply may have the documents that its own refer to.
  for (const { compiled } of table.blueprints.values())
    for (const name of storagesOf(compiled))
      for (const { reference } of await read(name)) if (reference) await read(reference.storage)
  return (storage) => fields.get(storage) ?? []
}

/**
 * Not a media type of the reply: generated clients would give every caller of the endpoint "the reply or a text", although
 * only a client that asks for events gets them.
 */
const EVENTS =
  'With `accept: text/event-stream` the reply is sent as a server-sent event, and again whenever it changes.'

function describe(
  live: LiveBlueprint,
  endpoint: CompiledEndpoint,
  method: EndpointMethod,
  operationId: string,
  documents: DocumentSchemas,
): ApiOperation {
  const { uri, summary, description, idempotent } = endpoint.listening
  const open = mayEnter(endpoint.scopes, undefined)
  const scopes = open ? '' : `Needs ${endpoint.scopes.map((scope) => `\`${scope}\``).join(' or ')}.`
  const replies = describeReplies(endpoint.replies(documents.fieldsOf), documents)
  const events = endpoint.flow.cacheable ? EVENTS : ''
  const about = [description, scopes, events].filter((part) => part !== '').join('\n\n')
  return {
    summary: summary || `${method} ${uri}`,
    ...(about === '' ? {} : { description: about }),
    tags: [live.name],
    parameters: parametersOf(endpoint, method, idempotent),
    ...(hasBody(method) ? { requestBody: requestBody(endpoint, operationId, documents.fieldsOf) } : {}),
    responses: {
      ...(Object.keys(replies).some((status) => /^[23]|default/.test(status))
        ? {}
        : endpoint.subscribes
          ? { '200': streamReply }
          : { '200': unknownReply, '204': noReply }),
      ...replies,
      ...endpointFailures(endpoint, method, replies, open),
    },
    security: open ? [] : [{ bearer: [] }, { apiKey: [] }],
  }
}

function parametersOf(
  endpoint: CompiledEndpoint,
  method: EndpointMethod,
  idempotent: boolean,
): ApiParameter[] {
  const { uri } = endpoint.listening
  const inPath = [...uri.matchAll(/\{([^{}.]+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name)
  const inQuery =
    method === 'GET' || method === 'DELETE'
      ? endpoint.fields.filter(
          (name) =>
            !inPath.includes(name) && !endpoint.listening.schema?.some((field) => field.name === name),
        )
      : []
  const { schema = [] } = endpoint.listening
  const known = new Map(schema.map((field) => [field.name, field]))
  const typed = schema.filter((field) => field.in === 'query' && !inPath.includes(field.name))
  return [
    ...inPath.map(
      (name): ApiParameter => ({
        name,
        in: 'path',
        required: true,
        schema: schemaOfParameter(known.get(name)),
      }),
    ),
    ...typed.map(
      (field): ApiParameter => ({
        name: field.name,
        in: 'query',
        ...(field.required && { required: true }),
        schema: requestFieldSchema(field),
      }),
    ),
    ...inQuery.map((name): ApiParameter => ({ name, in: 'query', schema: { type: 'string' } })),
    ...(idempotent
      ? [{ name: 'idempotency-key', in: 'header', schema: { type: 'string' } } satisfies ApiParameter]
      : []),
  ]
}

/** The body: a named schema where the trigger has one, so that generated clients have a type of that name. */
function requestBody(
  endpoint: CompiledEndpoint,
  operationId: string,
  fieldsOf: FieldsOf,
): NonNullable<ApiOperation['requestBody']> {
  const body = requestBodySchema(endpoint, fieldsOf)
  const schema = body ? { $ref: `#/components/schemas/${bodySchemaName(operationId)}` } : { type: 'object' }
  const required = body?.required !== undefined && { required: true }
  const { accepts } = endpoint.listening
  return {
    ...required,
    content: {
      'application/json': { schema },
      ...(accepts?.kind === 'multipart' && { 'multipart/form-data': { schema: formSchema(body) } }),
      ...(accepts?.kind === 'xml' && { 'application/xml': { schema } }),
      ...(accepts?.kind === 'text' && { 'text/plain': { schema: { type: 'string' } } }),
    },
  }
}

/** An object among the fields of a form is a file, and so is a part of another name that has one. */
function formSchema(body: ApiSchema | undefined): ApiSchema {
  const file: ApiSchema = { type: 'string', format: 'binary' }
  const properties = Object.entries(body?.properties ?? {}).map(([name, schema]) => {
    if (schema.type === 'array') return [name, { type: 'array', items: file }] as const
    return [name, schema.type === 'object' ? file : schema] as const
  })
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(body?.required && { required: body.required }),
    additionalProperties: file,
  }
}

function schemaOfParameter(field: PlacedField | undefined): ApiSchema {
  return field?.in === 'path' ? requestFieldSchema(field) : { type: 'string' }
}

/** Those that it uses, and those whose fields its triggers check. */
export function storagesOf({ needs, endpoints }: LiveBlueprint['compiled']): ReadonlySet<string> {
  const named = endpoints.flatMap(({ listening: { schemaStorage } }) => schemaStorage ?? [])
  return new Set([...needs.keys(), ...named])
}
