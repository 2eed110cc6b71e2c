import type { onResponseHookHandler } from 'fastify'
import type { RequestListener } from './finished-request.ts'

/** Tells of the requests that the framework answered; an exchange tells of its own. */
export function finishedHook(tell: RequestListener): onResponseHookHandler {
  return (request, reply, done) => {
    if (!request.handedOver)
      tell({
        method: request.method,
        url: request.url,
        endpoint: undefined,
        route: request.routeOptions.url,
        status: reply.statusCode,
        milliseconds: reply.elapsedTime,
        ip: request.ip,
        agent: request.headers['user-agent'],
        identity: request.identity,
      })
    done()
  }
}
