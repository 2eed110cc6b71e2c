import { QuoinError } from '../../shared/errors.ts'
import type { JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { parseFormBody } from '../bodies/form-body.ts'
import { parseJsonBody } from '../bodies/json-body.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'

const parsers: ReadonlyMap<string, (bytes: Buffer) => JsonValue | undefined> = new Map([
  ['application/json', parseJsonBody],
  ['application/x-www-form-urlencoded', parseFormBody],
])

/** The parsed body of a request to a custom endpoint: JSON or a form, undefined if there is none. */
export function endpointBody(exchange: EndpointExchange): MaybePromise<JsonValue | undefined> {
  if (!exchange.hasBody) return undefined
  const type = exchange.headers['content-type'] ?? ''
  const parse = parsers.get(type) ?? parsers.get(type.split(';', 1)[0]?.trim().toLowerCase() ?? '')
  if (!parse)
    throw new QuoinError(
      'UNSUPPORTED_MEDIA_TYPE',
      'This path does not accept that content type. Send application/json.',
    )
  return exchange.readBody().then(parse)
}
