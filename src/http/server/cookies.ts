import type { FastifyReply, FastifyRequest } from 'fastify'

/** The access token of a user who is signed in on pages. `find-token.ts` reads it. */
export const SESSION_COOKIE = 'access_token'

/** The value of a cookie, as it was set by {@link setCookie}; undefined if there is none. */
export function cookieOf(request: Pick<FastifyRequest, 'headers'>, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

export interface CookieOptions {
  /** Seconds; 0 deletes it, undefined keeps it while the browser is open. */
  readonly maxAge?: number
}

/**
 * Sets a cookie that no script can read and that other sites cannot send along with a form; over TLS only, if the page
 * came so. `value` must be plain: letters, digits and `-_.~`.
 */
export function setCookie(
  request: Pick<FastifyRequest, 'protocol'>,
  reply: FastifyReply,
  name: string,
  value: string,
  { maxAge }: CookieOptions = {},
): void {
  if (!/^[A-Za-z0-9._~-]*$/.test(value))
    throw new TypeError(`The cookie ${name} holds characters that it may not.`)
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  const secure = request.protocol === 'https' ? '; Secure' : ''
  reply.header('set-cookie', `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${secure}`)
}
