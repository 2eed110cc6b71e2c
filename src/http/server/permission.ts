import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyContextConfig, FastifyRequest, RouteOptions } from 'fastify'
import type { Identity } from '../../access/identity-cache.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import type { ManagementScope } from '../../shared/management-scopes.ts'

/**
 * Who may enter a route. `public`: any caller, within the rate limit. `signed-in`: any known user. A scope: users who
 * hold it. `by-trigger`: the route finds out itself which scopes count, as custom endpoints do.
 */
export type Permission = 'public' | 'signed-in' | 'by-trigger' | ManagementScope

/** How a route's errors look: with code and fields, the short `{ error }` of custom endpoints, or as SCIM says (RFC 7644, 3.12). */
export type ErrorStyle = 'management' | 'custom' | 'scim'

declare module 'fastify' {
  interface FastifyContextConfig {
    permission?: Permission
    /** Scopes that a caller needs beside `permission`: all of them. */
    alsoNeeds?: readonly ManagementScope[]
    /** The session must have been made or confirmed in the last `QUOIN_CONFIRM_SECONDS`: see `identity/factors.ts`. API keys are not asked. */
    confirmed?: true
    /** `management` if not said. */
    style?: ErrorStyle
    /** The route works without a body: nothing sent is the same as `{}`. */
    bodyOptional?: boolean
    /**
     * Most bytes of its body. `setting`: as many as `QUOIN_BODY_LIMIT` allows, where documents or blocks are sent; a function: for
     * a form, undefined as many. Not said: 64 KiB where its schema has a body, and none is read where it has not.
     */
    bodyBytes?: 'setting' | number | ((request: FastifyRequest) => number | undefined)
    /** Its body becomes one document, which has a bounded number of fields. */
    documentBody?: true
    /** What else goes wrong there, for the OpenAPI document: beside what follows from permission, body and path. */
    errors?: readonly ErrorCode[]
    /** `false`: no ETag is worked out for replies that do not bring one. */
    entityTag?: boolean
  }
}

/** All scopes that a caller of the route needs. */
export function neededScopes({
  permission,
  alsoNeeds = [],
}: FastifyContextConfig): readonly ManagementScope[] {
  return permission !== undefined && isScope(permission) ? [permission, ...alsoNeeds] : []
}

export function isScope(permission: Permission): permission is ManagementScope {
  return permission !== 'public' && permission !== 'signed-in' && permission !== 'by-trigger'
}

/** Stops the start when a route does not say who may enter: a forgotten line must not open a door. */
export function requirePermission(route: RouteOptions): void {
  if (route.config?.permission === undefined)
    throw new TypeError(`The route ${String(route.method)} ${route.url} does not say config.permission.`)
}

/** What the door looks at to tell who asks, and remembers. Fastify's requests are callers, and the exchanges of endpoints. */
export interface Caller {
  readonly method: string
  /** Path and query as they were sent. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Parsed. */
  readonly query: unknown
  /** As the client named it, with the port. */
  readonly host: string
  readonly ip: string
  /** Set once it is known. */
  identity: Identity | undefined
  /** The token that was sent, once it was looked for. For signing out; never for a log or a flow. */
  accessToken: string | undefined
}
