import type { FastifyRequest, onResponseHookHandler } from 'fastify'
import type { RequestListener } from './finished-request.ts'

/** Tells of the requests that the framework answered; an exchange tells of its own. */
export function finishedHook(tell: RequestListener): onResponseHookHandler {
  return (request, reply, done) => {
    if (!request.handedOver)
      tell({
        id: request.id,
        method: request.method,
        url: request.url,
        endpoint: undefined,
        route: routeOf(request),
        status: reply.statusCode,
        milliseconds: reply.elapsedTime,
        ip: request.ip,
        agent: request.headers['user-agent'],
        identity: request.identity,
        fromStudio: 'x-quoin-studio' in request.headers,
      })
    done()
  }
}

/** Pages share one wildcard route: what is counted is the page. A stream of events lasts as long as the page is open. */
function routeOf({ foundPage, routeOptions, url }: FastifyRequest): string | undefined {
  if (!foundPage) return routeOptions.url
  const page = `/${foundPage.page.listening.uri}`
  return /[?&]_events=/.test(url) ? `${page}?_events` : page
}
