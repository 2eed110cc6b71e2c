import type { Access } from '../../../access/access.ts'
import { requirePerson } from '../../../access/keys/require-person.ts'
import { signedInSchema, signedOutSchema, signInSchema } from '../../../shared/api/auth.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'

/** A name and a password; nothing longer is read from an anonymous caller. */
const BODY_LIMIT = 16 * 1024

/** Signing in and out. `login` and `logout` are the names that older clients use. */
export function authRoutes(access: Access): RouteFamily {
  return (app) => {
    signInRoute(app, access, '/auth/signin', 'Sign in', 'signIn')
    signInRoute(app, access, '/auth/login', 'Sign in (alias)', 'login')
    signOutRoute(app, access, '/auth/signout', 'Sign out', 'signOut')
    signOutRoute(app, access, '/auth/logout', 'Sign out (alias)', 'logout')
  }
}

function signInRoute(app: App, access: Access, url: string, summary: string, operationId: string): void {
  app.post(
    url,
    {
      bodyLimit: BODY_LIMIT,
      config: { permission: 'public', errors: ['INVALID_CREDENTIALS', 'TOO_MANY_LOGIN_ATTEMPTS'] },
      schema: {
        operationId,
        summary,
        tags: ['Sign-in'],
        description:
          'Replies with an access token for a user name (or e-mail address) and a password. Ten wrong passwords in a row lock the user for the network that sent them, for a while; 100 from networks where the user never signed in lock all such networks.',
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
        description: 'Invalidates the access token of the request on every node.',
        response: { 200: signedOutSchema },
      },
    },
    async (request) => {
      requirePerson(callerOf(request))
      if (request.accessToken !== undefined)
        await access.signOut(request.accessToken, { ip: request.ip, agent: request.headers['user-agent'] })
      return { logout: true } as const
    },
  )
}
