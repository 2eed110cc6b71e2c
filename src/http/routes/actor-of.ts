import type { FastifyRequest } from 'fastify'
import { holds } from '../../access/scopes.ts'
import type { Deployer } from '../../flows/live/deploy-blueprint.ts'
import type { Actor } from '../../records/records.ts'
import { callerOf } from '../server/authenticate.ts'

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
