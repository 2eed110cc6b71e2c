import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { accountPaths } from '../../shared/account-paths.ts'
import type { Caller } from './permission.ts'

/**
 * Lets pages of the allowed origins call the API. Cookies are not among what they may send: such a page signs in and
 * sends its token as a header.
 */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Which headers may be sent follows what is asked: endpoints of builders read headers of their own. Cookies never come along, so that
    // a reply may show all of its headers too.
    exposedHeaders: '*',
    maxAge: 600,
    // What is no preflight goes on to the routes and gets our own 404.
    strictPreflight: false,
  })
  // A flow and a cache name what their replies vary with, and what stands there already would be lost.
  app.addHook('onSend', async (_request, reply) => {
    const vary = String(reply.getHeader('vary') ?? '')
    if (!/\borigin\b|\*/i.test(vary)) reply.header('vary', vary === '' ? 'Origin' : `${vary}, Origin`)
  })
}

/** The same for a reply that no hook has seen: of an address that cannot be read. */
export function showToOrigin(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  origins: readonly string[],
): void {
  const { origin } = headers
  if (origins.length === 0) return
  reply.header('vary', 'Origin')
  if (origin === undefined || !origins.some((one) => one === '*' || one === origin)) return
  reply.header('access-control-allow-origin', origins.includes('*') ? '*' : origin)
}

/**
 * Whether one of our own pages sent the request. Browsers say so in `Sec-Fetch-Site`, which no page can forge; older ones
 * say at least from where in `Origin`. Only the host is compared, as a proxy in front may have taken off the TLS.
 */
export function isSameOrigin(request: Pick<Caller, 'headers' | 'host'>): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = request.headers
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === request.host
}

/** The access token of a user who is signed in on pages. `authenticate.ts` reads it. */
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
  /** To which addresses the browser sends it; `/`, all of them, where it is left out. */
  readonly path?: string
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
  { maxAge, path = '/' }: CookieOptions = {},
): void {
  if (!/^[A-Za-z0-9._~-]*$/.test(value))
    throw new TypeError(`The cookie ${name} holds characters that it may not.`)
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  const secure = request.protocol === 'https' ? '; Secure' : ''
  reply.header('set-cookie', `${name}=${value}; Path=${path}; HttpOnly; SameSite=Lax${age}${secure}`)
}

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

/** From a sign-out of the studio to the provider from which the session came: by way of the page `logout`, which alone gets the ID token. */
export function forgetLeaving(request: FastifyRequest, reply: FastifyReply): void {
  setCookie(request, reply, COOKIE, '', { maxAge: 0, path: PATH })
}
