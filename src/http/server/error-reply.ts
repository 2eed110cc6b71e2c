import type { FastifyReply, FastifyRequest } from 'fastify'
import { dropRest } from '../bodies/json-body.ts'
import { errorAnswer } from './error-answer.ts'

/**
 * The one place where an error becomes a reply of the framework. Which of the two styles is the route's `config.style`.
 * Faults of ours are logged with their cause; the cause is never sent.
 */
export function replyWithError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { config } = request.routeOptions
  const style = config.style ?? 'management'
  const { error, headers, text } = errorAnswer(thrown, { style, request: request.id })
  if (error.status >= 500)
    request.log.error({ code: error.code, err: error.cause ?? error }, 'request failed')
  else request.log.debug({ code: error.code, fields: error.fields }, 'request refused')
  // Headers of the reply that was being made, such as its type or tag, do not describe this one.
  reply.removeHeader('etag')
  reply.removeHeader('content-length')
  // Said again here: what the router refuses passes no other hook. The same as of `endpoint-exchange.ts`, so that a path
  // without an endpoint looks like one with a hidden endpoint.
  reply.code(error.status).header('x-content-type-options', 'nosniff').header('x-request-id', request.id)
  reply.header('content-security-policy', 'sandbox').headers(headers)
  dropRest(request.raw)
  return reply.serializer(String).send(text)
}
