import type { FastifyReply } from 'fastify'

/** One page of records, of how many, and the cursor behind it if there is more. */
export interface Page<T> {
  readonly records: readonly T[]
  readonly total: number
  readonly next: string | undefined
}

/**
 * A search's reply: the bare array with its total and cursor in headers, or `{ count }` when that was asked for. The
 * route's response schema is the array; the count goes past it.
 */
export function searchReply<T>(
  reply: FastifyReply,
  body: { readonly count?: boolean },
  page: Page<T>,
): FastifyReply {
  if (body.count) {
    reply.type('application/json; charset=utf-8').serializer(JSON.stringify)
    return reply.send({ count: page.total })
  }
  reply.header('x-total-count', String(page.total))
  if (page.next !== undefined) reply.header('x-next-cursor', page.next)
  return reply.send(page.records)
}
