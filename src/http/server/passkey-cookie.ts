import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieOf, setCookie } from './origin.ts'

const COOKIE = 'quoin_passkey'
const NAME = /^[0-9a-f-]{36}$/

/** The browser to which a challenge for a passkey belongs: what a cookie says that no script reads. Empty without the cookie: no challenge fits then. */
export function passkeyBrowser(request: FastifyRequest): string {
  const name = cookieOf(request, COOKIE) ?? ''
  return NAME.test(name) ? name : ''
}

/** The same, behind which the browser has the cookie. `newName`: a guid. */
export function markPasskeyBrowser(
  request: FastifyRequest,
  reply: FastifyReply,
  newName: () => string,
): string {
  const present = passkeyBrowser(request)
  if (present !== '') return present
  const name = newName()
  setCookie(request, reply, COOKIE, name)
  return name
}
