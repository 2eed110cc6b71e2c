import type { FastifyReply } from 'fastify'
import type { RecordPage } from '../../shared/record-page.ts'

/**
 * A search's reply: the bare array with its total and cursor in headers, or `{ count }` when that was asked for. The
 * route's response schema is the array; the count goes past it.
 */
export function searchReply<T>(
  reply: FastifyReply,
  body: { readonly count?: boolean },
  page: RecordPage<T>,
): FastifyReply {
  if (body.count) {
    reply.type('application/json; charset=utf-8').serializer(JSON.stringify)
    return reply.send({ count: page.total })
  }
  reply.header('x-total-count', String(page.total))
  if (page.next !== undefined) reply.header('x-next-cursor', page.next)
  return reply.send(page.records)
}
