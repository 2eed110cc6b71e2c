import type { AcceptedBody, Listening } from '../../blocks/block.ts'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type JsonValue, jsonProblem } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { formParser, parseFormBody } from '../bodies/form-body.ts'
import { bodyText, parseDocumentBody, parseJsonBody } from '../bodies/json-body.ts'
import { refuseEncoded } from '../bodies/whole-body.ts'
import { parseXmlBody } from '../bodies/xml-body.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'
import { openUploads, type UploadServices } from './endpoint-uploads.ts'
import { receiveParts } from './receive-parts.ts'

type EndpointListening = Pick<Listening['http'], 'accepts' | 'schemaStorage'>

/** A body as blocks see it, and as it was sent. */
export interface EndpointBody {
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
