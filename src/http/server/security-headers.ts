import type { onRequestHookHandler } from 'fastify'

/**
 * Replies are data: no browser may guess another type, and nothing that came with a token may rest in a shared cache.
 * Pages set their own content security policy; custom endpoints say themselves how long a reply may be kept.
 */
export const secureReply: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-content-type-options', 'nosniff')
  if (request.routeOptions.config.style !== 'custom') reply.header('cache-control', 'private, no-cache')
  done()
}
