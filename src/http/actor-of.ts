import type { FastifyRequest } from 'fastify'
import type { Actor } from '../engine/records.ts'
import { callerOf } from './authenticate.ts'

/** The caller as records note it. */
export function actorOf(request: FastifyRequest): Actor {
  const { guid, username } = callerOf(request)
  return { guid, username }
}
