import type { FastifyRequest, onRequestHookHandler, onResponseHookHandler } from 'fastify'
import type { Identity } from '../../access/identity-cache.ts'
import type { CompiledEndpoint } from '../../flows/compile/frame.ts'
import type { Span, SpanEnd, Telemetry } from '../../shared/telemetry.ts'

/** Tells of the requests that the framework answered; an exchange tells of its own. */
export function finishedHook(tell: RequestListener): onResponseHookHandler {
  return (request, reply, done) => {
    if (!request.handedOver) {
      const route = routeOf(request)
      const { method, id } = request
      request.span?.end(requestSpan({ method, route, status: reply.statusCode, id }))
      tell({
        id: request.id,
        method: request.method,
        url: request.url,
        endpoint: undefined,
        route,
        status: reply.statusCode,
        milliseconds: reply.elapsedTime,
        ip: request.ip,
        agent: request.headers['user-agent'],
        identity: request.identity,
        fromStudio: 'x-quoin-studio' in request.headers,
        place: request.span?.place,
      })
    }
    done()
  }
}

/** Pages share one wildcard route: what is counted is the page. A stream of events lasts as long as the page is open. */
function routeOf({ foundPage, routeOptions, url }: FastifyRequest): string | undefined {
  if (!foundPage) return routeOptions.url
  const page = `/${foundPage.page.listening.uri}`
  return /[?&]_events=/.test(url) ? `${page}?_events` : page
}

/** A request that has been answered, for metrics and logs. */
export interface FinishedRequest {
  /** Finds it in the log. */
  readonly id: string
  readonly method: string
  /** Path and query as they were sent. */
  readonly url: string
  /** The custom endpoint that it reached, else the route's template; undefined if nothing answers there. */
  readonly endpoint: CompiledEndpoint | undefined
  readonly route: string | undefined
  readonly status: number
  readonly milliseconds: number
  readonly ip: string
  readonly agent: string | undefined
  readonly identity: Identity | undefined
  /** The studio says of its own requests that they are; a request that a user tries out in it is none of them. */
  readonly fromStudio: boolean
  /** In a distributed trace; undefined where it is not traced. */
  readonly place?: string | undefined
}

export type RequestListener = (finished: FinishedRequest) => void

/** What a trace tells of a request (semantic conventions of OpenTelemetry). Without its path and query, which may hold anything. */
export function requestSpan({
  method,
  route,
  status,
  id,
}: {
  readonly method: string
  readonly route: string | undefined
  readonly status: number
  readonly id: string
}): SpanEnd {
  return {
    name: route === undefined ? method : `${method} ${route}`,
    attributes: {
      ...{ 'http.request.method': method, 'http.response.status_code': status, 'quoin.request': id },
      ...(route !== undefined && { 'http.route': route }),
    },
    failed: status >= 500,
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a request that is sampled. An exchange has its own. */
    span: Span | undefined
  }
}

/** Begins the traces of requests that the framework answers. */
export function beginSpan(telemetry: Telemetry): onRequestHookHandler {
  return (request, _reply, done) => {
    if (request.routeOptions.config.style !== 'custom')
      request.span = telemetry.request(request.headers.traceparent)
    done()
  }
}
