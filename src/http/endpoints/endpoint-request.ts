import type { AcceptedBody, Listening } from '../../blocks/block.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type JsonValue, jsonProblem } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { formParser, parseFormBody } from '../bodies/form-body.ts'
import { bodyText, parseDocumentBody, parseJsonBody, refuseEncoded } from '../bodies/json-body.ts'
import { parseXmlBody } from '../bodies/xml-body.ts'
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
  ['application/json', parseJsonBody],
  ['application/x-www-form-urlencoded', parseFormBody],
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
  const parse = fitting === parseJsonBody && schemaStorage !== undefined ? parseDocumentBody : fitting
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
  if (charset !== undefined && type === 'application/x-www-form-urlencoded') return formParser(charset)
  if (MORE_JSON.test(type)) return parseJsonBody
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
