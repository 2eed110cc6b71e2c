import type { onRequestHookHandler } from 'fastify'
import type { Span, SpanEnd, Telemetry } from '../../shared/telemetry.ts'

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
