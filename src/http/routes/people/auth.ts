import type { Access } from '../../../access/access.ts'
import { requirePerson } from '../../../access/keys/allowed-endpoints.ts'
import {
  pageSessionSchema,
  pageSessionSetSchema,
  signedInSchema,
  signedOutSchema,
  signInSchema,
} from '../../../shared/api/people/auth.ts'
import { callerOf } from '../../server/authenticate.ts'
import { cookieOf, isSameOrigin, leaveNext, SESSION_COOKIE, setCookie } from '../../server/origin.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'

/** A name and a password; nothing longer is read from an anonymous caller. */
const BODY_LIMIT = 16 * 1024
/** As long as a session that is not used. */
const DAYS_14 = 14 * 86_400

/** Signing in and out. `login` and `logout` are the names that older clients use. */
export function authRoutes(access: Access): RouteFamily {
  return (app) => {
    signInRoute(app, access, '/auth/signin', 'Sign in', 'signIn')
    signInRoute(app, access, '/auth/login', 'Sign in (alias)', 'login')
    pageSessionRoute(app, access)
    signOutRoute(app, access, '/auth/signout', 'Sign out', 'signOut')
    signOutRoute(app, access, '/auth/logout', 'Sign out (alias)', 'logout')
  }
}

function signInRoute(app: App, access: Access, url: string, summary: string, operationId: string): void {
  app.post(
    url,
    {
      bodyLimit: BODY_LIMIT,
      config: {
        permission: 'public',
        errors: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'TOO_MANY_LOGIN_ATTEMPTS'],
      },
      schema: {
        operationId,
        summary,
        tags: ['Sign-in'],
        description:
          'Replies with an access token for a user name (or e-mail address) and a password. Ten wrong passwords in a row lock the user for the network that sent them, for a while; 100 from networks where the user never signed in lock all such networks. A user with a second factor gets SECOND_FACTOR_REQUIRED with a challenge: send it with a code to `POST /auth/second-factor`.',
        body: signInSchema,
        response: { 200: signedInSchema },
      },
    },
    async (request, reply) => {
      const { username, password } = request.body
      reply.header('cache-control', 'no-store')
      return access.signIn({ username, password, ip: request.ip, agent: request.headers['user-agent'] })
    },
  )
}

function signOutRoute(app: App, access: Access, url: string, summary: string, operationId: string): void {
  app.post(
    url,
    {
      config: { permission: 'signed-in' },
      schema: {
        operationId,
        summary,
        tags: ['Sign-in'],
        description:
          'Invalidates the access token of the request on every node. Where pages of this browser have the same session, they are signed out too; `continue` then says where the browser signs out at the provider from which the session came.',
        response: { 200: signedOutSchema },
      },
    },
    async (request, reply) => {
      requirePerson(callerOf(request))
      const { accessToken: token } = request
      if (token === undefined) return { logout: true } as const
      const sender = { ip: request.ip, agent: request.headers['user-agent'] }
      const { provider } = await access.signOut(token, sender)
      // Another session of pages stays, and so does its user at the provider.
      if (cookieOf(request, SESSION_COOKIE) !== token) return { logout: true } as const
      setCookie(request, reply, SESSION_COOKIE, '', { maxAge: 0 })
      const leaves = access.providers.withGuid(provider)?.sign_out === true
      return { logout: true, ...(leaves && { continue: leaveNext(request, reply, provider) }) } as const
    },
  )
}

/**
 * Gives pages the session of the studio: the same token in the cookie that signing in on a page sets. Another site has no
 * token to send and would be told apart by what the browser says, so it can sign no one in.
 */
function pageSessionRoute(app: App, access: Access): void {
  app.post(
    '/auth/pages',
    {
      bodyLimit: BODY_LIMIT,
      config: { permission: 'signed-in', bodyOptional: true },
      schema: {
        operationId: 'sharePageSession',
        summary: 'Use this session on pages',
        tags: ['Sign-in'],
        description:
          'Sets the access token of the header as the session of pages in this browser: a cookie that no script can read. Only for requests from this site. Signing out ends it everywhere.',
        body: pageSessionSchema,
        response: { 200: pageSessionSetSchema },
      },
    },
    async (request, reply) => {
      requirePerson(callerOf(request))
      const { accessToken: token } = request
      const { stay = false, replace = false } = request.body
      reply.header('cache-control', 'no-store')
      if (token === undefined || !isSameOrigin(request)) return { shared: false }
      const before = cookieOf(request, SESSION_COOKIE) ?? ''
      // A user who is signed in on pages as another one stays so.
      if (before !== token && !replace && before !== '' && (await access.identify(before)))
        return { shared: false }
      setCookie(request, reply, SESSION_COOKIE, token, stay ? { maxAge: DAYS_14 } : {})
      return { shared: true }
    },
  )
}
