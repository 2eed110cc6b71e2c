import { QuoinError } from '../../shared/errors.ts'
import { type JsonValue, jsonProblem } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { parseFormBody } from '../bodies/form-body.ts'
import { bodyText, parseJsonBody } from '../bodies/json-body.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'

/** A body as blocks see it, and as it was sent. */
export interface EndpointBody {
  readonly value: JsonValue | undefined
  readonly raw: Buffer
}

type Parser = (bytes: Buffer) => JsonValue | undefined

const parsers: ReadonlyMap<string, Parser> = new Map([
  ['application/json', parseJsonBody],
  ['application/x-www-form-urlencoded', parseFormBody],
])

const MORE_JSON = /^[a-z0-9!#$&^_.-]+\/[a-z0-9!#$&^_.-]+\+json$/
const TEXT = /^(?:text\/[a-z0-9!#$&^_.+-]+|application\/(?:[a-z0-9!#$&^_.-]+\+)?xml)$/

const none: EndpointBody = { value: undefined, raw: Buffer.alloc(0) }

/** The parsed body of a request to a custom endpoint: JSON, a form or, where it accepts that, a text. Empty without one. */
export function endpointBody(
  exchange: EndpointExchange,
  accepts: 'text' | undefined,
): MaybePromise<EndpointBody> {
  if (!exchange.hasBody) return none
  const type = exchange.headers['content-type'] ?? ''
  const parse = parsers.get(type) ?? parserOf(type.split(';', 1)[0]?.trim().toLowerCase() ?? '', accepts)
  if (!parse)
    throw new QuoinError(
      'UNSUPPORTED_MEDIA_TYPE',
      'This path does not accept that content type. Send application/json.',
    )
  return exchange.readBody().then((raw) => ({ value: parse(raw), raw }))
}

function parserOf(type: string, accepts: 'text' | undefined): Parser | undefined {
  if (MORE_JSON.test(type)) return parseJsonBody
  return accepts === 'text' && TEXT.test(type) ? parseTextBody : parsers.get(type)
}

/** XML is not parsed: what it means is up to the flow, and entities of a stranger are never resolved. */
function parseTextBody(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined
  const text = bodyText(bytes)
  const problem = jsonProblem(text)
  if (problem !== undefined) throw new QuoinError('INVALID_BODY', `The body ${problem}.`)
  return text
}
