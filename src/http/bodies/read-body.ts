import type { IncomingMessage } from 'node:http'
import type {
  FastifyInstance,
  FastifyRequest,
  preParsingHookHandler,
  preValidationHookHandler,
} from 'fastify'
import { searchSchema } from '../../shared/api/search.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { readFormBody } from './form-body.ts'
import { readDocumentBody, readJsonBody, refuseEncoded, sendsBody, wholeBody } from './json-body.ts'

/** For the framework, which would keep the limit that it was started with. What no parser of ours reads, nothing reads. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** As endpoints read it: `application/merge-patch+json`, `application/vnd.api+json`. */
const MORE_JSON = /^[a-z0-9!#$&^_.-]+\/[a-z0-9!#$&^_.-]+\+json\s*(?:;|$)/i

/** Bytes of a body that is no document, file or block: forms of management are hundreds of bytes. */
const SMALL_BODY = 64 * 1024

/**
 * Bodies are JSON or forms, at most as long as the route allows, which is at most `most` bytes; every other content type is 415. Of
 * a route without a body none is read. A family may add its own types, as uploads do.
 */
export function readBodies(app: FastifyInstance, most: () => number): void {
  app.removeAllContentTypeParsers()
  const parser =
    (parse: (bytes: Buffer) => unknown) => async (request: FastifyRequest, body: IncomingMessage) => {
      const bytes = mostBytes(request, most)
      return bytes === undefined ? undefined : parse(await wholeBody(body, bytes))
    }
  const json = parser(readJsonBody)
  const document = parser(readDocumentBody)
  for (const type of ['application/json', MORE_JSON])
    app.addContentTypeParser(type, (request: FastifyRequest, body: IncomingMessage) =>
      request.routeOptions.config.documentBody ? document(request, body) : json(request, body),
    )
  app.addContentTypeParser('application/x-www-form-urlencoded', parser(readFormBody))
  // After the check of permission, before any parser: also those that read files.
  app.addHook('preParsing', refuseEncodedBody)
  app.addHook('preValidation', requireBody)
  app.addHook('preValidation', readOtherSearchBody)
}

/** Undefined: it has no body to read. */
function mostBytes(request: FastifyRequest, most: () => number): number | undefined {
  const { bodyLimit = NO_LIMIT, config, schema } = request.routeOptions
  const { bodyBytes } = config
  if (typeof bodyBytes === 'function') return bodyBytes(request) ?? most()
  if (bodyBytes === 'setting') return most()
  if (bodyBytes !== undefined) return bodyBytes
  if (bodyLimit !== NO_LIMIT) return bodyLimit
  return schema?.body === undefined ? undefined : Math.min(most(), SMALL_BODY)
}

const refuseEncodedBody: preParsingHookHandler = (request, _reply, payload, done) => {
  try {
    if (sendsBody(request.raw)) refuseEncoded(request.headers)
    done(null, payload)
  } catch (error) {
    done(
      error instanceof Error ? error : new Error('The headers of the body cannot be read.', { cause: error }),
    )
  }
}

/** An empty body is its own mistake: "fields are missing" would send people looking at their fields. */
const requireBody: preValidationHookHandler = (request, _reply, done) => {
  const { schema, config } = request.routeOptions
  if (request.body !== undefined || schema?.body === undefined) return done()
  if (!config.bodyOptional)
    return done(new QuoinError('NO_BODY_GIVEN', 'Send a JSON body with content-type application/json.'))
  request.body = {}
  done()
}

/**
 * The second form of a search body, which clients of the product behind the contract send too:
 * `{ term, terms, match, range, exists, bool: { must, filter, must_not }, from, size, sort: [{ field: { order } }] }`. It is
 * written as one of ours before it is checked. What has no counterpart is refused with one sentence.
 */
const readOtherSearchBody: preValidationHookHandler = (request, _reply, done) => {
  const { schema } = request.routeOptions
  if (schema?.body !== searchSchema || !isJsonObject(request.body)) return done()
  try {
    request.body = ourSearchBody(request.body)
    done()
  } catch (error) {
    done(error instanceof Error ? error : new Error('The search body cannot be read.', { cause: error }))
  }
}

const clauses = ['term', 'terms', 'match', 'range', 'exists', 'bool'] as const
const others: readonly string[] = [...clauses, 'from', 'size']
const unsupported = ['wildcard', '_source', 'highlight', 'aggs', 'suggest', 'collapse', 'min_score']
/** Of `bool` within `bool`. */
const MOST_DEPTH = 8

/** The body as one of ours; the same object if it is. */
export function ourSearchBody(body: JsonObject): JsonObject {
  for (const name of unsupported)
    if (name in body) throw refused(`${name} is not supported in a search. ${SUPPORTED}`)
  const { from, size, sort, ...rest } = body
  const isOther = Object.keys(body).some((name) => others.includes(name)) || hasOrders(sort)
  if (!isOther) return body
  const ours: Record<string, JsonValue> = {}
  for (const [name, value] of Object.entries(rest)) if (!others.includes(name)) ours[name] = value
  if (from !== undefined) ours.offset = from
  if (size !== undefined) ours.limit = size
  if (sort !== undefined) ours.sort = Array.isArray(sort) ? sort.map(ourSortKey) : sort
  const filters: Record<string, JsonValue> = isJsonObject(rest.filters) ? { ...rest.filters } : {}
  const texts: string[] = typeof rest.query === 'string' ? [rest.query] : []
  addClauses(pick(rest), filters, texts, 0)
  if (Object.keys(filters).length > 0) ours.filters = filters
  if (texts.length > 0) ours.query = texts.join(' ')
  return ours
}

const SUPPORTED =
  'Supported are term, terms, match, range, exists and bool with must, filter and must_not; or query, filters and sort.'

function pick(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name]) => clauses.some((clause) => clause === name)),
  )
}

type Filters = Record<string, JsonValue>

function addClauses(input: JsonObject, filters: Filters, texts: string[], depth: number): void {
  if (depth > MOST_DEPTH) throw refused('bool is nested too deeply.')
  for (const [clause, content] of Object.entries(input)) {
    if (!isJsonObject(content)) throw refused(`${clause} must be an object.`)
    if (clause === 'bool') addBool(content, filters, texts, depth)
    else if (clause === 'exists') put(filters, textIn(content.field, 'exists.field'), { exists: true })
    else if (clause === 'match') texts.push(...Object.values(content).map((text) => quoted(text)))
    else if (clause === 'term' || clause === 'terms' || clause === 'range')
      for (const [field, value] of Object.entries(content))
        put(filters, field, filterOf(clause, field, value))
    else throw refused(`${clause} is not supported in a search. ${SUPPORTED}`)
  }
}

function addBool(bool: JsonObject, filters: Filters, texts: string[], depth: number): void {
  for (const [name, content] of Object.entries(bool)) {
    const list = Array.isArray(content) ? content : [content]
    for (const one of list) {
      if (!isJsonObject(one)) throw refused(`bool.${name} must hold objects.`)
      if (name === 'must' || name === 'filter') addClauses(one, filters, texts, depth + 1)
      else if (name === 'must_not') addNot(one, filters)
      else throw refused(`bool.${name} is not supported in a search. ${SUPPORTED}`)
    }
  }
}

function addNot(input: JsonObject, filters: Filters): void {
  for (const [clause, content] of Object.entries(input)) {
    if (!isJsonObject(content)) throw refused(`${clause} must be an object.`)
    if (clause === 'exists') put(filters, textIn(content.field, 'exists.field'), { exists: false })
    else if (clause === 'term' || clause === 'terms')
      for (const [field, value] of Object.entries(content))
        put(filters, field, { not: filterOf(clause, field, value) })
    else throw refused(`bool.must_not takes term, terms and exists, not ${clause}.`)
  }
}

/** One filter a field: two that say different things of it have no counterpart, but the bounds of a range add up. */
function put(filters: Filters, name: string, filter: JsonValue): void {
  const field = fieldOf(name)
  const known = filters[field]
  if (known === undefined) filters[field] = filter
  else if (isJsonObject(known) && isJsonObject(filter)) filters[field] = { ...known, ...filter }
  else throw refused(`${field} is searched for in two ways at once. Use one.`)
}

/** The envelope is at the top level there, with dates as text; here it is in `_meta`, in Unix seconds. */
function fieldOf(name: string): string {
  const bare = name.replace(/\.keyword$/, '')
  return bare === 'created' || bare === 'updated' ? `_meta.${bare}` : bare
}

function boundOf(field: string, bound: JsonValue): JsonValue {
  if (typeof bound !== 'string' || !fieldOf(field).startsWith('_meta.')) return bound
  const milliseconds = Date.parse(bound)
  return Number.isNaN(milliseconds) ? bound : Math.floor(milliseconds / 1000)
}

function filterOf(clause: string, field: string, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  if (clause === 'term') return value.value ?? null
  if (clause !== 'range') throw refused(`${clause}.${field} must be a list.`)
  const { gte, gt, lte, lt, ...rest } = value
  const [unusual] = Object.keys(rest)
  if (unusual !== undefined)
    throw refused(`range.${field}.${unusual} is not supported: only gte, gt, lte and lt.`)
  const bounds = Object.entries({ gte, gt, lte, lt }).filter(hasValue)
  return Object.fromEntries(bounds.map(([name, bound]) => [name, boundOf(field, bound)]))
}

function hasValue(entry: [string, JsonValue | undefined]): entry is [string, JsonValue] {
  return entry[1] !== undefined
}

function hasOrders(sort: JsonValue | undefined): boolean {
  return Array.isArray(sort) && sort.some((key) => isJsonObject(key) && Object.values(key).some(isJsonObject))
}

function ourSortKey(key: JsonValue): JsonValue {
  if (!isJsonObject(key)) return key
  return Object.fromEntries(
    Object.entries(key).map(([field, order]) => [
      fieldOf(field),
      isJsonObject(order) ? (order.order ?? 'asc') : order,
    ]),
  )
}

/** Of free text the words count, not its operators: each is put in quotes. */
function quoted(text: JsonValue): string {
  const words = isJsonObject(text) ? text.query : text
  return textIn(words, 'match')
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => `"${word.replaceAll('"', ' ')}"`)
    .join(' ')
}

function textIn(value: JsonValue | undefined, place: string): string {
  if (typeof value !== 'string') throw refused(`${place} must be text.`)
  return value
}

const refused = (message: string): QuoinError => new QuoinError('INVALID_QUERY', message)
