/** The request of a custom endpoint as its flow reads it, and the reply as it is sent. */
import type { AcceptedBody, Listening } from '../../blocks/block.ts'
import { ChannelReply, FileBody, PlainText, type Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { CompiledEndpoint } from '../../flows/compile/frame.ts'
import type { RunEnd } from '../../flows/run/run-start.ts'
import type { Permissions } from '../../records/permissions/permissions.ts'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isLargerThan, type JsonObject, type JsonValue, jsonProblem } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { formReader, readFormBody } from '../bodies/form-body.ts'
import { bodyText, readDocumentBody, readJsonBody, refuseEncoded } from '../bodies/json-body.ts'
import { parseXmlBody } from '../bodies/xml-body.ts'
import { type FileToSend, fileAnswer } from '../replies/file-reply.ts'
import { ADDRESSES, openHeaders, withoutTokenInAddresses } from '../server/hooks.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'
import { withoutParameter } from './endpoint-table.ts'
import { openUploads, type UploadServices } from './endpoint-uploads.ts'
import { receiveParts } from './receive-parts.ts'

/**
 * The request as blocks see it. An access token that opened the door is in no part of it: a flow that logs or forwards its
 * request must not give away its caller's account. Other credentials are the flow's own affair, such as a webhook's; but a
 * parameter `access_token` is never among them, since a token that is not accepted here may be one elsewhere.
 */
export function runRequest(
  exchange: Pick<EndpointExchange, 'method' | 'url' | 'headers' | 'ip' | 'query' | 'identity'>,
  path: Readonly<Record<string, string>>,
  body: JsonValue | undefined,
): RunRequest {
  const { identity } = exchange
  return {
    method: exchange.method,
    url: mayName(exchange.url) ? withoutParameter(exchange.url, 'access_token') : exchange.url,
    headers: headersOf(exchange),
    ip: exchange.ip,
    query: queryOf(exchange.query),
    path,
    body,
    user: identity?.user,
    ...(identity && { scopes: identity.scopes }),
  }
}

function queryOf(query: unknown): RunRequest['query'] {
  // Node's parser gives exactly this: text, or a list of texts for a name that comes several times.
  return isQuery(query) ? query : {}
}

function isQuery(query: unknown): query is RunRequest['query'] {
  return typeof query === 'object' && query !== null
}

/** Whether `access_token` may be in an address, in any spelling: most have neither. */
function mayName(address: string): boolean {
  return address.includes('access_') || address.includes('%')
}

function headersOf({
  identity,
  headers,
}: Pick<EndpointExchange, 'identity' | 'headers'>): RunRequest['headers'] {
  if (identity) return openHeaders(headers)
  return ADDRESSES.some((name) => name in headers) ? withoutTokenInAddresses(headers) : headers
}

type EndpointListening = Pick<Listening['http'], 'accepts' | 'schemaStorage'>

/** A body as blocks see it, and as it was sent. */
interface EndpointBody {
  readonly value: JsonValue | undefined
  /** Undefined for one that is read a piece at a time. */
  readonly raw: Buffer | undefined
}

type Parser = (bytes: Buffer) => MaybePromise<JsonValue | undefined>

const parsers: ReadonlyMap<string, Parser> = new Map([
  ['application/json', readJsonBody],
  ['application/x-www-form-urlencoded', readFormBody],
])

const MORE_JSON = /^[a-z0-9!#$&^_.-]+\/[a-z0-9!#$&^_.-]+\+json$/
const XML = /^(?:text\/xml|application\/(?:[a-z0-9!#$&^_.-]+\+)?xml)$/
const FORM = /^multipart\/form-data\s*;/i
const TEXT = /^text\/[a-z0-9!#$&^_.+-]+$/

const none: EndpointBody = { value: undefined, raw: Buffer.alloc(0) }

const also = { text: '', xml: 'application/xml or ', multipart: 'multipart/form-data or ' }

/** Others are served between reading so many bytes and what is done with them: parsing takes up to 15 ms. */
const LARGE = 256 * 1024

/** The parsed body of a request to a custom endpoint: JSON, a form or, where it accepts that, XML or a text. Empty without one. */
export function endpointBody(
  exchange: EndpointExchange,
  { accepts, schemaStorage }: EndpointListening,
  services: UploadServices,
): MaybePromise<EndpointBody> {
  if (!exchange.hasBody) return none
  refuseEncoded(exchange.headers)
  const type = exchange.headers['content-type'] ?? ''
  if (accepts?.kind === 'multipart' && FORM.test(type)) return formWithFiles(exchange, accepts, services)
  const fitting =
    parsers.get(type) ?? parserOf(type.split(';', 1)[0]?.trim().toLowerCase() ?? '', accepts, charsetOf(type))
  // What is held against the fields of a storage becomes a document.
  const parse = fitting === readJsonBody && schemaStorage !== undefined ? readDocumentBody : fitting
  if (!parse)
    throw new QuoinError(
      'UNSUPPORTED_MEDIA_TYPE',
      `This path does not accept that content type. Send ${also[accepts?.kind ?? 'text']}application/json.`,
    )
  return exchange.readBody().then((raw) =>
    andThen(parse(raw), (value) => {
      const body = { value, raw }
      return raw.length < LARGE ? body : yieldToEventLoop().then(() => body)
    }),
  )
}

async function formWithFiles(
  exchange: EndpointExchange,
  { files, fileBytes }: Extract<AcceptedBody, { kind: 'multipart' }>,
  services: UploadServices,
): Promise<EndpointBody> {
  const bounds = {
    files,
    fileBytes: Math.min(fileBytes, services.assets.limit),
    textBytes: exchange.bodyLimit,
  }
  const parts = await exchange.readStream((body) => receiveParts(body, services.assets.files, bounds))
  const { body, uploads } = await openUploads(services, parts)
  exchange.uploads = uploads
  return { value: body, raw: undefined }
}

function charsetOf(type: string): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1]
}

function parserOf(
  type: string,
  accepts: AcceptedBody | undefined,
  charset: string | undefined,
): Parser | undefined {
  if (charset !== undefined && type === 'application/x-www-form-urlencoded') return formReader(charset)
  if (MORE_JSON.test(type)) return readJsonBody
  if (accepts?.kind === 'xml' && XML.test(type)) return (bytes) => parseXmlBody(bytes, accepts.lists)
  // Some senders of webhooks say no type.
  if (accepts?.kind === 'text' && (type === '' || TEXT.test(type) || XML.test(type))) return parseTextBody
  return parsers.get(type)
}

function parseTextBody(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined
  const text = bodyText(bytes)
  const problem = jsonProblem(text)
  if (problem !== undefined) throw new QuoinError('INVALID_BODY', `The body ${problem}.`)
  return text
}

// What a reply to GET says to caches, besides what its flow says itself.
// `public` is said only where it is certain that all callers get the same reply: a shared cache may keep it then even for a
// request that carried a token. Where a token may change the reply, the caches are told which headers carry one.

type Headers = Readonly<Record<string, string>>

/** The headers that may carry an access token. */
const VARY = 'authorization, cookie, x-token, x-authtoken'

/** `unruled`: whether no storage has rules that show it to one user and not to another one. `tokenInAddress`: then the address would be the key to the reply in every cache and history. */
function cachingHeaders(
  { listening: { cacheSeconds }, scopes, callerIndependent, flow }: CompiledEndpoint,
  status: number,
  tokenInAddress: boolean,
  unruled: () => boolean,
): Headers | undefined {
  const keeps = cacheSeconds > 0 && status === 200
  if (callerIndependent && isPublic(scopes) && (!flow.asUser || unruled()))
    return keeps ? { 'cache-control': `public, max-age=${cacheSeconds}` } : undefined
  if (tokenInAddress) return { 'cache-control': 'no-store' }
  return { 'cache-control': keeps ? `private, max-age=${cacheSeconds}` : 'private, no-cache', vary: VARY }
}

/** Both; what the flow says itself counts, and cannot take away what a reply varies with. */
export function withCaching(own: Headers, caching: Headers): Headers {
  const { vary } = caching
  if (own.vary === undefined || vary === undefined) return { ...caching, ...own }
  return { ...caching, ...own, vary: `${vary}, ${own.vary}` }
}

function isPublic(scopes: readonly string[]): boolean {
  return scopes.length === 0 || scopes.includes('*public')
}

/** The file of an asset, by its record. */
export type FileOf = (asset: JsonObject) => FileToSend

/** Values and characters in a reply that a flow put together. Stored documents are not counted: they are bounded as such. */
const MOST_VALUES = 1_000_000
const MOST_CHARACTERS = 64 * 1024 * 1024

/**
 * The text of a reply's body; undefined for a reply without one. Stored documents pass as the text they are. Throws for a
 * value that is too large to be written.
 */
export function replyText(reply: Reply): string | undefined {
  if (reply.code === 204 || reply.code === 304 || reply.value === undefined) return undefined
  if (isText(reply.value)) return reply.value.text
  if (reply.value instanceof FileBody || reply.value instanceof ChannelReply)
    throw new Error('Files and events are sent to the client that asked, and not kept.')
  if (isLargerThan(reply.value, MOST_VALUES, MOST_CHARACTERS))
    throw new Error(`The reply holds more than ${MOST_VALUES} values or ${MOST_CHARACTERS} characters.`)
  return JSON.stringify(reply.value)
}

/** Whether a body is there as text already. */
function isText(value: Reply['value']): value is StoredJson | PlainText {
  return value instanceof StoredJson || value instanceof PlainText
}

export interface SendingServices {
  readonly fileOf: FileOf
  readonly flows: { readonly permissions: Pick<Permissions, 'none'> }
}

/** Sends what a flow replied. */
export function sendReply(
  exchange: EndpointExchange,
  reply: Reply,
  { fileOf, flows }: SendingServices,
): void {
  let { headers } = reply
  if (exchange.method === 'GET' || exchange.method === 'HEAD') {
    const { endpoint, tokenInAddress } = exchange
    const caching = endpoint && cachingHeaders(endpoint, reply.code, tokenInAddress, flows.permissions.none)
    if (caching) headers = withCaching(headers, caching)
  }
  if (reply.value instanceof FileBody) {
    const file = fileOf(reply.value.asset)
    const { status, headers: own, body } = fileAnswer(exchange, file)
    const open = body && file.size > 0 ? () => file.read(body) : undefined
    exchange.stream({ status, headers: { ...headers, ...own }, open })
    return
  }
  const text = replyText(reply)
  const tagged = isText(reply.value) ? reply.value : undefined
  exchange.send({ status: reply.code, headers, text, tagged })
}

/** What a request gets whose flow ended without a reply: an error's reply, or 204. */
export function sendEnd(exchange: EndpointExchange, end: RunEnd): void {
  if (!end.error) {
    exchange.send({ status: 204, text: undefined })
  } else if (end.error.code === 'INTERNAL') {
    exchange.logFailure({ run: end.run, err: end.error.cause }, 'run failed')
    const text = JSON.stringify({ error: 'internal error', run: end.run })
    exchange.send({ status: 500, headers: { 'cache-control': 'no-store' }, text })
  } else {
    if (end.error.status >= 500) exchange.logFailure({ run: end.run, code: end.error.code }, 'run stopped')
    exchange.fail(end.error)
  }
}
