/**
 * The OpenAPI document as one TypeScript file without dependencies: a function for each operation, with the types of its parameters, body
 * and replies. All names and texts may be of a builder, so each is written as a literal or is an identifier.
 */
import { CLIENT_RUNTIME } from './client-runtime.ts'
import type { ApiContent, ApiDocument, ApiOperation, ApiParameter, ApiSchema } from './open-api-document.ts'

/** Schemas in schemas: deeper ones are `unknown`. */
const DEEPEST = 40
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
/** Words that no function or type may be called. */
const RESERVED = new Set(
  'await break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield any bigint boolean never number object string symbol undefined unknown Api ApiError ApiProblem ClientOptions Reply ServerEvent Page'.split(
    ' ',
  ),
)

export function typedClient(document: ApiDocument): string {
  const names = typeNames(document)
  const write = (schema: ApiSchema | undefined) => typeOf(schema, names, 0)
  const types = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) => `export type ${names.get(name)} = ${write(schema)}`,
  )
  const taken = new Set<string>()
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      writeOperation({ path, method: method.toUpperCase(), operation, taken, write }),
    ),
  )
  return [
    `// ${comment(document.info.title)} ${comment(document.info.version)}: a client made from its OpenAPI document. Make it again when the document changes.`,
    ...types,
    CLIENT_RUNTIME.trim(),
    'export function createClient(options: ClientOptions) {',
    '  const call = caller(options)',
    '  return {',
    ...operations,
    '  }',
    '}',
    'export type Api = ReturnType<typeof createClient>',
    '',
  ].join('\n')
}

/** Of the named schemas: identifiers, each once. */
function typeNames({ components }: ApiDocument): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  return new Map(Object.keys(components?.schemas ?? {}).map((name) => [name, identifier(name, taken)]))
}

function identifier(text: string, taken: Set<string>): string {
  const word = text.replace(/[^A-Za-z0-9_$]+/g, '_').replace(/^(\d|$)/, '_$1')
  const free = RESERVED.has(word) ? `${word}_` : word
  let name = free
  for (let number = 2; taken.has(name); number++) name = `${free}_${number}`
  taken.add(name)
  return name
}

/** Of a builder's text: one line that ends no comment. */
function comment(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('*/', '* /').trim().slice(0, 300)
}

type Write = (schema: ApiSchema | undefined) => string

interface Operation {
  readonly path: string
  readonly method: string
  readonly operation: ApiOperation
  readonly taken: Set<string>
  readonly write: Write
}

function writeOperation({ path, method, operation, taken, write }: Operation): string {
  const {
    operationId = `${method} ${path}`,
    summary = '',
    parameters = [],
    requestBody,
    responses,
  } = operation
  const name = identifier(operationId, taken)
  const groups = (['path', 'query', 'header'] as const).flatMap((place) =>
    writeGroup(
      place,
      parameters.filter((one) => one.in === place && !isStandard(one)),
      write,
    ),
  )
  const body = requestBody && bodyType(requestBody.content, write)
  const fields = [
    ...groups,
    ...(body === undefined ? [] : [`body${requestBody?.required ? '' : '?'}: ${body}`]),
    'idempotencyKey?: string',
    'headers?: Record<string, string>',
    'signal?: AbortSignal',
  ]
  const optional = fields.every((field) => /^\w+\?:/.test(field)) ? '?' : ''
  // `default`: the flow calculates its status.
  const replies = Object.entries(responses).flatMap(([status, { content }]) =>
    status === 'default' || /^[23]/.test(status)
      ? [`Reply<${/^\d+$/.test(status) ? status : 'number'}, ${replyType(content, write)}>`]
      : [],
  )
  const reply = replies.length === 0 ? 'Reply<number, unknown>' : replies.join(' | ')
  return [
    `    /** ${comment(`${method} ${path}: ${summary}`)} */`,
    `    ${name}: (args${optional}: { ${fields.join('; ')} }): Promise<${reply}> =>`,
    `      call(${JSON.stringify(method)}, ${JSON.stringify(path)}, args),`,
  ].join('\n')
}

/** Set by the client itself. */
function isStandard({ name }: ApiParameter): boolean {
  return ['authorization', 'idempotency-key', 'content-type'].includes(name.toLowerCase())
}

function writeGroup(
  place: 'path' | 'query' | 'header',
  all: readonly ApiParameter[],
  write: Write,
): string[] {
  if (all.length === 0) return []
  const fields = all.map(
    ({ name, required, schema }) => `${property(name)}${required ? '' : '?'}: ${write(schema)}`,
  )
  const optional = all.some(({ required }) => required) ? '' : '?'
  return [`${place}${optional}: { ${fields.join('; ')} }`]
}

function bodyType(content: ApiContent, write: Write): string {
  const types = Object.entries(content).map(([type, { schema }]) => {
    if (type === 'multipart/form-data') return 'FormData'
    if (type === 'application/x-www-form-urlencoded') return 'URLSearchParams'
    return isJson(type) ? write(schema) : 'string | Blob'
  })
  return union(types.length === 0 ? ['unknown'] : types)
}

function replyType(content: ApiContent | undefined, write: Write): string {
  if (content === undefined) return 'undefined'
  const types = Object.entries(content).map(([type, { schema }]) => {
    if (type === 'text/event-stream') return 'AsyncIterable<ServerEvent>'
    return isJson(type) ? write(schema) : type.startsWith('text/') ? 'string' : 'Blob'
  })
  return union(types.length === 0 ? ['undefined'] : types)
}

function isJson(type: string): boolean {
  return /^application\/(\w+\+)?json\b/.test(type)
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ')
}

function property(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name)
}

function typeOf(schema: ApiSchema | undefined, names: ReadonlyMap<string, string>, depth: number): string {
  if (schema === undefined || depth > DEEPEST) return 'unknown'
  const inside = (one: ApiSchema | undefined) => typeOf(one, names, depth + 1)
  const { $ref, anyOf, oneOf, type } = schema
  if ($ref !== undefined) return names.get($ref.replace('#/components/schemas/', '')) ?? 'unknown'
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return union(schema.enum.map(literal)) || 'never'
  const parts = anyOf ?? oneOf
  if (parts) return `(${union(parts.map(inside))})`
  const kinds = type === undefined ? [] : [type].flat()
  if (kinds.length === 0) return schema.properties ? objectType(schema, inside) : 'unknown'
  return union(kinds.map((kind) => kindType(kind, schema, inside)))
}

function kindType(kind: string, schema: ApiSchema, inside: Write): string {
  switch (kind) {
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
    case 'null':
      return kind
    case 'array':
      return `Array<${inside(schema.items)}>`
    case 'object':
      return objectType(schema, inside)
    default:
      return schema.format === 'binary' ? 'Blob' : 'string'
  }
}

function objectType(
  { properties = {}, required = [], additionalProperties, patternProperties }: ApiSchema,
  inside: Write,
): string {
  const fields = Object.entries(properties).map(
    ([name, one]) => `${property(name)}${required.includes(name) ? '' : '?'}: ${inside(one)}`,
  )
  const [other = additionalProperties] = Object.values(patternProperties ?? {})
  const rest = typeof other === 'object' ? inside(other) : other === true ? 'unknown' : undefined
  if (fields.length === 0) return `{ [name: string]: ${rest ?? 'unknown'} }`
  // Fields of other types than the rest would not fit a common signature.
  return rest === undefined
    ? `{ ${fields.join('; ')} }`
    : `{ ${fields.join('; ')} } & { [name: string]: unknown }`
}

function literal(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'unknown' : (JSON.stringify(value) ?? 'undefined')
}
