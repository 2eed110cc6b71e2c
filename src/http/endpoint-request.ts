import type { FastifyRequest } from 'fastify'
import type { Identity } from '../access/identity.ts'
import type { RunRequest } from '../blocks/run-request.ts'
import { isJsonObject, type JsonValue } from '../shared/json.ts'

/**
 * The request as blocks see it. An access token that opened the door is in no part of it: a flow that logs or forwards its
 * request must not give away its caller's account. Other credentials are the flow's own affair, such as a webhook's.
 */
export function runRequest(
  request: FastifyRequest,
  path: Readonly<Record<string, string>>,
  identity: Identity | undefined,
): RunRequest {
  return {
    method: request.method,
    url: identity ? withoutToken(request.url) : request.url,
    headers: identity ? openHeaders(request.headers) : request.headers,
    ip: request.ip,
    query: queryOf(request.query),
    path,
    body: bodyOf(request.body),
    user: identity?.user,
  }
}

function openHeaders(headers: RunRequest['headers']): RunRequest['headers'] {
  const { authorization: _1, cookie: _2, 'x-authtoken': _3, 'x-token': _4, ...open } = headers
  return open
}

function withoutToken(url: string): string {
  const [path = '', query] = url.split('?', 2)
  if (query === undefined) return url
  const kept = query.split('&').filter((pair) => !pair.startsWith('access_token='))
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`
}

function queryOf(query: unknown): RunRequest['query'] {
  // Fastify's query parser gives exactly this: text, or a list of texts for a name that comes several times.
  return isQuery(query) ? query : {}
}

function isQuery(query: unknown): query is RunRequest['query'] {
  return typeof query === 'object' && query !== null
}

/** Bodies come from our own parsers, which give JSON and nothing else. */
function bodyOf(body: unknown): JsonValue | undefined {
  if (body === undefined) return undefined
  return isJson(body) ? body : undefined
}

function isJson(body: unknown): body is JsonValue {
  return (
    body === null ||
    isJsonObject(body) ||
    Array.isArray(body) ||
    ['string', 'number', 'boolean'].includes(typeof body)
  )
}
