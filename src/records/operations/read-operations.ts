/** The operations of an OpenAPI document, as blocks hold them, and what of the document they leave out. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Operation } from '../../shared/operations/operation.ts'
import { type ApiDocument, DocumentProblem } from './api-document.ts'
import { operationHashes } from './operation-hashes.ts'
import { bodyOf, failuresOf, headersOf, successOf } from './operation-parts.ts'
import { bounded, mediaOf, PinNames, parameterPin } from './operation-pins.ts'
import { type Declaration, declarations, type TextBudget, typeText } from './schema-text.ts'

export interface FoundOperation {
  readonly operation: Operation
  /** Tag of the document. */
  readonly group: string
  /** Types of body and replies, with the named ones that they use. */
  readonly types: string
  /** How its requests are signed in, as sentences. */
  readonly sign_in: readonly string[]
}

/** A part of the document that no block offers. */
export interface LeftOut {
  /** Id of the operation; empty for the whole document. */
  readonly operation: string
  readonly what: string
}

export interface FoundOperations {
  readonly title: string
  readonly version: string
  /** Addresses at which the API says it is. */
  readonly servers: readonly string[]
  readonly operations: readonly FoundOperation[]
  readonly left_out: readonly LeftOut[]
}

const MOST_OPERATIONS = 5_000
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const
/** Characters of the types of one operation. */
const MOST_TYPES = 65_536
const MOST_ID = 200

/** Throws DocumentProblem. */
export function readOperations(document: ApiDocument): FoundOperations {
  const { root } = document
  const leftOut: LeftOut[] = []
  const operations: FoundOperation[] = []
  const hashOf = operationHashes(document)
  const declarationOf = declarations(document, MOST_TYPES)
  const ids = new Set<string>()
  for (const [path, item] of Object.entries(isJsonObject(root.paths) ? root.paths : {})) {
    const shared = document.object(item)
    if (!shared || path.startsWith('x-')) continue
    if (shared.trace !== undefined) leftOut.push({ operation: '', what: `TRACE ${path}: the method` })
    for (const method of METHODS) {
      const own = document.object(shared[method])
      if (!own) continue
      if (operations.length >= MOST_OPERATIONS)
        throw new DocumentProblem(`The document has more than ${MOST_OPERATIONS} operations.`)
      const id = idOf(own, method, path, ids)
      const say = (what: string) => leftOut.push({ operation: id, what })
      operations.push(operationOf({ document, id, method, path, own, shared, hashOf, declarationOf, say }))
    }
  }
  if (isJsonObject(root.webhooks))
    leftOut.push({
      operation: '',
      what: `${Object.keys(root.webhooks).length} webhooks, which the API sends by itself`,
    })
  const info = isJsonObject(root.info) ? root.info : {}
  return {
    title: textOf(info.title).slice(0, 200),
    version: textOf(info.version).slice(0, 60),
    servers: addresses(root.servers),
    operations,
    left_out: leftOut,
  }
}

function idOf({ operationId }: JsonObject, method: string, path: string, ids: Set<string>): string {
  const own = textOf(operationId).slice(0, MOST_ID)
  const id = own === '' || ids.has(own) ? `${method.toUpperCase()} ${path}`.slice(0, MOST_ID) : own
  ids.add(id)
  return id
}

interface Place {
  readonly document: ApiDocument
  readonly id: string
  readonly method: string
  readonly path: string
  readonly own: JsonObject
  readonly shared: JsonObject
  readonly hashOf: (parts: readonly (JsonValue | undefined)[]) => string
  readonly declarationOf: (ref: string) => Declaration
  readonly say: (what: string) => void
}

function operationOf(place: Place): FoundOperation {
  const { document, id, method, path, own, shared, hashOf, say } = place
  const names = new PinNames()
  const parameters = parametersOf(place)
  const pins = parameters.flatMap((one) => parameterPin(document, one, names, say) ?? [])
  const body = bodyOf(document, own.requestBody, names, say)
  const success = successOf(document, own.responses)
  const replies = isJsonObject(own.responses) ? own.responses : {}
  const headers = headersOf(document, replies)
  const failures = failuresOf(document, replies, success?.status)
  if (isJsonObject(own.callbacks)) say('its callbacks, which the API sends by itself')
  if (own.servers !== undefined || shared.servers !== undefined)
    say(`its own server, ${addresses(own.servers ?? shared.servers).join(', ')}: add a connection to it`)
  const help = [own.deprecated === true && 'Deprecated.', textOf(own.description)].filter(Boolean).join(' ')
  const operation: Operation = {
    id,
    hash: hashOf([path, method, ...parameters, own.requestBody, own.responses]),
    title: bounded(textOf(own.summary), 120) || id,
    method: method.toUpperCase(),
    path,
    ...(help !== '' && { help: bounded(help, 600) }),
    pins: [...pins, ...body.pins],
    ...(body.body && { body: body.body }),
    ...(success?.gives && { gives: success.gives }),
    ...(headers.length > 0 && { headers }),
    ...(failures.length > 0 && { failures }),
  }
  const [tag] = Array.isArray(own.tags) ? own.tags : []
  const types = typesOf(place, replies)
  return { operation, group: textOf(tag).slice(0, 100), types, sign_in: signInOf(document, own, say) }
}

/** Those of the path, and those of the operation, which go first. */
function parametersOf({ document, own, shared }: Place): readonly JsonObject[] {
  const found = new Map<string, JsonObject>()
  for (const list of [shared.parameters, own.parameters])
    for (const one of Array.isArray(list) ? list : []) {
      const parameter = document.object(one)
      if (parameter) found.set(JSON.stringify([parameter.in, parameter.name]), parameter)
    }
  return [...found.values()]
}

/** A declaration a line: the body, each reply, and then the types that they name. */
function typesOf({ document, own, say, declarationOf }: Place, replies: JsonObject): string {
  const budget: TextBudget = { left: MOST_TYPES, depth: 0, named: new Set(), open: [] }
  const lines: string[] = []
  const add = (name: string, schema: JsonValue | undefined) => {
    if (schema !== undefined) lines.push(`${name}: ${typeText(document, schema, budget)}`)
  }
  for (const { type, schema } of mediaOf(document.object(own.requestBody))) add(`body as ${type}`, schema)
  for (const [status, reply] of Object.entries(replies))
    for (const { type, schema } of mediaOf(document.object(reply))) add(`reply ${status} as ${type}`, schema)
  // Grows while it is gone through.
  for (const ref of budget.named) {
    if (budget.left <= 0) break
    const { text, named } = declarationOf(ref)
    lines.push(text)
    budget.left -= text.length
    for (const next of named) budget.named.add(next)
  }
  if (budget.left <= 0) {
    lines.push('…')
    say(`types beyond ${MOST_TYPES} characters, in the description of its types`)
  }
  return lines.join('\n')
}

function addresses(servers: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(servers) ? servers : []
  return list
    .flatMap((one) => (isJsonObject(one) && typeof one.url === 'string' ? [one.url.slice(0, 500)] : []))
    .slice(0, 20)
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** How requests of an operation are signed in, as sentences for the person who sets up the connection. What a connection cannot do is said. */
function signInOf(document: ApiDocument, own: JsonObject, say: (what: string) => void): readonly string[] {
  const required = own.security ?? document.root.security
  const components = isJsonObject(document.root.components) ? document.root.components : {}
  const schemes = isJsonObject(components.securitySchemes) ? components.securitySchemes : {}
  const ways = (Array.isArray(required) ? required : []).map((one) => {
    const all = Object.entries(isJsonObject(one) ? one : {})
    return all.map(([name, scopes]) => wayOf(document.object(schemes[name]), name, scopes))
  })
  const sentences = ways.map((all) => (all.length === 0 ? 'none' : all.map(({ text }) => text).join(' and ')))
  if (ways.length > 0 && ways.every((all) => all.some(({ isOffered }) => !isOffered) || all.length > 1))
    say(`its sign-in, which no connection offers: ${sentences.join('; or ')}`.slice(0, 400))
  return sentences
}

interface Way {
  readonly text: string
  readonly isOffered: boolean
}

function wayOf(scheme: JsonObject | undefined, name: string, scopes: JsonValue): Way {
  const scope = Array.isArray(scopes) && scopes.length > 0 ? ` with ${scopes.join(' ')}` : ''
  switch (scheme?.type) {
    case 'http': {
      const kind = String(scheme.scheme ?? '').toLowerCase()
      return { text: `${kind}${scope}`, isOffered: kind === 'bearer' || kind === 'basic' }
    }
    case 'apiKey':
      return { text: `the ${String(scheme.in)} ${String(scheme.name)}`, isOffered: scheme.in === 'header' }
    case 'oauth2':
    case 'openIdConnect':
      // A token that was fetched elsewhere is a bearer token.
      return { text: `${scheme.type} (${name})${scope}`, isOffered: true }
    case 'mutualTLS':
      return { text: `mutual TLS (${name})`, isOffered: false }
    default:
      return { text: name, isOffered: false }
  }
}
