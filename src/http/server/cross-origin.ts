import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/**
 * Lets pages of the allowed origins call the API. Cookies are not among what they may send: such a page signs in and
 * sends its token as a header.
 */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Which headers may be sent follows what is asked: endpoints of builders read headers of their own. Cookies never come along, so that
    // a reply may show all of its headers too.
    exposedHeaders: '*',
    maxAge: 600,
    // What is no preflight goes on to the routes and gets our own 404.
    strictPreflight: false,
  })
  // A flow and a cache name what their replies vary with, and what stands there already would be lost.
  app.addHook('onSend', async (_request, reply) => {
    const vary = String(reply.getHeader('vary') ?? '')
    if (!/\borigin\b|\*/i.test(vary)) reply.header('vary', vary === '' ? 'Origin' : `${vary}, Origin`)
  })
}

/** The same for a reply that no hook has seen: of an address that cannot be read. */
export function showToOrigin(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  origins: readonly string[],
): void {
  const { origin } = headers
  if (origins.length === 0) return
  reply.header('vary', 'Origin')
  if (origin === undefined || !origins.some((one) => one === '*' || one === origin)) return
  reply.header('access-control-allow-origin', origins.includes('*') ? '*' : origin)
}
