import type { RunRequest } from '../../blocks/run-request.ts'
import type { JsonValue } from '../../shared/json.ts'
import { ADDRESSES, openHeaders, withoutTokenInAddresses } from '../server/hooks.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'
import { withoutParameter } from './endpoint-table.ts'

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
