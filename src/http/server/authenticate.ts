import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { Identity } from '../../access/identity-cache.ts'
import { isApiKey } from '../../access/keys/api-key-text.ts'
import { holds } from '../../access/scopes.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { ManagementScope } from '../../shared/management-scopes.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import { isSameOrigin } from './origin.ts'
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
          'The access token or API key is unknown or expired, or its user needs a second factor now. Sign in again.',
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
  if (request.routeOptions.config.confirmed) tools.requireConfirmed(identity)
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

/** Longer than any token we ever gave out; what is longer is not looked up. */
const MAX_LENGTH = 512
/** No longer than {@link MAX_LENGTH}. */
const USUAL = /^Bearer ([A-Za-z0-9_-]{1,512})$/
const COOKIE = /(?:^|;)\s*access_token=([^;]*)/g

/**
 * The access token of a request from the five accepted places: `Authorization: Bearer`, `x-authtoken`, `x-token`, query
 * `access_token`, cookie `access_token`. An API key may come in these headers and in `x-api-key`; another text there belongs
 * to the flow. A key in an address would be in the logs of proxies, and cookies are for people: it is refused there. The same token in several places counts once; two different ones contradict
 * each other, except that a cookie is not looked at beside a header. A token that only a cookie brings is refused for writes unless the request comes from our own pages:
 * browsers send cookies along with other sites' forms.
 *
 * Takes the token out of `request.query`, as no later code may see it, and keeps it in
 * `request.accessToken`, so that asking twice gives the same.
 */
export function findToken(request: Caller): string | undefined {
  request.accessToken ??= readToken(request)
  return request.accessToken
}

function readToken(request: Caller): string | undefined {
  const { headers, query } = request
  const elsewhere = headers['x-authtoken'] ?? headers['x-token'] ?? headers.cookie ?? headers['x-api-key']
  // Nearly all requests: none at all, or one as it should be. They need not what follows.
  if (elsewhere === undefined && !hasToken(query)) {
    if (headers.authorization === undefined) return undefined
    const token = USUAL.exec(headers.authorization)?.[1]
    if (token !== undefined) return token
  }
  const sent = [
    ...bearer(headers.authorization),
    ...plain(headers['x-authtoken']),
    ...plain(headers['x-token']),
    ...plain(headers['x-api-key']).filter(isApiKey),
  ]
  const inAddress = fromQuery(query)
  const inCookie = fromCookie(headers.cookie)
  if ([...inAddress, ...inCookie].some(isApiKey))
    throw refused('An API key is accepted in a header only. Send it as "Authorization: Bearer".')
  // A browser adds its cookie to what a script of ours sends for another session: the header is what was meant.
  const isNamed = sent.length > 0
  sent.push(...inAddress)
  const tokens = new Set(isNamed ? sent : [...sent, ...inCookie])
  if (tokens.size > 1) throw refused('The request carries two different access tokens. Send one.')
  const [token] = tokens
  if (token === undefined) return undefined
  if (token.length > MAX_LENGTH) throw refused('This is not an access token. Sign in again.')
  if (sent.length === 0 && isWrite(request.method) && !isSameOrigin(request))
    throw refused('An access token in a cookie can only write from pages of this site. Send it as Bearer.')
  return token
}

function bearer(header: string | undefined): string[] {
  const match = header === undefined ? undefined : /^bearer\s+(.*)$/i.exec(header)
  return plain(match?.[1])
}

function plain(header: string | string[] | undefined): string[] {
  const values = header === undefined ? [] : Array.isArray(header) ? header : [header]
  // Clients of the older API put the word Bearer here too.
  return values.map((value) => value.replace(/^bearer\s+/i, '').trim()).filter((value) => value !== '')
}

function fromQuery(query: unknown): string[] {
  if (!hasToken(query)) return []
  const value = query.access_token
  delete query.access_token
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((item): item is string => typeof item === 'string' && item !== '')
}

function hasToken(query: unknown): query is { access_token?: unknown } {
  return typeof query === 'object' && query !== null && 'access_token' in query
}

function fromCookie(header: string | undefined): string[] {
  if (header === undefined) return []
  return [...header.matchAll(COOKIE)].map(([, value = '']) => unquoted(value.trim())).filter((v) => v !== '')
}

function unquoted(value: string): string {
  return value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}

function isWrite(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

function refused(message: string): QuoinError {
  return new QuoinError('INVALID_ACCESS_TOKEN', message)
}
