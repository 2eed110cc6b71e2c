/** The operations of an OpenAPI document as endpoints of a blueprint: addresses, checked requests, and replies that are examples. */
import { reservedRoots } from '../../../http/server/reserved-roots.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import { requestFieldsProblem } from '../../../shared/request-field.ts'
import { objectsIn, textIn, textsIn } from '../../../storage/document-fields.ts'
import { distinctNames, shownName } from '../fitting-names.ts'
import { mergedSchema, resolved } from './openapi-schema.ts'

export interface MadeBlueprint {
  /** In the format of files. */
  readonly json: JsonObject
  /** What it has, one line each. */
  readonly made: readonly string[]
  /** What is missing, or cannot be said. */
  readonly unsaid: readonly string[]
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
const otherMethods = ['head', 'options', 'trace'] as const
const MOST_OPERATIONS = 500
const MOST_FIELDS = 100
/** Of an example that becomes a reply. */
const MOST_CHARACTERS = 20_000
const LINE = 200

interface Operation {
  readonly method: (typeof methods)[number]
  readonly path: string
  readonly operation: JsonObject
  /** Of the path. */
  readonly shared: readonly JsonObject[]
}

export function openApiBlueprint(document: JsonValue): MadeBlueprint {
  if (!isJsonObject(document) || !textIn(document.openapi).startsWith('3.') || !isJsonObject(document.paths))
    throw new Error('is no OpenAPI document of version 3')
  const unsaid: string[] = []
  const made: string[] = []
  const say = (line: string) => void unsaid.push(line)
  const distinct = distinctNames()
  const blocks: Record<string, JsonValue> = {}
  const layout: Record<string, JsonValue> = {}
  const operations = operationsIn(document, say)
  if (operations.length === 0) throw new Error('has no operations')
  for (const [at, one] of operations.slice(0, MOST_OPERATIONS).entries()) {
    const place = `${one.method.toUpperCase()} ${shownName(one.path)}`
    const uri = uriOf(one.path, place, say)
    if (uri === undefined) continue
    const name = distinct(blockName(one))
    const reply = distinct(`${name}_reply`)
    blocks[name] = triggerOf(document, one, { uri, place, say })
    blocks[reply] = replyOf(document, one, { flow: `@${name}.flow`, place, say })
    layout[name] = [0, at * LINE]
    layout[reply] = [360, at * LINE]
    made.push(`${place} as ${uri}`)
  }
  if (operations.length > MOST_OPERATIONS)
    say(
      `${operations.length - MOST_OPERATIONS} operations are left out: a blueprint gets at most ${MOST_OPERATIONS}.`,
    )
  sayOfDocument(document, say)
  const info = isJsonObject(document.info) ? document.info : {}
  const json = {
    name: lineOf(info.title, 80) || 'Imported API',
    description: lineOf(info.description, 500),
    blocks,
    layout,
  }
  return { json, made, unsaid }
}

function lineOf(value: JsonValue | undefined, most: number): string {
  return textIn(value).replace(/\s+/g, ' ').trim().slice(0, most)
}

function operationsIn(document: JsonObject, say: (line: string) => void): readonly Operation[] {
  const paths = isJsonObject(document.paths) ? document.paths : {}
  return Object.entries(paths).flatMap(([path, found]) => {
    const item = resolved(document, found)
    if (!isJsonObject(item)) return []
    for (const method of otherMethods)
      if (isJsonObject(item[method]))
        say(`${method.toUpperCase()} ${shownName(path)} is left out: endpoints have no such method.`)
    const shared = objectsIn(item.parameters)
    return methods.flatMap((method) => {
      const operation = item[method]
      return isJsonObject(operation) ? [{ method, path, operation, shared }] : []
    })
  })
}

/** Undefined for a path that no endpoint can have. */
function uriOf(path: string, place: string, say: (line: string) => void): string | undefined {
  const segments = path.split('/').filter((segment) => segment !== '')
  const fitting = segments.map((segment) => {
    const [, name] = /^\{([^{}]+)\}$/.exec(segment) ?? []
    if (name !== undefined) return `{${parameterName(name)}}`
    return /^[A-Za-z0-9._~-]+$/.test(segment) ? segment : undefined
  })
  if (segments.length === 0 || path.length > 400 || fitting.includes(undefined)) {
    say(`${place} is left out: a segment of an endpoint is plain text or one parameter.`)
    return undefined
  }
  const [root = ''] = segments
  const isOwn = reservedRoots.has(root) || /^(?:_|v\d+$)/.test(root)
  if (isOwn) say(`${place} is at app/${segments.join('/')}: Quoin has ${root} itself.`)
  return `${isOwn ? 'app/' : ''}${fitting.join('/')}`
}

/** As names of parameters are: `pet-id` is `pet_id`. */
function parameterName(name: string): string {
  return (
    name
      .replace(/[^A-Za-z0-9_]/g, '_')
      .replace(/^[^A-Za-z]+/, '')
      .slice(0, 60) || 'parameter'
  )
}

function blockName({ method, path, operation }: Operation): string {
  const text = textIn(operation.operationId) || `${method}_${path}`
  const name = text
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .replace(/_$/, '')
  return name.slice(0, 50) || method
}

interface OperationContext {
  readonly place: string
  readonly say: (line: string) => void
}

function triggerOf(
  document: JsonObject,
  one: Operation,
  context: OperationContext & { readonly uri: string },
): JsonObject {
  const { operation, method } = one
  const summary = lineOf(operation.summary, 120)
  const description = textIn(operation.description).slice(0, 1_000)
  const schema = [...parametersOf(document, one, context), ...bodyOf(document, operation, context)].slice(
    0,
    MOST_FIELDS,
  )
  return {
    type: `on_startup_register_uri_${method}`,
    in: { uri: context.uri },
    fields: {
      ...(summary && { summary }),
      ...(description && { description }),
      ...(schema.length > 0 && { schema }),
    },
    // A document may call public what its server checks in another way.
    scopes: ['*loggedin'],
  }
}

function parametersOf(
  document: JsonObject,
  { operation, shared }: Operation,
  { place, say }: OperationContext,
): readonly JsonObject[] {
  const found = new Map<string, JsonObject>()
  for (const one of [...shared, ...objectsIn(operation.parameters)]) {
    const parameter = resolved(document, one)
    if (isJsonObject(parameter)) found.set(`${textIn(parameter.in)} ${textIn(parameter.name)}`, parameter)
  }
  return [...found.values()].flatMap((parameter) => {
    const { name, in: where, required } = parameter
    const shown = shownName(textIn(name))
    if (where !== 'path' && where !== 'query') {
      say(`${place}: the ${where === 'cookie' ? 'cookie' : 'header'} ${shown} is not checked.`)
      return []
    }
    const schema = mergedSchema(document, parameter.schema ?? {})
    const several = where === 'query' && schema.type === 'array'
    const written = where === 'path' ? parameterName(textIn(name)) : textIn(name)
    const field = {
      name: written,
      ...fieldOf(several ? mergedSchema(document, schema.items ?? {}) : schema),
      in: where,
      ...((required === true || where === 'path') && { required: true }),
      ...(several && { several }),
    }
    return fitting(field, `${place}: the parameter ${shown}`, say)
  })
}

function bodyOf(
  document: JsonObject,
  operation: JsonObject,
  { place, say }: OperationContext,
): readonly JsonObject[] {
  const body = resolved(document, operation.requestBody ?? null)
  const content = isJsonObject(body) && isJsonObject(body.content) ? body.content : {}
  const type = Object.keys(content).find((one) => /json/i.test(one)) ?? Object.keys(content)[0]
  if (type === undefined) return []
  if (!/json|form/i.test(type)) say(`${place}: the body ${shownName(type)} is not checked.`)
  const media = content[type]
  const schema = mergedSchema(document, isJsonObject(media) ? (media.schema ?? {}) : {})
  if (!isJsonObject(schema.properties)) {
    say(`${place}: the body is no object with known fields, and is not checked.`)
    return []
  }
  const required = new Set(textsIn(schema.required))
  return Object.entries(schema.properties).flatMap(([name, found]) => {
    const inner = mergedSchema(document, found)
    if (inner.readOnly === true) return []
    const hasParts = isJsonObject(inner.properties) || isJsonObject(inner.items)
    if (hasParts) say(`${place}: what is in ${shownName(name)} is not checked.`)
    const field = { name, ...fieldOf(inner), in: 'body', ...(required.has(name) && { required: true }) }
    return fitting(field, `${place}: the field ${shownName(name)}`, say)
  })
}

/** None for one that a schema of requests cannot have. */
function fitting(field: JsonObject, subject: string, say: (line: string) => void): readonly JsonObject[] {
  const problem = requestFieldsProblem([field])
  if (problem === undefined) return [field]
  const { name, type, in: where, required } = field
  const plain = {
    name: name ?? '',
    type: type ?? 'any',
    in: where ?? 'body',
    ...(required === true && { required }),
  }
  if (requestFieldsProblem([plain]) === undefined) {
    say(`${subject} is checked by its type alone.`)
    return [plain]
  }
  say(`${subject} is not checked: its name cannot be one of a pin.`)
  return []
}

function fieldOf(schema: JsonObject): JsonObject {
  const { minimum, maximum, minLength, maxLength, pattern } = schema
  const types = Array.isArray(schema.type) ? schema.type.filter((one) => one !== 'null') : [schema.type]
  const [type] = types
  const choices = Array.isArray(schema.enum) ? schema.enum : []
  const known = choices.every((one) => typeof one === 'string' || typeof one === 'number')
  const fallback = schema.default
  return {
    type: types.length > 1 ? 'any' : wordOf(textIn(type), textIn(schema.format)),
    ...(typeof minimum === 'number' && { min: minimum }),
    ...(typeof maximum === 'number' && { max: maximum }),
    ...(typeof minLength === 'number' && { min_length: minLength }),
    ...(typeof maxLength === 'number' && { max_length: maxLength }),
    ...(typeof pattern === 'string' && { pattern }),
    ...(choices.length > 0 && known && { choices }),
    ...(fallback !== undefined && fallback !== null && typeof fallback !== 'object' && { default: fallback }),
  }
}

function wordOf(type: string, format: string): string {
  switch (type) {
    case 'string':
      return format === 'date' ? 'day' : format === 'date-time' ? 'date' : 'text'
    case 'integer':
      return 'whole number'
    case 'boolean':
      return 'condition'
    case 'array':
      return 'list'
    case 'number':
    case 'object':
      return type
    default:
      return 'any'
  }
}

/** The first example of a reply that is no error, else an error that says that the flow is missing. */
function replyOf(
  document: JsonObject,
  { operation }: Operation,
  { flow, place, say }: OperationContext & { readonly flow: string },
): JsonObject {
  const responses = isJsonObject(operation.responses) ? operation.responses : {}
  const code = Object.keys(responses).find((one) => /^2\d\d$/.test(one)) ?? '200'
  const example = exampleIn(document, resolved(document, responses[code] ?? null))
  if (example === undefined || JSON.stringify(example).length > MOST_CHARACTERS) {
    say(`${place}: its flow is missing: it replies 501.`)
    return { type: 'fail', in: { flow, status: 501, message: 'This endpoint is not built yet.' } }
  }
  say(`${place}: its flow is missing: it replies its example.`)
  return { type: 'httpconnection_set_json', in: { flow, code: Number(code), value: example } }
}

/** Objects and lists: a text could be taken for an expression. */
function exampleIn(document: JsonObject, response: JsonValue): JsonValue | undefined {
  const content = isJsonObject(response) && isJsonObject(response.content) ? response.content : {}
  const media = Object.entries(content).find(([type]) => /json/i.test(type))?.[1]
  if (!isJsonObject(media)) return undefined
  const named = isJsonObject(media.examples) ? Object.values(media.examples)[0] : undefined
  const first = named === undefined ? undefined : resolved(document, named)
  const schema = mergedSchema(document, media.schema ?? {})
  const found = media.example ?? (isJsonObject(first) ? first.value : undefined) ?? schema.example
  return typeof found === 'object' && found !== null ? found : undefined
}

function sayOfDocument(document: JsonObject, say: (line: string) => void): void {
  const components = isJsonObject(document.components) ? document.components : {}
  if (isJsonObject(components.securitySchemes))
    say(
      `Its ways to sign in are not taken over: ${Object.keys(components.securitySchemes).map(shownName).join(', ')}. Each endpoint asks for a signed-in user.`,
    )
  else say('Each endpoint asks for a signed-in user: give public ones the scope *public.')
  if (isJsonObject(document.webhooks)) say('Its webhooks are left out.')
  if (isJsonObject(components.schemas))
    say('Schemas of replies are not taken over: Quoin describes what the flows reply.')
}
