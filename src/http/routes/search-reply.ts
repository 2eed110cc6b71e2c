import type { FastifyReply, FastifyRequest } from 'fastify'
import { holds } from '../../access/scopes.ts'
import type { Deployer } from '../../flows/live/deploy-blueprint.ts'
import type { Actor } from '../../records/records.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { callerOf } from '../server/authenticate.ts'

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

/** The caller as records note it. */
export function actorOf(request: FastifyRequest): Actor {
  const { guid, username } = callerOf(request)
  return { guid, username }
}

/** The caller as one who deploys. */
export function deployerOf(request: FastifyRequest): Deployer {
  const { scopes } = callerOf(request)
  return {
    ...actorOf(request),
    mayTakeAccountPages: holds(scopes, 'blueprints_account_pages'),
    lacks: (scope) => !holds(scopes, scope),
  }
}

/** Aborts when the connection closes before the reply. */
export function leftBy(reply: FastifyReply): AbortSignal {
  const left = new AbortController()
  // Its end was told before when it left while the body was read or its user looked up.
  if (reply.raw.destroyed) left.abort()
  reply.raw.once('close', () => left.abort())
  return left.signal
}
