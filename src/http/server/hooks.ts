import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { onRequestHookHandler } from 'fastify'
import type { RunRequest } from '../../blocks/run-request.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { Cluster } from '../../storage/cluster.ts'
import { withoutParameter } from '../endpoints/endpoint-table.ts'
import { isApiKey } from './find-token.ts'

/**
 * Answers 503 while the node has lost the others: what it has in memory may be old by then. Probes and metrics, which are
 * about this node, are answered all the same.
 */
export function fence(cluster: Pick<Cluster, 'alive'>): onRequestHookHandler {
  return (request, _reply, done) => {
    if (cluster.alive() || request.url.startsWith('/health/') || request.url === '/metrics') return done()
    done(
      new QuoinError(
        'UNAVAILABLE',
        'This node has lost its connection to the cluster. Ask another node, or retry in a few seconds.',
      ),
    )
  }
}

/** What is encoded and no ASCII: a text in UTF-8, whole by itself. */
const ENCODED = /(?:%[89a-f][0-9a-f])+/gi

/**
 * Why no request may have this URL, as a sentence. U+0000 is never meant: no stored text can hold it, and other programs take it for the end. What
 * is no UTF-8 in the query would become U+FFFD, another text than was sent. Paths that are none are refused by the router.
 */
function urlProblem(url: string): string | undefined {
  if (!url.includes('%')) return undefined
  if (url.includes('%00')) return 'The URL contains the character U+0000 (%00).'
  const query = url.indexOf('?')
  if (query < 0) return undefined
  const wrong = url
    .slice(query)
    .match(ENCODED)
    ?.find((one) => !isUtf8(Buffer.from(one.replaceAll('%', ''), 'hex')))
  if (wrong === undefined) return undefined
  return `The query contains ${wrong.slice(0, 12)}, which is not UTF-8. Encode the text in UTF-8: é is %C3%A9.`
}

export const refuseWrongUrl: onRequestHookHandler = (request, _reply, done) => {
  const problem = urlProblem(request.url)
  if (problem === undefined) done()
  else done(new QuoinError('INVALID_QUERY', problem))
}

/** RFC 9112, 3.2: which of two hosts is meant would be decided otherwise by a proxy than here. */
export const refuseTwoHosts: onRequestHookHandler = ({ raw }, _reply, done) => {
  if (hasTwoHosts(raw.rawHeaders))
    done(new QuoinError('INVALID_QUERY', 'The request has two Host headers; send one.'))
  else done()
}

/** Names and values in turns. Node keeps the first of several and says nothing. 30 ns for ten headers. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}

/** Answers a request, or gives false and has not touched it. */
export type Taker = (request: IncomingMessage, response: ServerResponse) => boolean

/** Shows each request to the takers, one after the other, before the framework that the server was made by. */
export function answerFirst(server: Server, takers: readonly Taker[], isOpen: () => boolean): void {
  const others = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    // A wrong URL and two hosts are for the framework to refuse, see `path-hygiene.ts`.
    if (isOpen() && urlProblem(request.url ?? '') === undefined && !hasTwoHosts(request.rawHeaders))
      for (const take of takers) if (take(request, response)) return
    for (const listener of others) listener.call(server, request, response)
  })
}

/**
 * Replies are data: no browser may guess another type, and nothing that came with a token may rest in a shared cache.
 * Pages set their own content security policy; custom endpoints say themselves how long a reply may be kept.
 */
export const secureReply: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-content-type-options', 'nosniff')
  if (request.routeOptions.config.style !== 'custom') reply.header('cache-control', 'private, no-cache')
  done()
}

/** Headers whose value is an address, by the client and by proxies. */
export const ADDRESSES = ['referer', 'x-forwarded-uri', 'x-original-uri', 'x-original-url', 'x-rewrite-url']

type Headers = RunRequest['headers']

/** The headers without those that can open a door. A header `x-api-key` that is no key of ours belongs to the flow. */
export function openHeaders(headers: Headers): Headers {
  const { authorization: _1, cookie: _2, 'x-authtoken': _3, 'x-token': _4, ...open } = headers
  const { 'x-api-key': key, ...others } = open
  return withoutTokenInAddresses(key !== undefined && isApiKey(String(key)) ? others : open)
}

/** The headers, their addresses without a parameter `access_token`. */
export function withoutTokenInAddresses(headers: Headers): Headers {
  let kept = headers
  for (const name of ADDRESSES) {
    const address = headers[name]
    if (typeof address === 'string' && address.includes('?'))
      kept = { ...kept, [name]: withoutParameter(address, 'access_token') }
  }
  return kept
}

/** What fits a header and a log line: no spaces, quotes or control characters. */
const FITS = /^[A-Za-z0-9._:/+=@-]{1,128}$/
/** Version, trace id, parent id, flags (W3C Trace Context). */
const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * The id that finds a request in the log, and that its reply carries as `x-request-id`: the client's or proxy's own
 * `x-request-id`, else the trace id of `traceparent`, else a new one. A value that does not fit a log line is not used.
 */
export function requestIdOf(headers: IncomingHttpHeaders, newId: () => string): string {
  const input = headers['x-request-id']
  if (input === undefined && headers.traceparent === undefined) return newId()
  if (typeof input === 'string' && FITS.test(input)) return input
  return traceParentOf(headers)?.traceId ?? newId()
}

/** Ids that differ between nodes and starts, at the price of a counter. */
export function requestIds(): () => string {
  const start = randomBytes(6).toString('base64url')
  let count = 0
  return () => `${start}-${(++count).toString(36)}`
}

/** The caller's place in a distributed trace; undefined if it sent none that is valid. */
export function traceParentOf(
  headers: IncomingHttpHeaders,
): { readonly text: string; readonly traceId: string } | undefined {
  const { traceparent } = headers
  if (typeof traceparent !== 'string') return undefined
  const traceId = TRACE_PARENT.exec(traceparent)?.[1]
  return traceId === undefined ? undefined : { text: traceparent, traceId }
}

/** Gives replies of the framework their id, and the trace that they belong to. */
export const sendRequestId: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-request-id', request.id)
  const trace = traceParentOf(request.headers)
  if (trace) reply.header('traceparent', trace.text)
  done()
}
