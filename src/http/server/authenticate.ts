import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { Identity } from '../../access/identity-cache.ts'
import { holds } from '../../access/scopes.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { ManagementScope } from '../../shared/management-scopes.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import { findToken } from './find-token.ts'
import { type Caller, neededScopes, type Permission } from './permission.ts'
import type { RouteTools } from './route-family.ts'

/** Who sent the request, from its token; see {@link RouteTools}. */
export function identifier(
  access: Pick<Access, 'identify'>,
  lent: ReadonlyMap<string, Identity> = new Map(),
): RouteTools['identify'] {
  return (request) => {
    const token = findToken(request)
    if (token === undefined) return undefined
    return andThen(lent.get(token) ?? access.identify(token), (identity) => {
      if (identity === undefined)
        throw new QuoinError(
          'INVALID_ACCESS_TOKEN',
          'The access token or API key is unknown or expired. Sign in again.',
        )
      requireEndpoint(identity, request)
      request.identity = identity
      return identity
    })
  }
}

/**
 * Decides who enters, from the route's `config.permission`, before a byte of the body is read: no client can make us read
 * and parse a megabyte without being allowed to send it. A callback and no promise, so that custom endpoints, which
 * decide themselves, pass for nothing.
 */
export function authenticate(tools: RouteTools): onRequestHookHandler {
  return (request, _reply, done) => {
    // The framework would read and parse the body first.
    if (request.is404) return done(nothingHere(request.method))
    const { permission } = request.routeOptions.config
    // Every route was checked when it was registered.
    if (permission === undefined || permission === 'by-trigger') return done()
    admit(request, permission, neededScopes(request.routeOptions.config), tools).then(() => done(), done)
  }
}

async function admit(
  request: FastifyRequest,
  permission: Permission,
  scopes: readonly ManagementScope[],
  tools: RouteTools,
): Promise<void> {
  if (permission === 'public') {
    tools.limitRate(request, 'public')
    return
  }
  const identity = await tools.identify(request)
  if (identity === undefined)
    throw new QuoinError(
      'INVALID_ACCESS_TOKEN',
      'An access token is required. Sign in with POST /api/v1/auth/signin and send it as "Authorization: Bearer".',
    )
  for (const scope of scopes) requireScope(identity, scope)
  const { confirmed } = request.routeOptions.config
  if (confirmed) tools.requireConfirmed(identity, confirmed)
}

/** INSUFFICIENT_PERMISSIONS for an API key whose list of endpoints does not have the request. */
function requireEndpoint({ key }: Identity, { method, url }: Pick<Caller, 'method' | 'url'>): void {
  if (key === undefined || key.mayCall(method, url)) return
  throw new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    `The API key "${key.name}" may not call this endpoint. Its list of endpoints does not have it.`,
  )
}

/** INSUFFICIENT_PERMISSIONS, naming the scope. */
export function requireScope(identity: Identity, scope: ManagementScope): void {
  if (holds(identity.scopes, scope)) return
  throw new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    `This needs the scope ${scope}. Ask an administrator to grant it.`,
  )
}

export function nothingHere(method: string): QuoinError {
  return new QuoinError(
    'NOT_FOUND',
    `There is no endpoint ${method} at this path. All paths are listed at /api/v1/openapi.json.`,
  )
}

/** Whether the caller is refused for its token or API key, and may still do what anonymous callers may. */
export function isRefused(error: unknown): boolean {
  return (
    error instanceof QuoinError &&
    (error.code === 'INVALID_ACCESS_TOKEN' || error.code === 'INSUFFICIENT_PERMISSIONS')
  )
}

/** The caller of a route that only known users enter. */
export function callerOf(request: FastifyRequest): Identity {
  if (request.identity === undefined) throw new TypeError(`${request.url} is open and has no caller.`)
  return request.identity
}
