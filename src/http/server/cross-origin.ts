import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/**
 * Lets pages of the allowed origins call the API. Cookies are not among what they may send: such a page signs in and
 * sends its token as a header.
 */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'authorization',
      'content-type',
      'if-none-match',
      'idempotency-key',
      'x-api-key',
      'x-authtoken',
      'x-token',
    ],
    exposedHeaders: ['etag', 'retry-after', 'x-next-cursor', 'x-total-count'],
    maxAge: 600,
    // What is no preflight goes on to the routes and gets our own 404.
    strictPreflight: false,
  })
}
