/** From a sign-out of the studio to the provider from which the session came: by way of the page `logout`, which alone gets the ID token. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { accountPaths } from '../../shared/account-paths.ts'
import { cookieOf, setCookie } from './origin.ts'

const PATH = `/${accountPaths.signOut}`
const COOKIE = 'quoin_leaving'
/** From the sign-out until the browser opens the page. */
const SECONDS = 60

/** The studio has ended the session that pages have too: the page of the sign-out, which the browser opens next, leads on to the provider. */
export function leaveNext(request: FastifyRequest, reply: FastifyReply, provider: string): string {
  setCookie(request, reply, COOKIE, provider, { maxAge: SECONDS, path: PATH })
  return PATH
}

/** Undefined for a browser that {@link leaveNext} did not send here, and once another user has signed in. */
export function leavingProvider(request: FastifyRequest): string | undefined {
  return request.method === 'GET' && !request.identity ? cookieOf(request, COOKIE) : undefined
}

export function forgetLeaving(request: FastifyRequest, reply: FastifyReply): void {
  setCookie(request, reply, COOKIE, '', { maxAge: 0, path: PATH })
}
