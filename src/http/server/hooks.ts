import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions, onRequestHookHandler } from 'fastify'
import type { Access } from '../../access/access.ts'
import { isApiKey } from '../../access/keys/api-key-text.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isSecretName } from '../../shared/names/secret-names.ts'
import type { Cluster } from '../../storage/cluster.ts'
import { withoutParameter } from '../endpoints/endpoint-table.ts'
import type { RequestListener } from './finished-hook.ts'
import type { HttpSettings } from './http-settings.ts'

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
export function hasTwoHosts(rawHeaders: readonly string[]): boolean {
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
    // A wrong URL and two hosts are for the framework to refuse.
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
  let remaining = headers
  for (const name of ADDRESSES) {
    const address = headers[name]
    if (typeof address === 'string' && address.includes('?'))
      remaining = { ...remaining, [name]: withoutParameter(address, 'access_token') }
  }
  return remaining
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

const MAX_DEPTH = 4

/**
 * The object with what must not be in a log replaced, by name, some levels deep. Instances of classes stay: each has a
 * serializer that picks what is written of it.
 *
 * By hand and not with pino's own redaction: that one also runs over the request id that every request's logger is made
 * with, which took a seventh of the time of a small request although nothing was logged.
 */
export function hideSecrets(object: Record<string, unknown>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      if (isSecretName(name)) return [name, '[secret]']
      if (Array.isArray(value)) return [name, value.map((item) => hidden(item, depth))]
      return [name, hidden(value, depth)]
    }),
  )
}

function hidden(value: unknown, depth: number): unknown {
  if (!isPlain(value)) return value
  return depth < MAX_DEPTH ? hideSecrets(value, depth + 1) : '[deeper]'
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // Without a prototype, of Object itself, or of a class that inherits nothing: parameters of a query.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Where log lines go; standard output if not said. */
export interface LogTarget {
  write(line: string): void
}

/**
 * Structured lines (pino), each with the id of its request. Of a request only method, path and address are written: the
 * query may hold a token or search words. Hiding secrets by name is the second net, for objects that a later
 * hand might log whole.
 */
export function logOptions(
  { logLevel: level, watch }: Pick<HttpSettings, 'logLevel' | 'watch'>,
  target: LogTarget | undefined,
): Pick<FastifyServerOptions, 'logger'> {
  if (level === 'silent' && !watch) return { logger: false }
  return {
    logger: {
      level,
      ...(target && { stream: target }),
      formatters: { log: (object) => hideSecrets(object) },
      serializers: {
        req: (request) => ({
          method: request.method,
          path: request.url.split('?', 1)[0],
          address: request.ip,
        }),
        res: (reply) => ({ status: reply.statusCode }),
      },
    },
  }
}

/**
 * One line for each finished request, of custom endpoints too. At `debug`: at full speed the lines would cost as much as
 * the requests.
 */
export function logFinished(log: Pick<FastifyBaseLogger, 'debug'>): RequestListener {
  return ({ id, method, url, ip, status, milliseconds }) => {
    const path = url.split('?', 1)[0]
    log.debug({ reqId: id, method, path, address: ip, status, milliseconds }, 'request finished')
  }
}

/**
 * Notes each finished request of a signed-in user, of custom endpoints too, in the user log. For anonymous requests it
 * costs one look at a field.
 */
export function logRequests(access: Pick<Access, 'logRequest'>): RequestListener {
  return ({ identity, ip, agent, method, url, status, milliseconds, fromStudio }) => {
    if (identity === undefined) return
    const path = url.split('?', 1)[0] ?? ''
    access.logRequest({ user: identity, ip, agent, method, path, status, milliseconds, fromStudio })
  }
}

/** Requests that take longer are cut: a supervisor sends SIGKILL next. */
const GRACE_MS = 10_000

/**
 * On close the listener stops and idle connections end; a reply that is still to come says `connection: close`, since a
 * connection kept alive would hold the process until its client lets go.
 */
export function closeGracefully(
  app: FastifyInstance,
  graceMs = GRACE_MS,
): { readonly closing: () => boolean } {
  let closing = false
  let cut: NodeJS.Timeout | undefined
  app.addHook('preClose', (done) => {
    closing = true
    cut = setTimeout(() => app.server.closeAllConnections(), graceMs)
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('onClose', (_app, done) => {
    clearTimeout(cut)
    done()
  })
  return { closing: () => closing }
}
