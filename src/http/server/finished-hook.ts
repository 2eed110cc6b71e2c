import type { FastifyRequest, onResponseHookHandler } from 'fastify'
import type { Identity } from '../../access/identity-cache.ts'
import type { CompiledEndpoint } from '../../flows/compile/frame.ts'
import { requestSpan } from './request-span.ts'

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
