import type { FastifyReply } from 'fastify'

/**
 * What a page may do. Scripts, styles, pictures and fonts come from here and nowhere else, nothing of them stands in the
 * page itself, forms are sent here, and no other site puts the page into a frame.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "media-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

export function pageHeaders(reply: FastifyReply): FastifyReply {
  return (
    reply
      .header('content-security-policy', CONTENT_SECURITY_POLICY)
      .header('x-content-type-options', 'nosniff')
      // The forms of a page carry tokens of its visitor.
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'same-origin')
      .header('cross-origin-opener-policy', 'same-origin')
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=()')
      .header('vary', 'cookie, accept-language')
  )
}
