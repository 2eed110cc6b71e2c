import type { FastifyReply } from 'fastify'
import { htmlHeaders } from '../replies/html-headers.ts'

export function pageHeaders(reply: FastifyReply): FastifyReply {
  return (
    reply
      .headers(htmlHeaders)
      // The forms of a page carry tokens of its visitor.
      .header('cache-control', 'no-store')
      .header('vary', 'cookie, accept-language')
  )
}
