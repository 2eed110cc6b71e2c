/**
 * Functions and endpoints that are offered as tools, for agents. A tool that the caller may not call is not there: it is neither listed
 * nor told apart from a name that no tool has.
 */
import { Type } from 'typebox'
import type { Identity } from '../../../access/identity-cache.ts'
import { mayEnter } from '../../../access/scopes.ts'
import { argumentsProblem, parametersSchema } from '../../../blocks/function-arguments.ts'
import type { Reply } from '../../../blocks/reply.ts'
import type { CompiledEndpoint, CompiledFunction } from '../../../flows/compile/frame.ts'
import { type LiveTable, type OfferedTool, offeredTools } from '../../../flows/live/live-blueprints.ts'
import type { Runs } from '../../../flows/run-pipeline.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import type { FieldRule } from '../../../shared/field-rule.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import { jsonStart } from '../../../shared/json-start.ts'
import type { MaybePromise } from '../../../shared/maybe-promise.ts'
import { textIn } from '../../../storage/document-fields.ts'
import { requestBodySchema, requestFieldSchema } from '../../docs/request-schemas.ts'
import type { Idempotency } from '../../endpoints/endpoint-idempotency.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily, RouteTools, SentAs } from '../../server/route-family.ts'

const folder = '/_system/tools'
/** Tools of one page. */
const MOST_TOOLS = 100

const toolPageQuery = Type.Object({
  after: Type.Optional(
    Type.String({ maxLength: 64, description: 'Name of the last tool of the page before.' }),
  ),
})

const toolPageSchema = Type.Object({
  tools: Type.Array(
    Type.Object({
      name: Type.String(),
      description: Type.String(),
      input: Type.Unknown({ description: 'JSON Schema of the arguments.' }),
      read_only: Type.Boolean({ description: 'Whether it is an endpoint that is called by GET.' }),
    }),
  ),
  next: Type.Optional(Type.String({ description: 'Where there are more: `after` of the next page.' })),
})

const toolParams = Type.Object({ name: Type.String({ maxLength: 64 }) })

const callToolSchema = Type.Object(
  { arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'By name.' })) },
  { additionalProperties: false },
)

const toolResultSchema = Type.Object({
  status: Type.Integer({ description: 'Of an endpoint, what it replied; of a function 200.' }),
  text: Type.String({ description: 'JSON or text, at most 65,536 characters.' }),
  whole: Type.Boolean({ description: 'false: the text is only the beginning.' }),
})
/** Characters of what a tool gives. */
const LONGEST_RESULT = 65_536
/** Of the schemas of one page. */
const LONGEST_PAGE = 100_000
/** Of the schema of one tool; a longer one is left out, and the endpoint says what does not fit. */
const LONGEST_SCHEMA = 20_000
const LONGEST_DESCRIPTION = 2_000

export interface ToolServices {
  readonly table: () => LiveTable
  readonly runs: Pick<Runs, 'run'>
  readonly idempotency: Idempotency
  readonly rulesOf: (storage: string) => MaybePromise<readonly FieldRule[]>
}

export function offeredToolRoutes(services: ToolServices): RouteFamily {
  return (app, tools) => {
    app.get(
      folder,
      {
        config: { permission: 'signed-in' },
        schema: {
          operationId: 'listTools',
          summary: 'List functions and endpoints that the caller may call as tools',
          tags: ['Agents'],
          querystring: toolPageQuery,
          response: { 200: toolPageSchema },
        },
      },
      (request) => listTools(services, callerOf(request), request.query.after ?? ''),
    )
    app.post(
      `${folder}/:name`,
      {
        config: {
          permission: 'signed-in',
          bodyBytes: 'setting',
          errors: ['CONFLICT', 'RATE_LIMITED', 'FLOW_FAILED', 'LOOP_DETECTED', 'UNAVAILABLE'],
        },
        schema: {
          operationId: 'callTool',
          summary: 'Call a function or an endpoint as a tool',
          description:
            'With an `idempotency-key` a function runs once: the same key gives the first result for 24 hours. An endpoint is called as any client calls it, with this key.',
          tags: ['Agents'],
          params: toolParams,
          body: callToolSchema,
          response: { 200: toolResultSchema },
        },
      },
      async (request) => {
        const caller = callerOf(request)
        const tool = offeredTools(services.table()).get(request.params.name)
        if (!tool || !mayEnter(tool.scopes, caller))
          throw new QuoinError('NOT_FOUND', 'There is no tool of this name. List them.')
        const sent: unknown = JSON.parse(JSON.stringify(request.body.arguments ?? {}))
        const input = isJsonObject(sent) ? sent : {}
        const key = request.headers['idempotency-key']
        const call = { caller, input, ip: request.ip, key: typeof key === 'string' ? key : undefined }
        if ('endpoint' in tool) return callEndpoint(tools, tool.endpoint, call)
        tools.limitRate(request, tool.function.block)
        return callFunction(services, tool, tool.function, call)
      },
    )
  }
}

interface ToolCall {
  readonly caller: Identity
  readonly input: JsonObject
  readonly ip: string
  /** Which calls are the same. */
  readonly key: string | undefined
}

async function listTools({ table, rulesOf }: ToolServices, caller: Identity, after: string) {
  const listed: { name: string; description: string; input: JsonObject; read_only: boolean }[] = []
  let characters = 0
  for (const tool of offeredTools(table()).values()) {
    if (tool.name <= after || !mayCall(tool, caller)) continue
    const shown = await describe(tool, rulesOf)
    characters += shown.characters
    const isFull = listed.length === MOST_TOOLS || (characters > LONGEST_PAGE && listed.length > 0)
    if (isFull) return { tools: listed, next: listed.at(-1)?.name ?? '' }
    listed.push(shown.tool)
  }
  return { tools: listed }
}

function mayCall({ name, scopes }: OfferedTool, caller: Identity): boolean {
  if (!mayEnter(scopes, caller)) return false
  return caller.key === undefined || caller.key.mayCall('POST', `/api/v1${folder}/${name}`)
}

async function describe(tool: OfferedTool, rulesOf: ToolServices['rulesOf']) {
  const whole =
    'endpoint' in tool
      ? await endpointSchema(tool.endpoint, rulesOf)
      : parametersSchema(tool.function.parameters)
  const length = JSON.stringify(whole).length
  const input = length > LONGEST_SCHEMA ? { type: 'object' } : whole
  const description = descriptionOf(tool).slice(0, LONGEST_DESCRIPTION).toWellFormed()
  const isRead = 'endpoint' in tool && tool.endpoint.listening.method === 'GET'
  return {
    characters: Math.min(length, LONGEST_SCHEMA) + description.length,
    tool: { name: tool.name, description, input, read_only: isRead },
  }
}

function descriptionOf(tool: OfferedTool): string {
  if ('function' in tool) return tool.function.description || `The function ${tool.function.name}.`
  const { method, uri, summary, description } = tool.endpoint.listening
  const about = [summary, description].filter((text) => text !== '').join('\n\n')
  return about || `${method} /api/v1/${uri}`
}

interface PathParameter {
  readonly name: string
  /** `{name...}`: the rest of the path, with its slashes. */
  readonly isRest: boolean
}

function pathParameters(uri: string): readonly PathParameter[] {
  return [...uri.matchAll(/\{([^{}.]+)(\.\.\.)?\}/g)].map(([, name = '', rest]) => ({
    name,
    isRest: rest !== undefined,
  }))
}

/** Its arguments are as the request has them: `path`, `query` and `body`, so that no names meet. */
async function endpointSchema(endpoint: CompiledEndpoint, rulesOf: ToolServices['rulesOf']) {
  const { uri, method, schema = [], schemaStorage } = endpoint.listening
  const path = pathParameters(uri)
  const fields = new Map(schema.map((field) => [field.name, field]))
  const inQuery = schema.filter((field) => field.in === 'query')
  const required = inQuery.flatMap(({ name, required: is, default: usual }) =>
    is && usual === undefined ? [name] : [],
  )
  const rules = schemaStorage === undefined ? [] : await rulesOf(schemaStorage)
  const own = rules.filter(({ storage }) => storage === schemaStorage)
  const body = method === 'GET' ? undefined : (requestBodySchema(endpoint, () => own) ?? {})
  const parts: JsonObject = JSON.parse(
    JSON.stringify({
      ...(path.length > 0 && {
        path: {
          type: 'object',
          properties: Object.fromEntries(
            path.map(({ name }) => {
              const field = fields.get(name)
              return [name, field ? requestFieldSchema(field) : { type: 'string' }]
            }),
          ),
          required: path.map(({ name }) => name),
        },
      }),
      query: {
        type: 'object',
        properties: Object.fromEntries(inQuery.map((field) => [field.name, requestFieldSchema(field)])),
        ...(required.length > 0 && { required }),
      },
      ...(body && { body }),
    }),
  )
  const needs = [...(path.length > 0 ? ['path'] : []), ...(required.length > 0 ? ['query'] : [])]
  return { type: 'object', properties: parts, required: needs, additionalProperties: false }
}

/** As a client would: its limits, checks, idempotency and logs count. */
async function callEndpoint(tools: RouteTools, { listening }: CompiledEndpoint, call: ToolCall) {
  const { uri, method } = listening
  const { path, query, body, ...others } = call.input
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw refusedArguments(`There is no argument ${unknown.slice(0, 60)}. There are path, query and body.`)
  const sentMethod = method === 'ANY' ? 'POST' : method
  if (sentMethod === 'GET' && body !== undefined)
    throw refusedArguments('A GET has no body. Send its fields in query.')
  const sent: SentAs = {
    method: sentMethod,
    path: `/${filledPath(uri, path)}${queryText(query)}`,
    ip: call.ip,
    ...(body !== undefined && { body }),
    ...(call.key !== undefined && { headers: { 'idempotency-key': call.key } }),
  }
  // The entry of the key for this tool is what admits it.
  const { key } = call.caller
  const caller = { ...call.caller, ...(key && { key: { ...key, mayCall: () => true } }) }
  const { status, type, bytes, whole } = await tools.sendBounded(caller, sent, LONGEST_RESULT)
  if (bytes.length === 0) return { status, text: '', whole }
  const isText = /^text\/|[/+](?:json|xml)$/.test(type)
  const text = isText
    ? bytes.toString()
    : `A file of the type ${type.slice(0, 100)}. Get it from the endpoint itself: ${method} /api/v1/${uri}`
  return { status, text, whole: whole || !isText }
}

function refusedArguments(message: string): QuoinError {
  return invalidField('arguments', message)
}

function filledPath(uri: string, sent: JsonObject[string] | undefined): string {
  const values = isJsonObject(sent) ? sent : {}
  const parameters = pathParameters(uri)
  for (const name of Object.keys(values))
    if (!parameters.some((one) => one.name === name))
      throw refusedArguments(`The path has no ${name.slice(0, 60)}.`)
  return parameters.reduce((filled, { name, isRest }) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (typeof value !== 'string' && typeof value !== 'number')
      throw refusedArguments(`path.${name} is missing, or is no text.`)
    const segments = isRest ? String(value).split('/') : [String(value)]
    // A router would go up from there.
    if (segments.some((one) => one === '' || one === '.' || one === '..'))
      throw refusedArguments(`path.${name} must not be empty, . or ..`)
    const encoded = segments.map((one) => encodeURIComponent(one.toWellFormed())).join('/')
    return filled.replace(isRest ? `{${name}...}` : `{${name}}`, () => encoded)
  }, uri)
}

function queryText(sent: JsonObject[string] | undefined): string {
  const pairs = Object.entries(isJsonObject(sent) ? sent : {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => {
      if (typeof one === 'object')
        throw refusedArguments(`query.${name.slice(0, 60)} must be a text or a number.`)
      return `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(String(one).toWellFormed())}`
    }),
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** As the user of the key, within its scopes: what it writes, and what its blocks do as the user, is theirs. */
async function callFunction(
  { runs, idempotency }: ToolServices,
  { blueprint, name }: OfferedTool,
  { block, flow, parameters, start }: CompiledFunction,
  { caller, input, ip, key: header }: ToolCall,
) {
  const problem = argumentsProblem(input, parameters)
  if (problem !== undefined) throw refusedArguments(problem)
  const { guid, username, user, scopes, hops } = caller
  const origin = { user: { guid, username }, ...(hops !== undefined && { hops }) }
  const inTheName = { user, origin, caller: () => ({ user, scopes }) }
  const begun = { flow, blueprint, input: start(input), ...inTheName, called: true } as const
  const request = {
    ...{ method: 'POST', url: `${folder}/${name}`, ip, query: {}, path: {}, body: input, user, scopes },
    headers: header === undefined ? {} : { 'idempotency-key': header },
  }
  const key = idempotency.keyOf({ blueprint, endpoint: { block } }, request)
  if (!key) return resultOf(await runs.run(begun))
  const stored = await idempotency.take(key)
  if (stored) return replyOf(stored.text)
  try {
    const end = await runs.run({
      ...begun,
      beforeEnd: (session, result) => idempotency.keep(session, key, storedResult(result)),
    })
    // Another node was faster: its writes and its result stand, ours were undone.
    const other = end.error?.code === 'CONFLICT' ? await idempotency.find(key) : undefined
    return other ? replyOf(other.text) : resultOf(end)
  } finally {
    idempotency.release(key)
  }
}

type Ended = Awaited<ReturnType<Runs['run']>>

function resultOf({ error, result }: Ended) {
  // 404 is that of the tool itself: what an argument names and is not there, is an argument that does not fit.
  if (error?.code === 'NOT_FOUND') throw refusedArguments(error.message)
  if (error) throw error
  return { status: 200, ...jsonStart(result, LONGEST_RESULT) }
}

function storedResult(result: Ended['result']): Reply {
  return { code: 200, value: { ...jsonStart(result, LONGEST_RESULT) }, headers: {} }
}

function replyOf(stored: string | undefined) {
  const { text, whole }: JsonObject = JSON.parse(stored ?? '{}')
  return { status: 200, text: textIn(text), whole: whole === true }
}
